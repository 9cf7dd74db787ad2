"""Expected error: what each method costs, before any data is touched."""

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessing,
    QgsProcessingOutputString,
    QgsProcessingParameterFeatureSink,
)

from .. import parameters as take
from ..base import Algorithm
from ..words import tr

DEGREES = "EPSG:4326"


class ExpectedError(Algorithm):
    """Say what error each method makes in a public region."""

    NAME, TITLE, GROUP = "expectederror", "Expected error", "Before a release"
    TAGS = ("epsilon", "advise", "utility")
    HELP = """
    Says what error each method makes in a public region, in metres, or which epsilon each needs for an error. No
    private location is needed: run it before you release.

    The table has the mean, the median and the 95% quantile of the distance between a location and its report, and
    <i>of_optimum</i>: the mean as a multiple of the smallest that any method can have.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        take.add_region(self)
        self.add(take.number("EPSILON", "Epsilon", 4.0, least=0))
        self.add(take.metres("ERROR", "or the mean error that is wanted: says the epsilon"))
        take.add_places(self, advanced=True)
        take.add_prior(self)
        self.add(take.enum("FIT", "How a polygon becomes a square", take.FITS, "envelope"), "", True)
        methods = [name for name in take.METHODS if name != "auto"]
        self.add(take.enum("METHODS", "Only these methods", methods, several=True, optional=True), "", True)
        self.add(take.flag("OPTIMUM", "Compare with the smallest possible error, however long it takes"), "", True)
        self.add(QgsProcessingParameterFeatureSink("OUTPUT", tr("Expected errors"), QgsProcessing.TypeVector))
        self.addOutput(QgsProcessingOutputString("WORDS", tr("In a sentence")))

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        return self.problem_of_region(parameters)

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""

        def arguments(folder):
            degrees = QgsCoordinateReferenceSystem(DEGREES)
            found = ["advise", *self.public_region(parameters, context, folder, feedback, degrees)]
            found += self.options(parameters, context, eps="EPSILON", error="ERROR", weight="WEIGHT", fit="FIT")
            found += self.files(folder, feedback, places="PLACES", prior="PRIOR")
            if parameters.get("GRID") not in (None, ""):
                found += ["--places", f"grid:{self.number(parameters, 'GRID', context)}"]
            for name in self.parameterAsEnumStrings(parameters, "METHODS", context):
                found += ["--method", name]
            return found + (["--optimum"] if self.parameterAsBool(parameters, "OPTIMUM", context) else [])

        rows = self.ask(feedback, arguments)["rows"]
        words = self._words(rows, parameters, context)
        feedback.pushInfo(words)
        return {"OUTPUT": self.table(parameters, "OUTPUT", context, rows), "WORDS": words}

    def _words(self, rows, parameters, context):
        """Return the best of the table in a sentence."""
        if not rows:
            return tr("No method works on this region.")
        best = rows[0]
        if "eps" in best:
            metres = float(self.number(parameters, "ERROR", context))
            if best["eps"] is None:
                return tr("No method has a mean error of {:,.0f} m.").format(metres)
            return tr("For a mean error of {:,.0f} m, {} needs epsilon {:.2f}.").format(
                metres, best["method"], best["eps"]
            )
        eps = self.parameterAsDouble(parameters, "EPSILON", context)
        return tr(
            "With epsilon {:g}, {} moves a location by {:,.0f} m on average; 95% of reports are within {:,.0f} m."
        ).format(eps, best["method"], best["mean"], best["p95"])
