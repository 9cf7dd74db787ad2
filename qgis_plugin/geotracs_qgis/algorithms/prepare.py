"""Prepare tracks: trim, leave out, thin, before the draw."""

from qgis.core import QgsProcessingParameterString, QgsProcessingParameterVectorDestination

from .. import parameters as take
from ..base import Algorithm
from ..program import Program
from ..words import tr

TEXTS = {
    "trajectory": "TRAJECTORY",
    "time": "TIME",
    "trips": "TRIPS",
    "stop": "STOP",
    "radius": "RADIUS",
    "person": "PERSON",
    "trim_start": "TRIM_START",
    "trim_end": "TRIM_END",
    "trim_by": "TRIM_BY",
    "every": "EVERY",
    "fixes": "FIXES",
    "metres": "METRES",
    "stops": "STOPS",
    "diameter": "DIAMETER",
    "coarsen_time": "COARSEN",
}
STEPS = ("TRIPS", "ZONES", "TRIM_START", "TRIM_END", "EVERY", "FIXES", "METRES", "STOPS", "COARSEN")


class Prepare(Algorithm):
    """Trim tracks, leave out zones, thin rows, coarsen times."""

    NAME, TITLE, GROUP = "prepare", "Prepare tracks", "Release"
    TAGS = ("trim", "thin", "stops", "trips", "privacy zones")
    HELP = """
    Trims tracks, leaves out zones, thins rows, finds trips and stops, and coarsens times, before the draw. The steps
    are taken in the order of the parameters. Times are such as 5min, 30s or 1h.

    <b>The result holds original locations: keep it confidential.</b> What looks at where somebody was at several
    moments is not covered by epsilon; the layer is marked, and the guarantee of what Perturb tracks makes of it
    says so.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        self.add(take.source("INPUT", "Tracks (private)", [take.POINTS]))
        self.add(take.field("TRAJECTORY", "Trajectory field", "INPUT"))
        self.add(take.field("TIME", "Time field", "INPUT"))
        words = "Such as 30min; the trips are in the field trip."
        self.text_of("TRIPS", "Divide where nothing is known for longer than", words)
        self.text_of("STOP", "and where somebody stays so long", "With the one above: such as 5min.", True)
        self.add(take.source("ZONES", "Leave out the rows in these areas", [take.AREAS], optional=True))
        self.add(
            take.metres("RADIUS", "The areas are secret: use random discs, larger by"),
            "A gap around a home tells where it is; a disc whose middle and radius are random tells less.",
            True,
        )
        self.add(take.field("PERSON", "Person field", "INPUT"), "An area is for the rows of its person only.", True)
        self.text_of("TRIM_START", "Leave out the beginning", "Such as 5min; or metres, or rows, as said below.")
        self.text_of("TRIM_END", "Leave out the end", "Such as 5min.")
        self.add(take.enum("TRIM_BY", "What they measure", ["time", "metres", "fixes"], "time"), "", True)
        self.text_of("EVERY", "Keep the first row of every", "Such as 5min.")
        self.add(take.number("FIXES", "Keep every n-th row", optional=True, whole=True, least=1), "", True)
        self.add(take.metres("METRES", "Keep the first row of every so many metres"), "", True)
        self.text_of("STOPS", "Keep stops of at least so long, a row each", "Such as 5min.", True)
        self.add(take.metres("DIAMETER", "Size of a stop", 100), "", True)
        self.text_of("COARSEN", "Round times down to", "Such as 1h.")
        take.add_replace(self)
        self.add(QgsProcessingParameterVectorDestination("OUTPUT", tr("Prepared tracks, confidential")))

    def text_of(self, name, words, help, advanced=False):  # noqa: A002
        """Add a parameter for a duration."""
        self.add(QgsProcessingParameterString(name, tr(words), optional=True), help, advanced)

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        if all(parameters.get(name) in (None, "") for name in STEPS):
            return tr("Nothing is asked for: say what to prepare, such as 5min to leave out the beginning.")
        return None

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""
        target = self.parameterAsOutputLayer(parameters, "OUTPUT", context)
        given = {option: name for option, name in TEXTS.items() if parameters.get(name) not in (None, "")}
        with Program(feedback) as program:
            found = ["prepare", self.given["INPUT"].file(program.folder, feedback), target, "--progress"]
            found += self.options(parameters, context, **given)
            found += self.files(program.folder, feedback, zones="ZONES")
            found += ["--overwrite"] if self.parameterAsBool(parameters, "REPLACE", context) else []
            said = program.run(found)
        feedback.pushInfo(said)
        note = tr("With original locations: keep confidential.")
        feedback.pushWarning(note)
        time = self.text(parameters, "TIME", context)
        self.finish(context, target, name=tr("Prepared tracks, confidential"), abstract=note, time=time)
        return {"OUTPUT": target}
