"""Layers as files: those that are files as they are, others as private copies."""

import json
import os
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsProviderRegistry,
    QgsVectorFileWriter,
    QgsWkbTypes,
)

from .words import tr

COPY = "GPKG"


class Given:
    """A layer that was given to an algorithm: a file, or what must be copied into one first."""

    def __init__(self, name, layer, path, source):
        self.name, self.layer_name, self.crs = name, layer.name(), layer.crs()
        self.path = path
        self._source, self._mark = source, None if path else mark_of(layer)
        self.unsaved = layer.isModified()
        self.lines = layer.geometryType() == QgsWkbTypes.LineGeometry

    def file(self, folder, feedback):
        """Return the file, as the command line takes it; what is in no file is copied into a private folder."""
        if self.path is None:
            if self.unsaved:
                feedback.pushInfo(
                    tr("“{}” has edits that are not saved; they are taken as they are.").format(self.layer_name)
                )
            feedback.setProgressText(tr("Copying “{}” into a private folder …").format(self.layer_name))
            self.path = str(_copied(self._source, Path(folder) / f"{self.name.lower()}.gpkg", feedback))
            if self._mark:
                _set_mark(self.path, self._mark)
        return self.path


def given(algorithm, parameters, name, context):
    """Return the layer of a parameter, or None; raise if there is none to be found."""
    value = parameters.get(name)
    if value in (None, ""):
        return None
    selected = False
    if isinstance(value, QgsProcessingFeatureSourceDefinition):
        selected = (
            value.selectedFeaturesOnly or value.featureLimit != -1 or bool(getattr(value, "filterExpression", ""))
        )
    layer = layer_of(algorithm, parameters, name, context)
    source = algorithm.parameterAsSource(parameters, name, context)
    if layer is None or source is None:
        raise QgsProcessingException(algorithm.invalidSourceError(parameters, name))
    return Given(name, layer, None if selected else file_of(layer), source)


def layer_of(algorithm, parameters, name, context):
    """Return the vector layer of a parameter, also where only some of its features are meant."""
    value = parameters.get(name)
    if isinstance(value, QgsProcessingFeatureSourceDefinition):
        value = value.source
    return algorithm.parameterAsVectorLayer({**parameters, name: value}, name, context)


def file_of(layer):
    """Return the file of a layer that is the same as the file, or None."""
    provider = layer.dataProvider()
    if layer.providerType() != "ogr" or layer.subsetString() or layer.isModified():
        return None
    if layer.fields().count() != provider.fields().count() or layer.crs() != provider.crs():
        return None  # joined and virtual fields; a CRS that was given in QGIS
    parts = QgsProviderRegistry.instance().decodeUri("ogr", layer.source())
    path = parts.get("path") or ""
    if not os.path.exists(path):
        return None
    return f"{path}|layername={parts['layerName']}" if parts.get("layerName") else path


def mark_of(layer):
    """Return what Prepare tracks has marked the file of a layer with, so that a copy of some rows has it, too."""
    parts = QgsProviderRegistry.instance().decodeUri("ogr", layer.source()) if layer.providerType() == "ogr" else {}
    path = parts.get("path") or ""
    if not os.path.exists(path):
        return None
    beside = Path(f"{path}.tracs.json")  # of formats that hold no record
    if beside.exists():
        record = beside.read_text(encoding="utf-8")
    else:
        source = gdal.OpenEx(path, gdal.OF_VECTOR)
        found = source and (source.GetLayerByName(parts["layerName"]) if parts.get("layerName") else source.GetLayer(0))
        record = found and found.GetMetadataItem("tracs")
    prepared = json.loads(record).get("prepared") if record else None
    return json.dumps({"prepared": prepared}) if prepared else None


def _set_mark(path, mark):
    """Mark a copy."""
    copy = gdal.OpenEx(path, gdal.OF_VECTOR | gdal.OF_UPDATE)
    copy.GetLayer(0).SetMetadataItem("tracs", mark)
    del copy


def shown(path, project=None):
    """Return the name of a layer of the project that shows a file, or None."""
    for layer in (project or QgsProject.instance()).mapLayers().values():
        there = layer.source().partition("|")[0]
        if there and os.path.exists(there) and os.path.exists(path) and os.path.samefile(there, path):
            return layer.name()
    return None


def _copied(source, path, feedback):
    """Write features into a file that only the user can read."""
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName, options.layerName = COPY, "copy"
    transforms = QgsProject.instance().transformContext()
    writer = QgsVectorFileWriter.create(
        str(path), source.fields(), source.wkbType(), source.sourceCrs(), transforms, options
    )
    if writer.hasError() != QgsVectorFileWriter.WriterError.NoError:
        raise QgsProcessingException(tr("A private copy cannot be written: {}").format(writer.errorMessage()))
    os.chmod(path, 0o600)
    if not writer.addFeatures(source.getFeatures()):
        raise QgsProcessingException(tr("A private copy cannot be written: {}").format(writer.errorMessage()))
    del writer
    return path
