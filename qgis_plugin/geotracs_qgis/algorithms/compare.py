"""Compare: what a release cost, from the originals."""

import html

from qgis.core import (
    QgsProcessing,
    QgsProcessingOutputHtml,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterString,
)

from .. import parameters as take
from ..base import Algorithm
from ..words import tr

METRICS = [
    "ae", "median", "p95", "max", "rqp", "hausdorff", "frechet", "hotspots", "range_query", "grid",
    "origin_destination", "trip_length",
]  # fmt: skip
PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font-family: sans-serif; margin: 2em; }} td, th {{ padding: .3em .8em; text-align: right; }}
th {{ border-bottom: 1px solid #27496d; }} .note {{ background: #d1495b; color: white; padding: .5em .8em; }}
</style></head><body><p class="note">{note}</p><h1>{title}</h1><p>{release}</p>
<table><tr>{head}</tr>{rows}</table></body></html>
"""


class Compare(Algorithm):
    """Say how far the locations of a release are from the originals."""

    NAME, TITLE, GROUP = "compare", "Compare", "Cost and risk, confidential"
    TAGS = ("utility", "displacement", "error")
    RELEASES = ("PERTURBED",)
    HELP = """
    Says how far the locations of a release are from those of the tracks, in metres, or what else was lost: the mean
    (<i>ae</i>), the median, the 95% quantile and the largest displacement, and the share of reports within a distance
    (<i>rqp</i>); and the usual measures of trajectories.

    <b>Keep the result confidential.</b> The numbers are computed from the original locations: the guarantee does not
    cover them.
    """

    def initAlgorithm(self, config=None):  # noqa: N802
        """Declare parameters and outputs."""
        self.add(take.source("INPUT", "Tracks (private)", [take.POINTS, take.LINES]))
        self.add(take.source("PERTURBED", take.RELEASE, [take.POINTS, take.LINES]))
        self.add(take.field("BY", "A row for each", "INPUT"), "Such as a person; one row for all if not given.")
        self.add(take.enum("METRICS", "Measures", METRICS, METRICS[:5], several=True, optional=True))
        self.add(
            QgsProcessingParameterString(
                "WITHIN", tr("Distances of rqp, in metres"), "100 500 1000 5000", optional=True
            )
        )
        self.add(take.source("PLACES", "Public places of hotspots", [take.ANY], optional=True), "", True)
        self.add(QgsProcessingParameterFeatureSink("OUTPUT", tr("Cost, confidential"), QgsProcessing.TypeVector))
        page = QgsProcessingParameterFileDestination(
            "HTML", tr("Page, confidential"), "HTML (*.html)", None, True, False
        )
        self.add(page)
        self.addOutput(QgsProcessingOutputHtml("HTML", tr("Page, confidential")))

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        try:
            [float(part) for part in self.text(parameters, "WITHIN", context).split()]
        except ValueError:
            return tr("Distances of rqp must be numbers with spaces between.")
        return None

    def processAlgorithm(self, parameters, context, feedback):  # noqa: N802
        """Ask geotracs."""

        def arguments(folder):
            paths = [self.given[name].file(folder, feedback) for name in ("INPUT", "PERTURBED")]
            found = ["compare", *paths, *self.options(parameters, context, by="BY")]
            for name in self.parameterAsEnumStrings(parameters, "METRICS", context):
                found += ["--metric", name]
            for distance in self.text(parameters, "WITHIN", context).split():
                found += ["--within", distance]
            return found + self.files(folder, feedback, places="PLACES")

        said = self.ask(feedback, arguments)
        feedback.pushWarning(tr(said["note"]))
        results = {"OUTPUT": self.table(parameters, "OUTPUT", context, said["rows"])}
        self.finish(context, results["OUTPUT"], name=tr("Cost, confidential"), abstract=tr(said["note"]))
        path = self.parameterAsFileOutput(parameters, "HTML", context)
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page(said))
            results["HTML"] = path
        return results


def page(said):
    """Return the table as a page that says that it is confidential."""
    rows = said["rows"]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in (rows[0] if rows else {}))
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
    texts = {"title": tr("What a release cost"), "note": tr(said["note"]), "release": said["release"]}
    return PAGE.format(head=head, rows=body, **{name: html.escape(text) for name, text in texts.items()})


def _cell(value):
    return f"{value:,.3f}" if isinstance(value, float) else html.escape(str(value))
