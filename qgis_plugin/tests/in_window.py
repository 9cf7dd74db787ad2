"""Runs inside the window of QGIS (`qgis --code in_window.py`): opens dialogs, says where to click, takes pictures.

The other side is `test_window.py`, which moves the mouse. They talk by files in the folder GEOTRACS_TEST_FOLDER:
`click.json` says where to click, `done.json` what came of it.
"""

import json
import os
import traceback
from pathlib import Path

import processing
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFillSymbol,
    QgsProject,
    QgsSingleSymbolRenderer,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QPoint, QTimer
from qgis.PyQt.QtWidgets import QApplication, QDialogButtonBox, QDockWidget
from qgis.utils import iface

FOLDER, DATA = Path(os.environ["GEOTRACS_TEST_FOLDER"]), Path(os.environ["GEOTRACS_TEST_DATA"])
STEPS = json.loads(os.environ["GEOTRACS_TEST_STEPS"])
"""Algorithms and their parameters; layers by how their names begin."""
SAID = []


def layer(name):
    """Return the layer whose name begins so."""
    found = [one for one in QgsProject.instance().mapLayers().values() if one.name().startswith(name)]
    return found[0] if found and len(name) > 1 else None


def start():
    """Load public and private layers."""
    window = iface.mainWindow()
    window.setGeometry(0, 0, 1400, 900)
    for dock in window.findChildren(QDockWidget):
        dock.setVisible(dock.objectName() in ("Layers", "ProcessingToolbox"))
    for name in ("tracks", "city", "zones"):
        QgsProject.instance().addMapLayer(QgsVectorLayer(str(DATA / f"{name}.gpkg"), name, "ogr"))
    city = layer("city")
    city.setRenderer(
        QgsSingleSymbolRenderer(QgsFillSymbol.createSimple({"color": "245,245,240", "outline_color": "120,120,120"}))
    )
    root = QgsProject.instance().layerTreeRoot()
    for name in ("city", "tracks"):  # the last on top
        node = root.findLayer(layer(name).id())
        root.insertChildNode(0, node.clone())
        root.removeChildNode(node)
    root.findLayer(layer("zones").id()).setItemVisibilityChecked(False)
    layer("tracks").renderer().symbol().setSize(1.2)
    QgsProject.instance().setCrs(QgsCoordinateReferenceSystem("EPSG:32733"))
    show_city()
    toolbox = window.findChild(QDockWidget, "ProcessingToolbox")
    if toolbox is not None:
        toolbox.searchBox.setText("geotracs")
        window.resizeDocks([toolbox], [330], 1)
    QTimer.singleShot(2500, lambda: step(0))


def show_city():
    """Zoom to the city."""
    canvas = iface.mapCanvas()
    extent = canvas.mapSettings().layerExtentToOutputExtent(layer("city"), layer("city").extent())
    extent.scale(1.1)
    canvas.setExtent(extent)
    canvas.refresh()


def step(number):
    """Open the dialog of a step, and say where its button is."""
    if number == len(STEPS):
        finish()
        return
    picture(f"window-{number}", iface.mainWindow())
    name, given = STEPS[number]
    given = {key: layer(value) if isinstance(value, str) and layer(value) else value for key, value in given.items()}
    dialog = processing.createAlgorithmDialog(f"geotracs:{name}", given)
    dialog.setGeometry(60, 40, 980, 800)
    dialog.show()
    before = set(QgsProject.instance().mapLayers())

    def ready():
        picture(f"dialog-{number}", dialog)
        box = dialog.findChild(QDialogButtonBox)
        (button,) = [b for b in box.buttons() if b.text().replace("&", "") == "Run"]
        middle = button.mapToGlobal(QPoint(button.width() // 2, button.height() // 2))
        say("click.json", {"step": number, "x": middle.x(), "y": middle.y()})

    def look():
        new = set(QgsProject.instance().mapLayers()) - before
        if not new:
            QTimer.singleShot(200, look)
            return
        (found,) = [QgsProject.instance().mapLayer(one) for one in new]
        SAID.append({"name": found.name(), "count": found.featureCount(), "abstract": found.metadata().abstract()})
        picture(f"log-{number}", dialog)
        dialog.close()
        for node in QgsProject.instance().layerTreeRoot().findLayers():
            node.setItemVisibilityChecked(node.layer() is found or node.name() == "city")
        show_city()
        QTimer.singleShot(2500, lambda: step(number + 1))

    QTimer.singleShot(1500, ready)
    QTimer.singleShot(2000, look)


def picture(name, widget):
    """Take a picture of a window."""
    widget.grab().save(str(FOLDER / f"{name}.png"))


def finish():
    """Take the last picture, and end QGIS."""

    def end():
        picture("window-end", iface.mainWindow())
        say("done.json", {"layers": SAID, "version": Qgis.QGIS_VERSION})
        QgsProject.instance().clear()
        os._exit(0)

    QTimer.singleShot(2000, end)


def say(name, words):
    """Write a file at once."""
    path = FOLDER / f"{name}.part"
    path.write_text(json.dumps(words))
    path.rename(FOLDER / name)


def guarded():
    """Say what went wrong."""
    try:
        start()
    except Exception:
        say("done.json", {"error": traceback.format_exc()})
        QApplication.instance().quit()


QTimer.singleShot(1500, guarded)
