"""Estimate density: heat maps from a release."""

from .. import parameters as take
from ..words import tr
from .answer import COSTS, Answer


class Density(Answer):
    """Estimate which share of locations each cell, zone or place holds."""

    NAME, TITLE, COMMAND = "density", "Estimate density", "density"
    TAGS = ("heat map", "hotspots", "estimate")
    PICTURE = "density.png"
    STYLE, LAYER = "density", "Density"
    HELP = f"""
    Estimates which share of locations each cell, zone or place holds, with intervals (<i>low</i>, <i>high</i>): a
    report may be kilometres from the truth, but its reader knows how the noise was made, and can invert it.

    {COSTS} Where the reports cannot answer, the log says so, and which cells they can carry.
    """

    def ask_for(self):
        """Declare cells, zones and places."""
        self.add(take.number("COLUMNS", "Columns of cells", 20, whole=True, least=1, optional=True))
        self.add(take.number("ROWS", "Rows of cells", 20, whole=True, least=1, optional=True))
        self.add(take.source("ZONES", "or zones", [take.AREAS], optional=True), "Areas that do not overlap.")
        self.add(take.source("PLACES", "or places", [take.POINTS], optional=True), "A location counts as the nearest.")
        take.add_prior(self)
        self.add(take.number("ROBUST", "Share of reports that may be made up", 0.0, least=0, most=0.5), "", True)

    def problem(self, parameters, context):
        """Return what is wrong, or None."""
        if all(parameters.get(name) not in (None, "") for name in ("ZONES", "PLACES")):
            return tr("Give zones or places, not both.")
        return super().problem(parameters, context)

    def arguments(self, parameters, context, folder, feedback):
        """Return the options of the command."""
        found = self.files(folder, feedback, zones="ZONES", places="PLACES")
        if not found:
            found = ["--cells", *(str(self.parameterAsInt(parameters, name, context)) for name in ("COLUMNS", "ROWS"))]
        found += self.files(folder, feedback, prior="PRIOR")
        return found + self.options(parameters, context, weight="WEIGHT", robust="ROBUST")
