"""How layers look once QGIS has loaded them: name, style, group, times, and what they promise."""

from pathlib import Path

from qgis.core import (
    QgsClassificationEqualInterval,
    QgsClassificationJenks,
    QgsFeatureRequest,
    QgsGraduatedSymbolRenderer,
    QgsProcessingLayerPostProcessorInterface,
    QgsVectorLayerTemporalProperties,
    QgsWkbTypes,
)

STYLES = Path(__file__).with_name("styles")
GROUP = "geotracs"
CLASSES = 6
INSTANTS = getattr(QgsVectorLayerTemporalProperties, "ModeFeatureDateTimeInstantFromField", None)
if INSTANTS is None:  # where it has moved
    from qgis.core import Qgis

    INSTANTS = Qgis.VectorTemporalMode.FeatureDateTimeInstantFromField


class Finish(QgsProcessingLayerPostProcessorInterface):
    """Brings a layer into shape when it has been loaded."""

    alive = {}  # noqa: RUF012  (QGIS does not keep them, and would skip what is not alive)

    @classmethod
    def of(cls, algorithm, context, path, *, name="", style="", abstract="", time=""):
        """Register for the layer of a path, if QGIS is going to load it."""
        if not context.willLoadLayerOnCompletion(path):
            return
        details = context.layerToLoadOnCompletionDetails(path)
        if name:
            details.name = name
            details.forceName = True
        if hasattr(details, "groupName"):  # from QGIS 3.32 on
            details.groupName = GROUP
        finish = cls()
        finish.style, finish.abstract, finish.time = style, abstract, time
        cls.alive[path] = finish
        details.setPostProcessor(finish)

    def postProcessLayer(self, layer, context, feedback):  # noqa: N802
        """Do it."""
        if self.style:
            _style(layer, self.style)
        if self.abstract:
            metadata = layer.metadata()
            metadata.setAbstract(self.abstract)
            layer.setMetadata(metadata)
        self._set_times(layer)
        _group(layer, context.project())
        layer.triggerRepaint()

    def _set_times(self, layer):
        index = layer.fields().lookupField(self.time) if self.time else -1
        if index < 0 or not layer.fields()[index].isDateOrTime():
            return
        if layer.getFeatures(QgsFeatureRequest().setLimit(1)).isClosed():
            return
        times = layer.temporalProperties()
        times.setMode(INSTANTS)
        times.setStartField(layer.fields()[index].name())
        times.setFixedDuration(1)
        times.setIsActive(True)


def _style(layer, name):
    """Give a layer its style, with classes of its own values."""
    kind = {QgsWkbTypes.PointGeometry: "point", QgsWkbTypes.LineGeometry: "line"}.get(layer.geometryType(), "area")
    layer.loadNamedStyle(str(STYLES / f"{name}_{kind}.qml"))
    renderer = layer.renderer()
    if isinstance(renderer, QgsGraduatedSymbolRenderer):
        values = layer.uniqueValues(layer.fields().lookupField(renderer.classAttribute()))
        many = len(values) > 3 * CLASSES  # of few values natural breaks leave some out
        renderer.setClassificationMethod(QgsClassificationJenks() if many else QgsClassificationEqualInterval())
        renderer.updateClasses(layer, min(CLASSES, len(values)))


def _group(layer, project):
    """Put a layer into the group, if QGIS has not."""
    if project is None:
        return
    root = project.layerTreeRoot()
    node = root.findLayer(layer.id())
    if node is None or node.parent() != root:
        return
    group = root.findGroup(GROUP) or root.insertGroup(0, GROUP)
    group.insertChildNode(0, node.clone())
    root.removeChildNode(node)
    group.setExpanded(False)  # an empty group cannot be shown as expanded, and was
    group.setExpanded(True)
