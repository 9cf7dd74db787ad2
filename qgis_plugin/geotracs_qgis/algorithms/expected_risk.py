"""Expected risk: the same for people who are made up, before any data is touched."""

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessing,
    QgsProcessingOutputString,
    QgsProcessingParameterFeatureSink,
)

from .. import parameters as take
from ..base import Algorithm
from ..words import tr
from .advise import DEGREES


class ExpectedRisk(Algorithm):
    """Say what a release would tell about a person."""

    NAME, TITLE, GROUP = "expectedrisk", "Expected risk", "Before a release"
    TAGS = ("attack", "reidentification", "tracking", "advise")
    HELP = """
    Says what a release would tell about a person, in metres and probabilities: made-up people are released in a public
    region and attacked. No data is needed. Reports a few seconds apart give a person away to some hundred metres,
    however far off each of them is: try the interval of your tracks.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        take.add_region(self)
        self.add(take.number("EPSILON", "Epsilon", 4.0, least=0))
        self.add(take.number("INTERVAL", "Seconds between two reports of a person", 60.0, least=0))
        self.add(take.number("SPEED", "Largest speed, in metres per second", 15.0, least=0), "2 on foot, 15 by car.")
        self.add(take.enum("METHOD", "Method", take.METHODS[:4], "joint"))
        self.add(take.number("STAY", "Which part of their way people rest", 0.3, least=0, most=1), "", True)
        self.add(take.number("PEOPLE", "How many people are made up", 20, whole=True, least=5), "", True)
        self.add(take.number("FIXES", "How many reports each has", 240, whole=True, least=8), "", True)
        self.add(take.metres("WITHIN", "How near a guess must be", 550), "", True)
        take.add_prior(self)
        self.add(QgsProcessingParameterFeatureSink("OUTPUT", tr("Expected risk"), QgsProcessing.TypeVector))
        self.addOutput(QgsProcessingOutputString("WORDS", tr("In a sentence")))

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        if self.text(parameters, "METHOD", context) in take.OVER_PLACES:
            return tr("This method reports places; choose another one.")
        return self.problem_of_region(parameters)

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""

        def arguments(folder):
            texts = {"eps": "EPSILON", "interval": "INTERVAL", "speed": "SPEED", "method": "METHOD", "stay": "STAY"}
            texts |= {"people": "PEOPLE", "fixes": "FIXES", "within": "WITHIN", "weight": "WEIGHT"}
            region = self.public_region(parameters, context, folder, feedback, QgsCoordinateReferenceSystem(DEGREES))
            return [
                "risk",
                *region,
                *self.options(parameters, context, **texts),
                *self.files(folder, feedback, prior="PRIOR"),
            ]

        said = self.ask(feedback, arguments)
        feedback.pushInfo(said["words"])
        where = self.table(parameters, "OUTPUT", context, said["attacks"])
        self.finish(context, where, name=tr("Expected risk"), abstract=f"{said['words']} {said['note']}")
        return {"OUTPUT": where, "WORDS": said["words"]}
