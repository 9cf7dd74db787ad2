"""Reconstruct tracks: where everybody was, from a release and a speed."""

from qgis.core import QgsProcessingParameterString

from .. import parameters as take
from ..words import tr
from .answer import COSTS, Answer


class Reconstruct(Answer):
    """Estimate where everybody was, and to within how many metres."""

    NAME, TITLE, COMMAND = "reconstruct", "Reconstruct tracks", "reconstruct"
    TAGS = ("tracking", "smoothing", "attack", "estimate")
    STYLE, LAYER = "reconstructed", "Reconstructed tracks"
    HELP = f"""
    Estimates where everybody was, by all reports of a trajectory and a public model of motion, and the radius in which
    they were. {COSTS} It shows what the release tells about a person who is followed.
    """

    def ask_for(self):
        """Declare the model of motion."""
        self.add(take.number("SPEED", "Largest speed, in metres per second", 15.0, least=0), "2 on foot, 15 by car.")
        self.add(take.number("STAY", "How likely nobody has moved in a step", 0.3, least=0, most=1), "", True)
        self.add(take.enum("MOTION", "Motion", ["auto", "box", "modes"], "auto"), "", True)
        self.add(
            take.number("INTERVAL", "Seconds between reports, of a release without times", optional=True), "", True
        )
        self.add(
            QgsProcessingParameterString("AT", tr("Fill in rows at"), optional=True),
            "A step such as 5min, or times with commas between.",
            True,
        )
        self.add(
            take.source("PLACES", "Public places or roads that people do not leave", [take.ANY], optional=True),
            "",
            True,
        )
        take.add_prior(self)
        self.add(take.number("CELLS", "Cells along the longer side", 64, whole=True, least=8, most=256), "", True)

    def arguments(self, parameters, context, folder, feedback):
        """Return the options of the command."""
        texts = {"speed": "SPEED", "stay": "STAY", "motion": "MOTION", "interval": "INTERVAL", "at": "AT"}
        texts |= {"weight": "WEIGHT", "cells": "CELLS"}
        return self.files(folder, feedback, places="PLACES", prior="PRIOR") + self.options(parameters, context, **texts)
