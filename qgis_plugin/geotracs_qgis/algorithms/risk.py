"""Risk: what a release tells about a person, by attacking it."""

from qgis.core import QgsProcessing, QgsProcessingOutputString, QgsProcessingParameterFeatureSink

from .. import parameters as take
from ..base import Algorithm
from ..words import tr


class Risk(Algorithm):
    """Attack a release, and compare with the originals."""

    NAME, TITLE, GROUP = "risk", "Risk of a release", "Cost and risk, confidential"
    TAGS = ("attack", "reidentification", "tracking")
    RELEASES = ("PERTURBED",)
    HELP = """
    Says what a release tells about a person, in metres and probabilities, by attacking it: by averaging, by following
    people with a model of motion, by where they are at night and by day, and by linking two releases. Each figure is
    beside what can be guessed without the release. The release needs times.

    <b>Keep the result confidential.</b> It is computed from the original locations. Expected risk says the same of
    made-up people, without any data.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        self.add(take.source("INPUT", "Tracks (private)", [take.POINTS]))
        self.add(take.source("PERTURBED", take.RELEASE, [take.POINTS]))
        self.add(take.field("PERSON", "Person field", "INPUT"), "The trajectory of the release if not given.")
        self.add(take.number("SPEED", "Largest speed, in metres per second", 15.0, least=0), "2 on foot, 15 by car.")
        self.add(take.number("STAY", "Which part of their way people rest", 0.3, least=0, most=1), "", True)
        self.add(take.metres("WITHIN", "How near a guess must be", 550), "", True)
        self.add(take.number("KNOWN", "How many points of a person somebody knows", 4, whole=True, least=1), "", True)
        take.add_record(self, advanced=True)
        self.add(QgsProcessingParameterFeatureSink("OUTPUT", tr("Risk, confidential"), QgsProcessing.TypeVector))
        self.addOutput(QgsProcessingOutputString("WORDS", tr("In a sentence")))

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        return self.problem_of_region(parameters, needed=False)

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""

        def arguments(folder):
            paths = [self.given[name].file(folder, feedback) for name in ("INPUT", "PERTURBED")]
            texts = {"person": "PERSON", "speed": "SPEED", "stay": "STAY", "within": "WITHIN", "known": "KNOWN"}
            return [
                "risk",
                *paths,
                *self.options(parameters, context, **texts),
                *self.record(parameters, context, folder, feedback),
            ]

        said = self.ask(feedback, arguments)
        feedback.pushInfo(said["words"])
        feedback.pushWarning(tr(said["note"]))
        where = self.table(parameters, "OUTPUT", context, said["attacks"])
        self.finish(context, where, name=tr("Risk, confidential"), abstract=f"{said['words']} {said['note']}")
        return {"OUTPUT": where, "WORDS": said["words"]}
