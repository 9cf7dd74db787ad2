"""Estimate flows: who went from where to where, from a release."""

from qgis.core import QgsProcessingParameterString

from .. import parameters as take
from ..words import tr
from .answer import COSTS, Answer


class Flows(Answer):
    """Estimate how many went from each zone to each."""

    NAME, TITLE, COMMAND = "flows", "Estimate flows", "flows"
    TAGS = ("origin destination", "od matrix", "estimate")
    PICTURE = "flows.png"
    STYLE, LAYER = "flows", "Flows"
    HELP = f"""
    Estimates how many went from each zone to each, with intervals (<i>low</i>, <i>high</i>). A line for each origin and
    destination; it is as wide as it has trips. The release needs trajectories.

    {COSTS}
    """

    def ask_for(self):
        """Declare zones, and which reports are pairs."""
        self.add(take.source("ZONES", "Zones", [take.AREAS]), "Areas that do not overlap.")
        self.add(take.field("NAME", "Names of the zones", "ZONES"))
        self.add(
            take.enum("PAIRS", "From where to where", ["ends", "consecutive"], "ends"),
            "The first and the last report of each trajectory, or each report and the next.",
        )
        self.add(
            QgsProcessingParameterString("WHEN", tr("For each time window"), optional=True),
            "A duration such as 1h, hour of the day (hour), or weekday; all together if empty.",
            True,
        )
        take.add_prior(self)

    def arguments(self, parameters, context, folder, feedback):
        """Return the options of the command."""
        texts = {"name": "NAME", "pairs": "PAIRS", "when": "WHEN", "weight": "WEIGHT"}
        return self.files(folder, feedback, zones="ZONES", prior="PRIOR") + self.options(parameters, context, **texts)
