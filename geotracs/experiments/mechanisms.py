"""Every mechanism that the paper uses or names, side by side: alone on the interval and the circle, and inside TraCS.

``docs/mechanisms.md`` shows these frames; `markdown` writes its tables.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import geotracs.core.methods as methods
import geotracs.core.randomness as randomness
from geotracs.core.mechanisms.named import BESIDE, NAMED, make
from geotracs.core.mechanisms.piecewise import WINDOWS
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.experiments.setups import UNIT_SQUARE, stream

EPSILONS = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
SECTORS = (6, 12)
NAMES = (*WINDOWS, *NAMED)
SECRETS = np.linspace(0, 1, 4097)
SIDE = 362
"""Secrets along each side of the square, for the mean."""
GRID = np.linspace(0, 1, 9)
DRAWS = (4096, 65536)
"""Draws for each secret of the grid when the worst is looked for, and for the worst."""

Report = Callable[[np.ndarray, randomness.Source], np.ndarray]
Factory = Callable[[str, str, float], Report]


def on_the_unit(epsilons: Sequence[float] = EPSILONS) -> pd.DataFrame:
    """Return the mean error over all secrets, and that of the worst secret, on the unit interval and the unit circle.

    Exact: computed from the mechanisms, without a draw. The worst is taken over 4,097 secrets. On the circle, k-RR over
    sectors stands beside them. Errors are parts of the length, or of a turn.

    Examples
    --------
    >>> frame = on_the_unit([4.0])
    >>> best = frame[frame["space"] == "circle"].sort_values("mean").iloc[0]
    >>> best["mechanism"], round(float(best["mean"]), 4)
    ('ogpm', 0.0596)
    """
    rows: list[dict[str, Any]] = []
    for space, periodic in (("interval", False), ("circle", True)):
        for name in NAMES:
            if name in NAMED and not periodic and not NAMED[name].on_interval:
                continue
            for eps in epsilons:
                mechanism = make(name, eps, periodic=periodic)
                worst = np.max(mechanism.expected_error(SECRETS))
                rows.append({"space": space, "mechanism": name, "epsilon": eps})
                rows[-1] |= {"mean": float(mechanism.expected_error()), "worst": float(worst)}
    for k in SECTORS:
        for eps in epsilons:
            mean, worst = _sectors(eps, k)
            rows.append({"space": "circle", "mechanism": f"k-rr, {k} sectors", "epsilon": eps})
            rows[-1] |= {"mean": mean, "worst": worst}
    return pd.DataFrame(rows)


def in_the_square(
    epsilons: Sequence[float] = EPSILONS,
    names: Sequence[str] = NAMES,
    *,
    factory: Factory | None = None,
) -> pd.DataFrame:
    """Return the mean error over the unit square and that of its worst location, with each mechanism inside a method.

    By drawing, from public streams: the mean over 131,044 locations on a grid, with its standard error ``se``; the
    worst of 81 locations, measured again with 65,536 draws. Those for directions only are left out of TraCS-C.

    Parameters
    ----------
    epsilons : sequence of float
    names : sequence of str
        Mechanisms, see `geotracs.core.mechanisms.named.make`.
    factory : callable, optional
        Of the names of a method and a mechanism, and epsilon: returns a function of locations and a source of
        randomness, which returns their reports. By default `wired`.
    """
    rows: list[dict[str, Any]] = []
    for method in ("tracs-c", "tracs-d"):
        for name in names:
            if method == "tracs-c" and name in BESIDE:
                continue
            for eps in epsilons:
                rng = stream("mechanisms", method, name, eps)
                report = (factory or wired)(method, name, eps)
                everywhere = _grid((np.arange(SIDE) + 0.5) / SIDE)
                errors = _errors(report, everywhere, rng)
                rows.append({"space": method, "mechanism": name, "epsilon": eps, "mean": errors.mean()})
                rows[-1] |= {"worst": _worst(report, rng), "se": errors.std() / SIDE}
    return pd.DataFrame(rows)


def wired(method: str, name: str, eps: float) -> Report:
    """Return TraCS-C or TraCS-D on the unit square, as `perturb` uses it, each location seen from the centre.

    Each is a trajectory of its own, and the start of all is the centre.
    """
    channel = methods.make(method, {"window": name}).on(UNIT_SQUARE)

    def report(xy: np.ndarray, rng: randomness.Source) -> np.ndarray:
        return channel.sample(np.array(xy, order="F"), np.arange(len(xy) + 1), eps, rng).xy

    return report


def remarks() -> pd.DataFrame:
    """Return citation, what the paper says, and what is missing, of each named mechanism.

    >>> remarks().index.tolist()[:2]
    ['pm', 'sw']
    """
    return pd.DataFrame(
        {name: {"citation": kind.citation, "paper": kind.paper, "caveat": kind.caveat} for name, kind in NAMED.items()}
    ).T


def markdown(frame: pd.DataFrame, space: str) -> str:
    """Return a table of one space: mechanisms in rows, epsilon in columns, mean and worst error in the cells.

    Examples
    --------
    >>> frame = on_the_unit([1.0, 4.0])
    >>> print(markdown(frame[frame["mechanism"] == "ogpm"], "interval"))
    | mechanism | 1 | 4 |
    |---|---|---|
    | ogpm | .244 / .378 | .072 / .119 |
    """
    here = frame[frame["space"] == space]
    epsilons = here["epsilon"].unique()
    lines = ["| mechanism | " + " | ".join(f"{eps:g}" for eps in epsilons) + " |", "|---" * (len(epsilons) + 1) + "|"]
    for name, group in here.groupby("mechanism", sort=False):
        pairs = zip(group["mean"], group["worst"], strict=True)
        cells = [f"{_short(mean)} / {_short(worst)}" for mean, worst in pairs]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _short(value: float) -> str:
    digits = 4 if value < 0.01 else 3
    return f"{value:.{digits}f}".removeprefix("0")


def _sectors(eps: float, k: int) -> tuple[float, float]:
    """Return the mean and the worst error: a secret is anywhere in its sector, and worst off at an end of it."""
    mechanism, width = Sectors(eps, k), 1 / k
    inside, outside = mechanism.density([0.0, 0.5], 0.0).tolist()
    everywhere = outside / 4
    return everywhere + (inside - outside) * width**2 / 3, everywhere + (inside - outside) * width**2 / 2


def _grid(steps: np.ndarray) -> np.ndarray:
    return np.array(np.meshgrid(steps, steps)).reshape(2, -1).T


def _errors(report: Report, xy: np.ndarray, rng: randomness.Source) -> np.ndarray:
    return np.hypot(*(report(xy, rng) - xy).T)


def _worst(report: Report, rng: randomness.Source) -> float:
    """Return the mean error of the worst location of a grid; fresh draws, or the largest of many would be too large."""
    few, many = DRAWS
    places = _grid(GRID)
    errors = _errors(report, np.repeat(places, few, axis=0), rng).reshape(-1, few).mean(axis=1)
    return float(_errors(report, np.repeat(places[[np.argmax(errors)]], many, axis=0), rng).mean())
