"""Release report: a page for a privacy officer."""

from qgis.core import QgsProcessingOutputHtml, QgsProcessingParameterFileDestination, QgsProcessingParameterString

from .. import parameters as take
from .. import settings
from ..base import Algorithm
from ..program import Program
from ..words import tr


class Report(Algorithm):
    """Make a report on a release."""

    NAME, TITLE, GROUP = "report", "Release report", "Release"
    TAGS = ("audit", "privacy officer", "guarantee")
    RELEASES = ("INPUT",)
    HELP = """
    Makes a page on a release for a privacy officer: what is promised, what is left, what was checked. It can be
    printed.

    It is computed from the release and public information only, unless the originals are given: keep it confidential
    then. It never holds an original location.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        self.add(take.source("INPUT", take.RELEASE, [take.POINTS, take.LINES]))
        self.add(take.field("PERSON", "Person field", "INPUT"), "To add up what each person spends.")
        self.add(take.flag("RISK", "Attack made-up people", default=True), "Takes some seconds.")
        self.add(take.flag("AUDIT", "Audit the method", default=True), "Takes some seconds.")
        self.add(
            take.number("SPEED", "Largest speed, in metres per second", 15.0, least=0), "2 on foot, 15 by car.", True
        )
        self.add(
            take.source("ORIGINALS", "Tracks (private), to compare attacks with", [take.POINTS], optional=True),
            "The report is confidential then.",
            True,
        )
        self.add(QgsProcessingParameterString("DATA", tr("Name of the data in the ledger"), optional=True), "", True)
        self.add(QgsProcessingParameterString("HEADING", tr("Heading"), optional=True), "", True)
        take.add_record(self)
        take.add_prior(self)
        take.add_replace(self)
        self.add(QgsProcessingParameterFileDestination("OUTPUT", tr("Report"), "HTML (*.html)"))
        self.addOutput(QgsProcessingOutputHtml("OUTPUT", tr("Report")))

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        return self.problem_of_region(parameters, needed=False)

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""
        target = self.parameterAsFileOutput(parameters, "OUTPUT", context)
        with Program(feedback) as program:
            folder = program.folder
            texts = {"person": "PERSON", "speed": "SPEED", "title": "HEADING", "weight": "WEIGHT"}
            found = ["report", self.given["INPUT"].file(folder, feedback), target, "--progress"]
            found += self.options(parameters, context, **texts)
            found += self.files(folder, feedback, prior="PRIOR", originals="ORIGINALS")
            found += self.record(parameters, context, folder, feedback)
            if settings.ledger() and self.text(parameters, "DATA", context):
                found += ["--ledger", settings.ledger(), "--data", self.text(parameters, "DATA", context)]
            for name, option in (("RISK", "--no-risk"), ("AUDIT", "--no-audit")):
                found += [] if self.parameterAsBool(parameters, name, context) else [option]
            found += ["--overwrite"] if self.parameterAsBool(parameters, "REPLACE", context) else []
            said = program.run(found)
        for line in said.splitlines():
            feedback.pushInfo(line)
        if "ORIGINALS" in self.given:
            feedback.pushWarning(tr("Computed from original locations: keep confidential."))
        return {"OUTPUT": target}
