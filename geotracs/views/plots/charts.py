"""Charts of answers from a release: shares with their intervals, and distributions of lengths and speeds."""

from typing import TYPE_CHECKING, Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.views.shapes as shapes
from geotracs.core.guarantee import recorded
from geotracs.errors import InputError, quoted, sealed
from geotracs.views.colours import COLOURS
from geotracs.views.plots.canvas import FIGURES, plain, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@sealed
def intervals(
    estimate: gpd.GeoDataFrame,
    release: gpd.GeoDataFrame | None = None,
    *,
    truth: gpd.GeoDataFrame | None = None,
    by: str | None = None,
    most: int = 20,
    ax: "Axes | None" = None,
    legend: bool = True,
) -> "Axes":
    """Draw the largest shares of zones, places or flows with their intervals.

    Parameters
    ----------
    estimate : GeoDataFrame
        What `density`, `popularity` or `flows` returned.
    release, truth : GeoDataFrame, optional
        The release and the original tracks, to draw what a count in the zones would say (not for flows).
    by : str, optional
        Column with the names of the zones; by default the index.
    most : int
        How many to draw.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> estimate = city.boundary.assign(share=1.0, low=0.98, high=1.0)[["share", "low", "high", "geometry"]]
    >>> intervals(estimate).get_xlabel()
    'share (%)'
    """
    plt = pyplot()
    shapes.check(estimate, shapes.ESTIMATES, release, truth)
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
        raise InputError(f"`most` must be a whole number of at least 1, got {quoted(most)}.")
    moving = shapes.answer_of(estimate) == "flows"
    if moving and not (release is None and truth is None):
        raise InputError("Intervals of flows are drawn alone, without a release and without `truth`.")
    names = _names(estimate, by, moving)
    share = shapes.numbers(estimate, "share")
    order = np.argsort(-share, kind="stable")[:most]
    rows = np.arange(len(order))
    low, high = (shapes.numbers(estimate, name)[order] for name in ("low", "high"))
    ax = plt.subplots(figsize=(6.5, 1.2 + 0.27 * len(order)), layout="constrained")[1] if ax is None else ax
    ax.hlines(rows, 100 * low, 100 * high, color=COLOURS[0], linewidth=4, alpha=0.4, label=shapes.level_of(estimate))
    ax.plot(100 * share[order], rows, "o", color=COLOURS[0], markersize=5, label="estimated")
    for label, tracks, marker in (("reports", release, "x"), ("original", truth, "D")):
        if tracks is not None:
            counted = 100 * shapes.naive(estimate, tracks)[order]
            ax.plot(counted, rows, marker, color=COLOURS[1], markersize=5, fillstyle="none", label=label)
    ax.set_yticks(rows, [plain(names[row]) for row in order], fontsize="small")
    ax.set(xlabel="share (%)", ylim=(len(order) - 0.4, -0.6))
    ax.set_xlim(left=0)
    ax.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    every = f"{len(share):,} flows" if moving else shapes.counted(estimate)
    notes = [f"the {len(order):,} largest of {every}"] if len(order) < len(share) else []
    notes += [FIGURES] if truth is not None else []
    ax.set_title("\n".join(notes), fontsize="small")
    if legend:
        ax.legend(fontsize="small", loc="lower right")
    return ax


@sealed
def lengths(estimate: pd.DataFrame, *, ax: "Axes | None" = None, legend: bool = True) -> "Axes":
    """Draw the distribution of lengths or speeds with its intervals: the share of each bin per unit of its width.

    Parameters
    ----------
    estimate : DataFrame
        What `lengths` returned.

    Examples
    --------
    >>> estimate = pd.DataFrame(
    ...     {"start": [0, 500], "end": [500, 2000], "share": [0.6, 0.4], "low": [0.5, 0.3], "high": [0.7, 0.5]}
    ... )
    >>> lengths(estimate).get_ylabel()
    'share of the pairs per km'
    """
    plt = pyplot()
    missing = sorted({"start", "end", *shapes.ESTIMATES} - set(getattr(estimate, "columns", ())))
    if missing:
        raise InputError(f"`estimate` must be what `lengths` returned; it lacks the columns {missing}.")
    answer = recorded(cast("dict[str, Any]", estimate.attrs)).get("answer") or {}
    speeds = answer.get("of") == "speed"
    scale = 1.0 if speeds else 1000.0
    start, end, share, low, high = (
        estimate[name].to_numpy(dtype=np.float64) for name in ("start", "end", "share", "low", "high")
    )
    start, end = start / scale, end / scale
    ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")[1] if ax is None else ax
    width = np.where(end > start, end - start, np.nan)
    ax.bar(start, share / width, width, align="edge", color=COLOURS[0], alpha=0.5, edgecolor="white", label="estimated")
    middle = (start + end) / 2
    label = f"{answer['level']:.0%} interval" if isinstance(answer.get("level"), float) else "interval"
    ax.vlines(middle, low / width, high / width, color=COLOURS[0], linewidth=2.5, label=label)
    for name, dashes in (("median", "--"), ("mean", ":")):
        known = estimate.attrs.get(name)
        if known is not None:
            ax.axvline(known["value"] / scale, color=COLOURS[1], linestyle=dashes, label=name)
    ax.set(xlabel="m/s" if speeds else "km", ylabel=f"share of the pairs per {'m/s' if speeds else 'km'}")
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    if legend:
        ax.legend(fontsize="small")
    return ax


def _names(estimate: gpd.GeoDataFrame, by: str | None, moving: bool) -> list[str]:
    if by is not None:
        if by not in estimate.columns:
            raise InputError(f"There is no column {by!r}; `by` names the column with the names of the zones.")
        return [str(value) for value in estimate[by]]
    if moving:
        pairs = zip(estimate["origin"], estimate["destination"], strict=True)
        return [f"{start} → {end}" for start, end in pairs]
    return [str(value) for value in estimate.index]
