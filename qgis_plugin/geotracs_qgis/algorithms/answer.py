"""What algorithms share that answer from a release."""

import json

from qgis.core import QgsProcessingParameterVectorDestination

from .. import parameters as take
from ..base import Algorithm
from ..program import Program
from ..words import tr

COSTS = "It uses the release only, so that it costs no epsilon: anybody who has the release can do it."


class Answer(Algorithm):
    """An algorithm whose command reads a release and writes a layer."""

    GROUP = "Answers from a release"
    COMMAND = STYLE = LAYER = ""
    KINDS = (take.POINTS, take.LINES)
    RELEASES = ("INPUT",)

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        self.add(take.source("INPUT", take.RELEASE, [*self.KINDS]))
        self.ask_for()
        self.add(take.number("LEVEL", "Level of intervals", 0.9, least=0, most=1), "", True)
        take.add_record(self, advanced=True)
        take.add_replace(self)
        self.add(QgsProcessingParameterVectorDestination("OUTPUT", tr(self.LAYER)))

    def ask_for(self):
        """Declare what this algorithm has of its own."""

    def arguments(self, parameters, context, folder, feedback):
        """Return the options for that."""
        return []

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        return self.problem_of_region(parameters, needed=False)

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""
        target = self.parameterAsOutputLayer(parameters, "OUTPUT", context)
        with Program(feedback) as program:
            folder = program.folder
            found = [self.COMMAND, self.given["INPUT"].file(folder, feedback), target]
            found += self.arguments(parameters, context, folder, feedback)
            found += self.options(parameters, context, level="LEVEL")
            found += self.record(parameters, context, folder, feedback)
            found += ["--overwrite"] if self.parameterAsBool(parameters, "REPLACE", context) else []
            said = json.loads(program.run([*found, "--json", "--progress"]))
        words = said["answer"].get("words") or ""
        feedback.pushInfo(tr("{:,} features.").format(said["count"]))
        feedback.pushInfo(words)
        time = said["release"].get("time") or ""
        self.finish(context, target, name=tr(self.LAYER), style=self.STYLE, abstract=words, time=time)
        return {"OUTPUT": target}
