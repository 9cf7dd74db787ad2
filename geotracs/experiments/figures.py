"""One plot for each experiment: ours as full lines, the published figures as dashes of the same colour."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from geotracs.errors import InputError
from geotracs.experiments.exact import circular_samples
from geotracs.experiments.not_ldp import LABEL

COLOURS = {
    "tracs-c": "#0072b2",
    "tracs-d": "#d55e00",
    "tracs-d r-sw": "#cc79a7",
    "strawman k=6": "#009e73",
    "strawman k=3": "#56b4e9",
    "strawman k=12": "#e69f00",
    "planar-laplace": "#000000",
    "ngram": "#009e73",
    "l-srr": "#cc79a7",
    "atp": "#e69f00",
    "exponential 10x10": "#009e73",
    "exponential 100x100": "#e69f00",
}
CALIBRATED = " calibrated"
"""At the end of the name of a method that uses all of epsilon; it has the colour of its textbook form."""
"""The palette of Okabe and Ito, told apart by the colour-blind; a method has its colour in every plot."""
AXES = {
    "continuous-experiment_2": "error of the direction (radians)",
    "discrete-appendix_range_query_chi": "share within 0.1 degrees",
    "discrete-appendix_hotpot_chi": "change of visits to hotspots",
    "discrete-appendix_hotpot_chi_formula": "visits to hotspots that were lost",
}


def plot(frame: pd.DataFrame, ax: Any = None) -> Any:
    """Plot an experiment's frame, and return the axes.

    Parameters
    ----------
    frame : DataFrame
        As one of the experiments returned it.
    ax : matplotlib axes, optional
        Where to draw.
    """
    ax = ax or _axes()
    special = {
        "epsilon-split": _split,
        "sectors": _sectors,
        "growth": _growth,
        "time-table": _times,
        "circular-area": _disc,
        "exponential-arrangement": _arrangement,
        "location-spaces": _spaces,
    }
    experiment = frame["experiment"].iloc[0]
    special.get(experiment, _lines)(frame, ax)
    ax.grid(alpha=0.3)
    return ax


def save(frame: pd.DataFrame, path: str | Path) -> None:
    """Write an experiment's plot to a PNG file."""
    axes = plot(frame)
    axes.figure.savefig(path, dpi=110)


def _axes() -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError('Plots need matplotlib: pip install "geotracs[plot]".') from error
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def _lines(frame: pd.DataFrame, ax: Any) -> None:
    for method, part in _methods(frame):
        colour = COLOURS.get(method)
        if method == LABEL:
            ax.plot(part["epsilon"], part["ours"], color=COLOURS["ngram"], ls=":", label=method)
            continue
        style = {"color": colour, "marker": "o", "ms": 4, "ls": "-"}
        if method.endswith(CALIBRATED):
            style |= {"color": COLOURS.get(method.removesuffix(CALIBRATED)), "marker": "^", "ls": "-."}
        ax.errorbar(part["epsilon"], part["ours"], part["se"], label=method, **style)
        if part["published"].notna().any():
            ax.plot(part["epsilon"], part["published"], color=colour, ls="--", marker="x", lw=1)
    if frame["published"].notna().any():
        ax.plot([], [], color="grey", ls="--", marker="x", lw=1, label="published")
    experiment = frame["experiment"].iloc[0]
    degrees = frame["space"].iloc[0] in ("tky", "chi")
    ax.set_xlabel("epsilon of a trajectory" if "trajectory" in experiment else "epsilon")
    ax.set_ylabel(AXES.get(experiment, f"mean error{' (degrees)' if degrees else ''}"))
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small", ncols=1 + (frame["method"].nunique() > 4))


def _methods(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    return ((str(method), part) for method, part in frame.groupby("method", sort=False))


def _split(frame: pd.DataFrame, ax: Any) -> None:
    for epsilon, part in frame.groupby("epsilon"):
        ax.errorbar(part["share"], part["ours"], part["se"], marker="o", ms=3, label=f"epsilon {epsilon:g}")
    ax.axvline(math.pi / (math.pi + 1), color="grey", ls=":", label="pi / (pi + 1)")
    ax.set_xlabel("share of epsilon for the direction")
    ax.set_ylabel("mean error of tracs-d")
    ax.legend(fontsize="small")


def _sectors(frame: pd.DataFrame, ax: Any) -> None:
    for method, part in _methods(frame):
        ax.plot(part["epsilon"], part["size"], color=COLOURS.get(method), label=f"{method}, size")
        ax.plot(part["epsilon"], part["probability"], color=COLOURS.get(method), ls=":", label=f"{method}, probability")
    ax.set_xlabel("epsilon of the direction")
    ax.set_ylabel("dominant sector: part of the circle, probability")
    ax.legend(fontsize="small")


def _growth(frame: pd.DataFrame, ax: Any) -> None:
    for method, part in _methods(frame):
        ax.loglog(part["places"], part["ours"], color=COLOURS.get(method), marker="o", label=method)
    ax.set_xlabel("places")
    ax.set_ylabel("milliseconds per location")
    ax.legend(fontsize="small")


def _times(frame: pd.DataFrame, ax: Any) -> None:
    rows = range(len(frame))
    ax.barh([row - 0.2 for row in rows], frame["ours"], 0.4, color="#0072b2", label="ours")
    ax.barh([row + 0.2 for row in rows], frame["published"], 0.4, color="#bbbbbb", label="published")
    ax.set_yticks(rows, frame["method"])
    ax.set_xscale("log")
    ax.set_xlabel("milliseconds per location")
    ax.legend(fontsize="small")


def _disc(frame: pd.DataFrame, ax: Any) -> None:
    from matplotlib.patches import Circle

    ax.add_patch(Circle((0, 0), 1, fill=False))
    ax.scatter(*circular_samples().T, s=10, color=COLOURS["tracs-d"], label="50 reports, epsilon 5")
    ax.plot(-0.5, 0, "k+", ms=10, label="location")
    ax.set_aspect("equal")
    ax.legend(fontsize="small")


def _arrangement(frame: pd.DataFrame, ax: Any) -> None:
    for number, (method, part) in enumerate(frame.groupby("method", sort=False)):
        at = [row + 0.4 * number - 0.2 for row in range(len(part))]
        ax.bar(at, part["own_place"], 0.4, color=("#009e73", "#e69f00")[number], label=method)
    ax.set_xticks(range(len(part)), part["space"])
    ax.legend(fontsize="small")
    ax.set_xlabel("places in the square")
    ax.set_ylabel("probability of the true place")


def _spaces(frame: pd.DataFrame, ax: Any) -> None:
    """Draw both spaces as unit squares side by side, as the methods see them."""
    for number, (space, part) in enumerate(frame.groupby("space", sort=False)):
        x, y = ((part[name] - part[name].min()) / (part[name].max() - part[name].min()) for name in ("lon", "lat"))
        ax.scatter(x + 1.1 * number, y, s=1, color=list(COLOURS.values())[number])
        ax.text(1.1 * number, 1.02, f"{space}: {len(part):,} places")
    ax.set_aspect("equal")
    ax.set_axis_off()
