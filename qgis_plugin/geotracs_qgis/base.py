"""What all algorithms share: from parameters to a command of geotracs, and from what it wrote to layers."""

import json
import os
from pathlib import Path

from qgis.core import (
    Qgis,
    QgsFeature,
    QgsFeatureSink,
    QgsField,
    QgsFields,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingParameterDefinition,
)
from qgis.PyQt.QtCore import QMetaType, QVariant
from qgis.PyQt.QtGui import QIcon

from . import layers
from .finishing import Finish
from .program import Program
from .words import tr

HERE = Path(__file__).parent
KINDS = QMetaType.Type if Qgis.QGIS_VERSION_INT >= 33800 else QVariant  # which Qt 6 has no types in
TEXT = KINDS.QString if KINDS is not QVariant else KINDS.String
TYPES = {float: KINDS.Double, int: KINDS.LongLong, str: TEXT}


class Algorithm(QgsProcessingAlgorithm):
    """An algorithm that runs one command of geotracs."""

    NAME = TITLE = GROUP = HELP = ""
    TAGS = ()
    PICTURE = None
    """A file in `pictures` for the help."""
    RELEASES = ()
    """Parameters with releases, which must be files as perturb has written them: a copy has no record."""

    def createInstance(self):  # noqa: N802
        """Return another one."""
        return type(self)()

    def name(self):
        """Return the second part of the name for models and scripts."""
        return self.NAME

    def displayName(self):  # noqa: N802
        """Return the name in the toolbox."""
        return tr(self.TITLE)

    def group(self):
        """Return where in the toolbox it is."""
        return tr(self.GROUP)

    def groupId(self):  # noqa: N802
        """Return the same for machines."""
        return self.GROUP.lower().replace(" ", "_").replace(",", "")

    def tags(self):
        """Return what else people search for."""
        return ["geotracs", "privacy", "trajectories", *self.TAGS]

    def icon(self):
        """Return the icon."""
        return QIcon(str(HERE / "icon.svg"))

    def svgIconPath(self):  # noqa: N802
        """Return where the icon is."""
        return str(HERE / "icon.svg")

    def shortHelpString(self):  # noqa: N802
        """Return the help beside the parameters."""
        paragraphs = "".join(f"<p>{tr(' '.join(part.split()))}</p>" for part in self.HELP.strip().split("\n\n"))
        picture = HERE / "pictures" / f"{self.PICTURE}"
        image = f'<p><img src="{picture.as_uri()}"></p>' if self.PICTURE and picture.exists() else ""
        return paragraphs + image

    def add(self, parameter, help="", advanced=False):  # noqa: A002
        """Add a parameter with its help."""
        if advanced:
            parameter.setFlags(parameter.flags() | QgsProcessingParameterDefinition.FlagAdvanced)
        if help:
            parameter.setHelp(tr(help))
        self.addParameter(parameter)

    def checkParameterValues(self, parameters, context):  # noqa: N802
        """Return whether it can run, and if not, why."""
        fine, words = super().checkParameterValues(parameters, context)
        if not fine:
            return fine, words
        problem = self._problem(parameters, context)
        return problem is None, problem or ""

    def prepareAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Find the layers, in the thread that owns them."""
        problem = self._problem(parameters, context)
        if problem:
            raise QgsProcessingException(problem)
        self.given = {}
        for definition in self.parameterDefinitions():
            if definition.type() in ("source", "vector"):
                found = layers.given(self, parameters, definition.name(), context)
                if found is not None:
                    self.given[definition.name()] = found
        return True

    def problem(self, parameters, context):
        """Return in a sentence what is wrong with the parameters of this algorithm, or None."""

    def _problem(self, parameters, context):
        for definition in self.parameterDefinitions():
            name = definition.name()
            if definition.type() in ("source", "vector"):
                found = self._problem_of_layer(parameters, definition, context)
            elif definition.type() == "vectorDestination":
                found = self._problem_of_output(parameters, name, context)
            else:
                continue
            if found:
                return found
        return self.problem(parameters, context)

    def _problem_of_layer(self, parameters, definition, context):
        name = definition.name()
        if parameters.get(name) in (None, ""):
            return None
        layer = layers.layer_of(self, parameters, name, context)
        if layer is None or not layer.isValid():
            return tr("{}: there is no such layer.").format(definition.description())
        if layer.isSpatial() and not layer.crs().isValid():
            return tr("The layer “{}” has no CRS; set it in its properties, Source.").format(layer.name())
        if name in self.RELEASES and layers.file_of(layer) is None:
            return tr(
                "“{}” must be the file that Perturb tracks has written, without filter or edits: copies have no "
                "record of how the reports were made."
            ).format(layer.name())
        return None

    def _problem_of_output(self, parameters, name, context):
        value = parameters.get(name)
        if value is None:
            return None
        path = self.parameterAsOutputLayer(dict(parameters), name, _Aside(context).context)
        if not path or not os.path.exists(path):
            return None
        layer = layers.shown(path, context.project())
        if layer is not None:
            return tr("“{}” is open as the layer “{}”: remove that layer first, or write another file.").format(
                path, layer
            )
        if not self.parameterAsBool(parameters, "REPLACE", context):
            return tr("“{}” exists already: write another file, or tick “Replace an output that exists”.").format(path)
        return None

    def text(self, parameters, name, context):
        """Return a text, or an empty one."""
        return self.parameterAsString(parameters, name, context) if parameters.get(name) is not None else ""

    def number(self, parameters, name, context):
        """Return a number as text, or None."""
        if parameters.get(name) in (None, ""):
            return None
        return format(self.parameterAsDouble(parameters, name, context), ".15g")

    def fields_of(self, parameters, name, context):
        """Return the names of some fields."""
        if parameters.get(name) in (None, ""):
            return []
        return self.parameterAsFields(parameters, name, context)

    def options(self, parameters, context, **names):
        """Return options with their values, for texts and numbers that are given."""
        found = []
        for option, name in names.items():
            kind = self.parameterDefinition(name).type()
            value = (self.number if kind in ("number", "distance") else self.text)(parameters, name, context)
            if value not in (None, ""):
                found += [f"--{option.replace('_', '-')}", value]
        return found

    def files(self, folder, feedback, **names):
        """Return options with the files of the layers that are given."""
        return [
            word
            for option, name in names.items()
            if name in self.given
            for word in (f"--{option.replace('_', '-')}", self.given[name].file(folder, feedback))
        ]

    def ask(self, feedback, arguments):
        """Run a command that prints JSON, and return it; ``arguments`` are made once there is a private folder."""
        with Program(feedback) as program:
            said = program.run([*arguments(program.folder), "--json", "--progress"])
        return json.loads(said)

    def table(self, parameters, name, context, rows):
        """Write rows as a table, and return where it is."""
        fields = QgsFields()
        for column in rows[0] if rows else {}:
            kinds = {type(row[column]) for row in rows if row[column] is not None}
            kind = float if kinds == {int, float} else kinds.pop() if len(kinds) == 1 else str
            fields.append(QgsField(column, TYPES.get(kind, TEXT)))
        sink, where = self.parameterAsSink(parameters, name, context, fields)
        if sink is None:
            raise QgsProcessingException(self.invalidSinkError(parameters, name))
        for row in rows:
            feature = QgsFeature(fields)
            kinds = [field.type() for field in fields]
            feature.setAttributes([_value(v, kind) for v, kind in zip(row.values(), kinds)])
            if not sink.addFeature(feature, QgsFeatureSink.FastInsert):
                raise QgsProcessingException(self.writeFeatureError(sink, parameters, name))
        return where

    def finish(self, context, path, **looks):
        """Say how a layer shall look once QGIS has loaded it."""
        Finish.of(self, context, path, **looks)

    def public_region(self, parameters, context, folder, feedback, crs):
        """Return the region as the command line takes it, in a CRS."""
        found = self.files(folder, feedback, domain="DOMAIN")
        if found:
            return found
        if parameters.get("EXTENT") not in (None, ""):
            box = self.parameterAsExtent(parameters, "EXTENT", context, crs)
            corners = (box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum())
            return [f"--domain={','.join(format(corner, '.15g') for corner in corners)}"]
        if parameters.get("CENTRE") not in (None, ""):
            point = self.parameterAsPoint(parameters, "CENTRE", context, crs)
            radius = self.number(parameters, "DISC", context)
            return [f"--domain=disc:{point.x():.15g},{point.y():.15g},{radius}"]
        return []

    def record(self, parameters, context, folder, feedback):
        """Return the public layers of a release, if they are given."""
        release = next(name for name in self.RELEASES if name in self.given)
        found = self.public_region(parameters, context, folder, feedback, self.given[release].crs)
        found += self.files(folder, feedback, round_to="ROUND_TO")
        if parameters.get("ROUND_TO_GRID") not in (None, ""):
            found += ["--round-to", f"grid:{self.number(parameters, 'ROUND_TO_GRID', context)}"]
        return found

    def problem_of_region(self, parameters, *, needed=True):
        """Return what is wrong with the region, or None."""
        count = sum(parameters.get(name) not in (None, "") for name in ("DOMAIN", "EXTENT", "CENTRE"))
        if count > 1:
            return tr("Give the public region once: as a layer, an extent, or a disc.")
        if count == 0 and needed:
            return tr(
                "Give a public region: a layer, an extent, or a disc. One that is fitted to the tracks tells of them."
            )
        if parameters.get("CENTRE") not in (None, "") and not parameters.get("DISC"):
            return tr("A disc needs a radius.")
        return None


class _Aside:
    """A copy of a context, so that asking where an output will be does not load it."""

    def __init__(self, context):
        from qgis.core import QgsProcessingContext

        self.context = QgsProcessingContext()
        self.context.setProject(context.project())


def _value(value, kind):
    if value is None or kind != TEXT:
        return value
    return value if isinstance(value, str) else json.dumps(value)
