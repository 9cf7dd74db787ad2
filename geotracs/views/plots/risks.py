"""What attacks on a release find: beside their baselines, and against epsilon and the pace of reports."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from geotracs.errors import InputError, sealed
from geotracs.views.colours import COLOURS
from geotracs.views.plots.canvas import plain, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES = ("along", "epsilon", "per_hour", "report", "attacker", "low", "high", "baseline")


@sealed
def attacks(table: pd.DataFrame, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the errors that attacks leave, with their intervals, beside those of a guess without the release.

    Parameters
    ----------
    table : DataFrame
        The ``table`` of a `Risk`; attacks whose figures are metres are drawn.

    Examples
    --------
    >>> row = {"measure": "metres", "value": 1900, "low": 1800, "high": 2000, "baseline": 9000}
    >>> table = pd.DataFrame([row])
    >>> attacks(table.set_axis(["report"])).get_xlabel()
    'error (m)'
    """
    plt = pyplot()
    _check(table, ("measure", "value", "low", "high", "baseline"), "the table of a Risk")
    rows = table[table["measure"] == "metres"]
    names = rows["words"] if "words" in rows.columns else rows.index
    ax = plt.subplots(figsize=(8.2, 1.4 + 0.42 * len(rows)), layout="constrained")[1] if ax is None else ax
    at = np.arange(len(rows))
    ax.plot(
        rows["baseline"], at, "|", color="#777777", markersize=16, markeredgewidth=2, label="guess without the release"
    )
    ax.hlines(at, rows["low"], rows["high"], color=COLOURS[1], linewidth=5, alpha=0.4, label="90% interval")
    ax.plot(rows["value"], at, "o", color=COLOURS[1], markersize=6, label="found")
    ax.set_yticks(at, [plain(name) for name in names], fontsize="small")
    ax.set(xscale="log", xlabel="error (m)", ylim=(len(rows) - 0.5, -0.5))
    _metres(ax.xaxis)
    ax.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    notes = [str(table.attrs.get("release", "")), str(table.attrs.get("note", ""))]
    ax.set_title("\n".join(plain(note) for note in notes if note), fontsize="small")
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.4, -0.18), ncols=3, frameon=False)
    return ax


@sealed
def risk(curves: pd.DataFrame, *, axes: Any = None) -> "np.ndarray":
    """Draw the error of a report and that of an attacker, against epsilon and against the reports of an hour.

    Parameters
    ----------
    curves : DataFrame
        What `geotracs.risk_curves` returned.
    axes : two Axes, optional
        By default a new figure.

    Returns
    -------
    array of two Axes

    Examples
    --------
    >>> rows = {"along": ["epsilon", "pace"], "epsilon": [4, 8], "per_hour": [60, 60], "report": [5000, 1500]}
    >>> rows |= {"attacker": [900, 400], "low": [800, 300], "high": [999, 500], "baseline": [9000, 9000]}
    >>> [ax.get_xlabel() for ax in risk(pd.DataFrame(rows))]
    ['epsilon', 'reports per hour']
    """
    plt = pyplot()
    _check(curves, CURVES, "what geotracs.risk_curves returned")
    if axes is None:
        axes = plt.subplots(1, 2, figsize=(10.4, 4.4), sharey=True, layout="constrained")[1]
    for ax, along, x in zip(np.ravel(axes), ("epsilon", "pace"), ("epsilon", "per_hour"), strict=True):
        rows = curves[curves["along"] == along].sort_values(x)
        _curve(ax, rows, x)
        same = {"epsilon": "per_hour", "per_hour": "epsilon"}[x]
        if len(rows):
            value = rows[same].iloc[0]
            ax.set_title(
                f"{value:,.4g} reports per hour" if same == "per_hour" else f"epsilon {value:g} per location",
                fontsize="medium",
            )
        ax.set_xlabel("epsilon" if x == "epsilon" else "reports per hour")
    first = np.ravel(axes)[0]
    first.set_ylabel("mean error (m)")
    first.legend(fontsize="small", loc="lower left")
    return np.asarray(axes)


def _curve(ax: "Axes", rows: pd.DataFrame, x: str) -> None:
    at = rows[x].to_numpy(dtype=float)
    ax.plot(at, rows["baseline"], ":", color="#777777", label="guess without the release")
    ax.plot(at, rows["report"], "s--", color=COLOURS[0], markersize=5, label="a report")
    ax.fill_between(
        at, rows["low"].to_numpy(dtype=float), rows["high"].to_numpy(dtype=float), color=COLOURS[1], alpha=0.2, lw=0
    )
    ax.plot(at, rows["attacker"], "o-", color=COLOURS[1], markersize=5, label="an attacker who follows a person")
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(at, [f"{value:,.3g}" if value < 1000 else f"{value:,.0f}" for value in at])
    ax.set_xticks([], minor=True)
    _metres(ax.yaxis)
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)


def _metres(axis: Any) -> None:
    from matplotlib.ticker import LogLocator

    axis.set_major_locator(LogLocator(subs=[1, 2, 5]))
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_formatter("")


def _check(table: Any, columns: tuple[str, ...], what: str) -> None:
    missing = [name for name in columns if name not in getattr(table, "columns", ())]
    if missing:
        raise InputError(f"This must be {what}; it lacks the column {missing[0]!r}.")
