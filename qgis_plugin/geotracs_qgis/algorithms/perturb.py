"""Perturb tracks: the release."""

import json

from qgis.core import (
    QgsProcessing,
    QgsProcessingOutputNumber,
    QgsProcessingOutputString,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorDestination,
)

from .. import parameters as take
from .. import settings
from ..base import Algorithm
from ..program import Program
from ..words import tr


class Perturb(Algorithm):
    """Report every location under epsilon-local differential privacy."""

    NAME, TITLE, GROUP = "perturb", "Perturb tracks", "Release"
    TAGS = ("anonymize", "obfuscate", "differential privacy", "noise", "gps")
    PICTURE = "perturb.png"
    HELP = """
    Reports every location under pure epsilon-local differential privacy over a public region: whatever comes out, no
    place of the region is more than exp(epsilon) times likelier to have produced it than any other. The layer's
    metadata say in sentences what is promised.

    <b>Every run is another release.</b> Each row of a batch, each run of a model and each repetition adds its own
    epsilon: whoever has two releases of the same people knows more. Publish one. A ledger (Settings, Options,
    Processing, Providers, geotracs) charges every run to the people in it, and refuses those that go over its budget.

    Not protected: time stamps, the number of locations, trajectory labels, the order of the rows, and fields to keep.

    <b>Public region</b>: an area that everybody may know. Do not calculate the extent from the layer of the tracks.

    <b>Method</b>: joint has small errors and reports all over the region, as maps need; optimal has the smallest mean
    error; nearest reports public places; tracs-c and tracs-d are those of the paper; geo-ind promises less (metric
    privacy within a distance). Expected error says what each costs, before any data is touched.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        self.add(
            take.source("INPUT", "Tracks (private)", [take.POINTS, take.LINES]), "One row for each location, or lines."
        )
        self.add(
            take.number("EPSILON", "Epsilon", 4.0, least=0),
            "Smaller is more private and less accurate; 1 to 10 is usual.",
        )
        self.add(take.enum("METHOD", "Method", take.METHODS, "joint"))
        take.add_region(self)
        self.add(
            take.field("TRAJECTORY", "Trajectory field", "INPUT"), "Says which rows belong together, such as a person."
        )
        self.add(take.field("TIME", "Time field", "INPUT"), "Orders the rows of a trajectory; it is released as it is.")
        take.add_places(self)
        self.add(take.field("JOIN", "Fields of the places to carry over", "PLACES", several=True), "", True)
        self.add(take.flag("CENTROID", "Round to centroids of lines and areas"), "", True)
        self.add(
            take.enum("UNIT", "Epsilon is for", take.UNITS, "location"),
            "Each location; or all locations of a trajectory, of a person, or of a person and a day or a week (1W) "
            "together, which costs accuracy.",
            True,
        )
        self.add(
            take.metres("REPEAT", "Rows of a person in a cell share one report; side of the cells"),
            "So that averaging over a stay finds nothing more. Each row has its own report if this is empty.",
            True,
        )
        self.add(
            QgsProcessingParameterString("EVERY", tr("Report only the first row of every"), optional=True),
            "Such as 15min, or auto: fewer reports tell less of a person, or may have more epsilon each.",
            True,
        )
        self.add(
            take.number("AT_MOST", "Report at most so many rows of a trajectory", optional=True, whole=True, least=1),
            "",
            True,
        )
        self.add(
            take.enum("FILL", "Fill in the rows between", ["hold", "interpolate", "reconstruct"], optional=True),
            "From the reports only; they are left out if this is empty.",
            True,
        )
        words = "Largest speed, in metres per second, for auto and reconstruct"
        self.add(take.number("SPEED", words, optional=True, least=0), "2 on foot, 15 by car.", True)
        self.add(take.enum("FIT", "How a polygon becomes a square", take.FITS, "envelope"), "", True)
        take.add_prior(self)
        self.add(
            take.flag("REMAP", "Move reports to where locations are nearest on average"), "Costs no epsilon.", True
        )
        self.add(take.metres("METRIC", "Distance of metric privacy, for geo-ind"), "", True)
        self.add(take.enum("OUTSIDE", "Locations outside the region", ["raise", "clip"], "raise"), "", True)
        self.add(
            take.field("KEEP", "Fields to keep", "INPUT", several=True),
            "Released as they are: only those that do not tell where somebody was. Trajectory and time are kept.",
            True,
        )
        self.add(
            take.flag("EMBED", "Put the public layers into the record", default=True),
            "Whoever estimates from the release needs nothing else then.",
            True,
        )
        self.add(
            take.field("PERSON", "Person field", "INPUT"),
            "For the ledger, epsilon per person, and shared reports; the trajectory if not given.",
            True,
        )
        self.add(QgsProcessingParameterString("DATA", tr("Name of the data in the ledger"), optional=True), "", True)
        take.add_replace(self)
        self.add(QgsProcessingParameterVectorDestination("OUTPUT", tr("Perturbed tracks")))
        self.add(
            QgsProcessingParameterVectorDestination(
                "LINES", tr("Perturbed tracks as lines"), QgsProcessing.TypeVectorLine, None, True, False
            ),
            "Joins the reports of each trajectory in the order of time.",
        )
        self.addOutput(QgsProcessingOutputNumber("LOCATIONS", tr("Number of locations")))
        self.addOutput(QgsProcessingOutputString("GUARANTEE", tr("What the release promises")))

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        method = self.text(parameters, "METHOD", context)
        places = any(parameters.get(name) not in (None, "") for name in ("PLACES", "GRID"))
        if self.parameterAsDouble(parameters, "EPSILON", context) <= 0:
            return tr("Epsilon must be greater than 0.")
        if method in take.OVER_PLACES and not places:
            return tr("{} reports public places: give a layer or a grid of them.").format(method)
        if method == "geo-ind" and not parameters.get("METRIC"):
            return tr("geo-ind needs the distance of metric privacy (an advanced parameter).")
        if parameters.get("PLACES") not in (None, "") and parameters.get("GRID") not in (None, ""):
            return tr("Give the public places once: as a layer, or as a grid.")
        if settings.ledger() and not self.text(parameters, "DATA", context):
            return tr("Releases are charged to a ledger: give the name of the data in it (an advanced parameter).")
        wanted = parameters.get("LINES") is not None
        if wanted and not self.text(parameters, "TRAJECTORY", context):
            return tr("Lines need a trajectory field.")
        return self.problem_of_region(parameters)

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Make the release."""
        target = self.parameterAsOutputLayer(parameters, "OUTPUT", context)
        with Program(feedback) as program:
            arguments = self._arguments(parameters, context, program.folder, feedback)
            said = json.loads(program.run(["perturb", self.given["INPUT"].path, target, *arguments]))
        guarantee, record = said["guarantee"], said["record"]
        feedback.pushInfo(tr("{:,} locations.").format(said["locations"]))
        feedback.pushInfo(guarantee)
        results = {"OUTPUT": target, "LOCATIONS": said["locations"], "GUARANTEE": guarantee}
        name = tr("Perturbed tracks ({}, epsilon {:g})").format(record["method"], record["epsilon"])
        self.finish(context, target, name=name, style="perturbed", abstract=guarantee, time=record.get("time") or "")
        if parameters.get("LINES") is not None:
            results["LINES"] = self._lines(parameters, context, feedback, target, name, guarantee)
        return results

    def _arguments(self, parameters, context, folder, feedback):
        """Return the options of the command."""
        tracks = self.given["INPUT"]
        tracks.file(folder, feedback)
        texts = {"eps": "EPSILON", "method": "METHOD", "fit": "FIT", "outside": "OUTSIDE", "unit": "UNIT"}
        texts |= {"weight": "WEIGHT", "trajectory": "TRAJECTORY", "time": "TIME", "person": "PERSON"}
        texts |= {"every": "EVERY", "at_most": "AT_MOST", "fill": "FILL", "speed": "SPEED"}
        found = [
            *self.options(parameters, context, **texts),
            *self.public_region(parameters, context, folder, feedback, tracks.crs),
            *self.files(folder, feedback, prior="PRIOR"),
            *self.files(folder, feedback, round_to="PLACES"),
            *self.keeping(parameters, context),
            "--json",
            "--progress",
        ]
        for name in self.fields_of(parameters, "JOIN", context):
            found += ["--join", name]
        for name, option in (("REMAP", "--remap"), ("CENTROID", "--centroid"), ("REPLACE", "--overwrite")):
            found += [option] if self.parameterAsBool(parameters, name, context) else []
        if self.parameterAsBool(parameters, "EMBED", context):
            found.append("--embed")
        if parameters.get("GRID") not in (None, ""):
            found += ["--round-to", f"grid:{self.number(parameters, 'GRID', context)}"]
        if self.text(parameters, "METHOD", context) == "geo-ind":
            found += ["--option", f"radius={self.number(parameters, 'METRIC', context)}"]
        if parameters.get("REPEAT") not in (None, ""):
            found += ["--repeat", "same", "--cell", self.number(parameters, "REPEAT", context)]
        if settings.ledger():
            found += ["--ledger", settings.ledger(), *self.options(parameters, context, data="DATA")]
        return found + hidden()

    def keeping(self, parameters, context):
        """Return which fields are kept."""
        names = self.fields_of(parameters, "KEEP", context)
        return [word for name in names or ["none"] for word in ("--keep", name)]

    def _lines(self, parameters, context, feedback, target, name, guarantee):
        """Join the reports of each trajectory, which uses the release only."""
        import processing

        path = self.parameterAsOutputLayer(parameters, "LINES", context)
        trajectory, time = (self.text(parameters, field, context) for field in ("TRAJECTORY", "TIME"))
        given = {"INPUT": target, "GROUP_EXPRESSION": f'"{trajectory}"', "OUTPUT": path}
        given |= {"ORDER_EXPRESSION": f'"{time}"'} if time else {}
        processing.run("native:pointstopath", given, context=context, feedback=feedback, is_child_algorithm=True)
        self.finish(context, path, name=name + tr(", lines"), style="perturbed", abstract=guarantee)
        return path


def hidden():
    """Return a seed for the plugin's own tests, which compare with the command line; it has no parameter."""
    import os

    seed = os.environ.get("GEOTRACS_QGIS_TEST_SEED")
    return ["--seed", seed] if seed else []
