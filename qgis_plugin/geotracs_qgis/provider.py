"""The provider: all algorithms of geotracs."""

from pathlib import Path

from qgis.core import QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from . import settings
from .algorithms import ALGORITHMS

ICON = str(Path(__file__).with_name("icon.svg"))
FORMATS = ["gpkg", "geojson", "fgb", "shp"]
"""Endings of what geotracs writes and every QGIS reads; only the first holds the record, others have it beside them."""


class GeotracsProvider(QgsProcessingProvider):
    """The algorithms of geotracs in the toolbox."""

    def load(self):
        """Add settings and algorithms."""
        settings.add(self.icon())
        return super().load()

    def unload(self):
        """Remove the settings."""
        settings.remove()

    def loadAlgorithms(self):  # noqa: N802
        """Add every algorithm."""
        for algorithm in ALGORITHMS:
            self.addAlgorithm(algorithm())

    def id(self):
        """Return the first part of the names of all algorithms."""
        return "geotracs"

    def name(self):
        """Return the name in the toolbox."""
        return "geotracs"

    def longName(self):  # noqa: N802
        """Return what it is."""
        return "geotracs: movement data under local differential privacy"

    def icon(self):
        """Return the icon in the toolbox."""
        return QIcon(ICON)

    def svgIconPath(self):  # noqa: N802
        """Return where the icon is."""
        return ICON

    def supportedOutputVectorLayerExtensions(self):  # noqa: N802
        """Return what geotracs can write."""
        return FORMATS

    def supportsNonFileBasedOutput(self):  # noqa: N802
        """Return False: geotracs writes files."""
        return False
