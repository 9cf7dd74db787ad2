"""What epsilon costs: curves from a sweep, and distributions of the displacement."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
from scipy import stats

from geotracs.core.notions import PURE
from geotracs.errors import InputError, sealed
from geotracs.utility.compare import displacement as displacements
from geotracs.views.colours import COLOURS
from geotracs.views.plots.canvas import describe, plain, pyplot, record_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS, DASHES = ["o", "s", "^", "D", "v", "P", "X"], ["-", "--", "-.", ":"]


@sealed
def error_curve(
    sweep: pd.DataFrame, *, y: str = "ae", ax: "Axes | None" = None, log: bool | None = None, legend: bool = True
) -> "Axes":
    """Draw what epsilon costs: a line for each method, the mean over the repeats and its 95% interval (Student's t).

    Parameters
    ----------
    sweep : DataFrame
        From `geotracs.sweep`. It was computed from original locations, and so is the drawing.
    y : str
        Which number: ``ae``, ``median``, ``p95``, ``max`` or ``rqp_*``.
    log : bool, optional
        Logarithmic scale; by default for metres that differ more than tenfold.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> table = city.tracks.tracs.sweep([2, 8], repeats=3, domain=city.boundary)
    >>> error_curve(table).get_ylabel()
    'mean displacement (m)'
    """
    plt = pyplot()
    from matplotlib.ticker import LogLocator

    missing = [name for name in ("method", "epsilon", y) if name not in sweep.columns]
    if missing:
        numbers = [name for name in sweep.columns if name not in ("method", "epsilon", "repeat", "privacy")]
        raise InputError(
            f"`sweep` has no column {missing[0]!r}; use what geotracs.sweep returns, and one of {numbers}."
        )
    ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")[1] if ax is None else ax
    table = sweep.groupby(["method", "epsilon"], sort=False)[y].agg(["mean", "sem", "count"]).reset_index()
    table["half"] = table["sem"] * stats.t.ppf(0.975, np.maximum(table["count"] - 1, 1))
    weaker = _weaker(sweep)
    for number, (label, rows) in enumerate(table.groupby("method", sort=False)):
        rows = rows.sort_values("epsilon")
        ax.errorbar(
            rows["epsilon"],
            rows["mean"],
            yerr=rows["half"].fillna(0),
            label=plain(f"{label}{weaker.get(label, '')}"),
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=DASHES[number % len(DASHES)],
            markersize=5,
            capsize=3,
        )
    if log is None:
        log = not y.startswith("rqp_") and table["mean"].max() > 10 * table["mean"].min() > 0
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=[1, 2, 5]))
        ax.yaxis.set_minor_formatter("")
    else:
        ax.set_ylim(bottom=0)
    if not y.startswith("rqp_"):
        ax.yaxis.set_major_formatter("{x:,.10g}")
    ticks = sorted(table["epsilon"].unique())
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set(xlabel="epsilon", ylabel=_axis_label(y))
    ax.grid(visible=True, which="both" if log else "major", color="#dddddd", linewidth=0.6)
    if legend and len(table):
        few, many = table["count"].min(), table["count"].max()
        count = f"{few}" if few == many else f"{few} to {many}"
        ax.legend(
            title=f"mean of {count} releases, 95% t-interval" if many > 1 else "one release each",
            title_fontsize="small",
        )
    return ax


def _weaker(sweep: pd.DataFrame) -> dict[Any, str]:
    """Return what is said in the legend of methods that are not eps-LDP: their epsilon means something else."""
    if "privacy" not in sweep.columns:
        return {}
    kinds = sweep.drop_duplicates("method").set_index("method")["privacy"]
    return {label: f" ({kind})" for label, kind in kinds.items() if kind != PURE}


@sealed
def displacement(
    original: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | Mapping[str, gpd.GeoDataFrame],
    *,
    ax: "Axes | None" = None,
    legend: bool = True,
) -> "Axes":
    """Draw which share of the reports is how near: the cumulative distribution of the displacement in metres.

    Parameters
    ----------
    original : GeoDataFrame
    perturbed : GeoDataFrame, or dict of label and GeoDataFrame
        One release or several of them. The median and the 95% quantile are marked.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = {eps: city.tracks.tracs.perturb(eps, domain=city.boundary, keep=[]) for eps in (2, 8)}
    >>> displacement(city.tracks, private).get_xlabel()
    'displacement (m)'
    """
    plt = pyplot()
    several = isinstance(perturbed, Mapping)
    ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")[1] if ax is None else ax
    for number, (label, frame) in enumerate((perturbed if several else {"": perturbed}).items()):
        metres = displacements(original, frame).to_numpy()
        label = plain(label) if several else describe(record_of(frame), original, None) or "displacement"
        if len(metres) == 0:
            continue
        marks = np.quantile(metres, [0.5, 0.95])
        label += f"\nmedian {marks[0]:,.0f} m, 95% within {marks[1]:,.0f} m"
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
        ax.ecdf(metres, **style)
        ax.plot(marks, [0.5, 0.95], MARKERS[number % len(MARKERS)], color=style["color"])
        ax.plot([], [], marker=MARKERS[number % len(MARKERS)], label=label, **style)
    for share in (0.5, 0.95):
        ax.axhline(share, color="#bbbbbb", linewidth=0.7, zorder=0)
    ax.set(xlabel="displacement (m)", ylabel="share of the reports", ylim=(0, 1.01))
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter("{x:,.10g}")
    ax.set_yticks([0, 0.25, 0.5, 0.75, 0.95])
    if legend and ax.get_legend_handles_labels()[1]:
        ax.legend(fontsize="small", loc="lower right")
    return ax


def _axis_label(y: str) -> str:
    if y.startswith("rqp_"):
        return f"share of the reports within {float(y.removeprefix('rqp_')):,g} m"
    names = {"ae": "mean displacement", "p95": "95% quantile of the displacement"}
    return f"{names.get(y, f'{y} displacement')} (m)"
