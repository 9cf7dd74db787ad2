"""QGIS plugin: geotracs in the Processing toolbox."""


def classFactory(iface):  # noqa: N802  (QGIS calls it by this name)
    """Return the plugin."""
    from .plugin import GeotracsPlugin

    return GeotracsPlugin()
