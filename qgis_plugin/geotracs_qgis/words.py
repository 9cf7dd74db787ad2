"""Words: what users read, translated, and what stands for the options of the command line."""

import re

from qgis.PyQt.QtCore import QCoreApplication

LABELS = {
    "domain": "Public region",
    "eps": "Epsilon",
    "method": "Method",
    "unit": "Epsilon is for",
    "round-to": "Public places",
    "places": "Public places",
    "prior": "Where locations are likely",
    "weight": "Column of the prior with numbers",
    "trajectory": "Trajectory field",
    "time": "Time field",
    "person": "Person field",
    "outside": "Locations outside the region",
    "keep": "Fields to keep",
    "join": "Fields of the places to carry over",
    "fit": "How a polygon becomes a square",
    "data": "Name of the data in the ledger",
    "overwrite": "Replace an output that exists",
    "speed": "Largest speed",
    "zones": "Zones",
    "cells": "Columns and rows",
    "by": "A row for each",
    "interval": "Seconds between reports",
    "input-crs": "the CRS of the layer",
    "layer": "the layer",
    "ledger": "the ledger",
}
"""How the dialogs name the options of the command line."""
OPTION = re.compile(r"`?--([a-z]+(?:-[a-z]+)*)`?")


def tr(text):
    """Return a text in the language of QGIS."""
    return QCoreApplication.translate("geotracs", text)


def in_labels(text):
    """Return a message of the command line as the dialogs say it: with labels instead of options."""
    return OPTION.sub(lambda found: f"“{tr(LABELS[found[1]])}”" if found[1] in LABELS else found[0], text)
