"""The plugin: a Processing provider, and translations."""

import os

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QCoreApplication, QLocale, QTranslator

from .provider import GeotracsProvider


class GeotracsPlugin:
    """What QGIS loads."""

    def __init__(self):
        self._provider = None
        self._translator = QTranslator()
        folder = os.path.join(os.path.dirname(__file__), "i18n")
        locale = QgsApplication.instance().locale() if QgsApplication.instance() else QLocale().name()
        if self._translator.load(f"geotracs_{locale}", folder):
            QCoreApplication.installTranslator(self._translator)

    def initProcessing(self):  # noqa: N802
        """Add the provider; QGIS calls this without a window, too."""
        self._provider = GeotracsProvider()
        QgsApplication.processingRegistry().addProvider(self._provider)

    def initGui(self):  # noqa: N802
        """Add the provider in a window."""
        self.initProcessing()

    def unload(self):
        """Remove everything again."""
        QgsApplication.processingRegistry().removeProvider(self._provider)
