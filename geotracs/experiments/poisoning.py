"""What malicious reports do to a density, and whether what ``robust`` says about it holds.

``python -m geotracs.experiments.poisoning`` prints the table of `attacked` for made-up cities.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import geotracs.answers.asked as asked_
import geotracs.answers.robust as robust
from geotracs.answers.density import Fit
from geotracs.answers.estimate import estimate
from geotracs.answers.intervals import influence
from geotracs.answers.operators import Observed
from geotracs.answers.reader import Reader
from geotracs.core.places import Grid
from geotracs.core.randomness import made_up
from geotracs.errors import GeotracsWarning
from geotracs.experiments.answers import KINDS, City, made_up_city, released
from geotracs.experiments.report import markdown

SOME, MANY = 20, 400
"""Over how many of the bins with the largest influence reports are scattered."""


@dataclass(frozen=True, eq=False, repr=False)
class Honest:
    """A release of honest reports, and the shares of cells that are estimated from it."""

    fit: Fit
    zones: csr_array
    truth: np.ndarray

    @classmethod
    def of(cls, city: City, eps: float, reports: int, cells: int, draw: int) -> "Honest":
        """Release some locations of a city, and estimate the shares of cells x cells."""
        truth, private = released(city, eps, reports, cells, draw)
        reader = Reader.of(private)
        asked = asked_.of(reader, Grid(nx=cells, ny=cells), None, None)
        fit = Fit.of(reader, asked.width, asked.shape)
        return cls(fit, asked.shares(fit.states), truth)

    def attacks(self, zone: int, count: int, draw: int) -> Iterator[tuple[str, np.ndarray]]:
        """Yield counts of bins, with those of malicious reports that want to raise the share of a zone, or lower it."""
        [seen], states, rng = self.fit.observed, self.fit.states, made_up(draw)
        inside = np.flatnonzero(self.zones[[zone]].toarray()[0] > 0)
        own = csr_array(self.zones[[zone]])
        gain = influence(self.fit.observed, self.fit.estimate.p, states.prior, own, states.xy, self.fit.blur)
        order = np.argsort(-gain)
        one = np.eye(1, states.count, int(inside[len(inside) // 2])).ravel()
        chances = {
            "one bin": one,
            "over the zone": np.bincount(inside, minlength=states.count),
            "like people there": seen.operator.predict(one),
            "best bin": np.bincount(order[:1], minlength=len(order)),
            "best bins": np.bincount(order[:SOME], minlength=len(order)),
            "scattered": np.bincount(order[:MANY], minlength=len(order)),
            "worst bin": np.bincount(order[-1:], minlength=len(order)),
        }
        for name, chance in chances.items():
            yield name, seen.counts + rng.multinomial(count, chance / chance.sum())

    def attacked(self, counts: np.ndarray) -> Fit:
        """Return the same with other counts, estimated anew."""
        seen = [Observed(self.fit.observed[0].operator, counts)]
        return Fit(self.fit.reader, self.fit.states, seen, estimate(seen, self.fit.states.prior))


def attacked(
    city: City,
    epsilons: Sequence[float] = (1.0, 4.0, 8.0),
    *,
    reports: int = 10_000,
    cells: int = 4,
    share: float = 0.01,
    draws: int = 2,
    targets: int = 3,
) -> pd.DataFrame:
    """Attack `density` of a grid, in its largest, its smallest and its middle cell, and see what ``robust`` says.

    Returns
    -------
    DataFrame
        A row for each epsilon and attack: ``moved`` is by how much any share was moved, at most, ``beyond`` the most by
        which that exceeds the worst for the step (see `geotracs.answers.intervals`), for which the interval has room
        besides, ``held`` the part of intervals that hold the estimate without the attack, ``covered`` the part that
        hold the truth, and ``flagged`` how often the attack was noticed.
    """
    rows, count = [], round(share * reports)
    for eps in epsilons:
        for draw in range(draws):
            honest = Honest.of(city, eps, reports - count, cells, draw)
            before, order = honest.zones @ honest.fit.estimate.p, np.argsort(honest.truth)
            for zone in (order[-1], order[0], order[len(order) // 2])[:targets]:
                for name, counts in honest.attacks(int(zone), count, draw):
                    rows.append([city.name, eps, name, *_outcome(honest, honest.attacked(counts), before, share)])
    found = pd.DataFrame(rows, columns=["city", "epsilon", "attack", "moved", "beyond", "held", "covered", "flagged"])
    how = {"moved": "max", "beyond": "max", "held": "mean", "covered": "mean", "flagged": "mean"}
    return found.groupby(["city", "epsilon", "attack"], as_index=False, sort=False).agg(how)


def _outcome(honest: Honest, fit: Fit, before: np.ndarray, share: float) -> list[float]:
    found = fit.spread(honest.zones, share)
    low, high = fit.bounds(found, honest.zones, 0.9)
    moved = found.share - before
    beyond = np.maximum(moved - found.raised, -moved - found.lowered).max()
    held = np.mean((low <= before) & (before <= high))
    covered = np.mean((low <= honest.truth) & (honest.truth <= high))
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        flags = robust.flags(fit.reader, fit.states, fit.observed, honest.zones)
    return [float(np.abs(moved).max()), float(beyond), float(held), float(covered), float(np.any(flags))]


if __name__ == "__main__":
    for kind in KINDS:
        sys.stdout.write(f"{markdown(attacked(made_up_city(kind)))}\n\n")
        sys.stdout.flush()
