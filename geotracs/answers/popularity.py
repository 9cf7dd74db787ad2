"""Which places are visited most, and which of them cannot be told apart."""

from typing import Any

import geopandas as gpd
import numpy as np

from geotracs.answers.carried import carried
from geotracs.answers.density import density
from geotracs.core.guarantee import Guarantee
from geotracs.errors import sealed, warn


@sealed
def popularity(
    frame: Any,
    places: Any,
    *,
    prior: Any = None,
    weight: str | None = None,
    level: float = 0.9,
    domain: Any = None,
    round_to: Any = None,
) -> gpd.GeoDataFrame:
    """Rank public places by their share of locations, with how much of the ranking a release can tell.

    Places whose intervals overlap cannot be told apart. A ranking of single places from a few thousand reports is
    mostly noise, and this says so: do not read a top 20 off the shares.

    Parameters
    ----------
    frame : GeoDataFrame, dask-geopandas frame, or path
        What `geotracs.perturb` returned, with at least 100 reports; or a dask frame or file of it.
    places : GeoDataFrame or GeoSeries
        Points, in any CRS. A location counts as its nearest place.
    prior, weight, level, domain, round_to
        See `geotracs.answers.density.density`.

    Returns
    -------
    GeoDataFrame
        The places, those with the largest share first, with the columns of `density` and ``best`` and ``worst``, the
        ranks that a place may have, and ``group``: the first group holds the first place and all that cannot be told
        from it, the next one begins with the first of the others.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=20, seed=1)
    >>> stations = city.pois.iloc[[0, 40, 80]]
    >>> private = city.tracks.tracs.perturb(8, domain=city.boundary.total_bounds, keep=[])
    >>> ranked = private.tracs.popularity(stations)
    >>> ranked[["best", "worst", "group"]].columns.tolist()
    ['best', 'worst', 'group']
    >>> bool(ranked.share.is_monotonic_decreasing)
    True
    """
    found = density(
        frame,
        places=places,
        prior=prior,
        weight=weight,
        level=level,
        domain=domain,
        round_to=round_to,
    )
    guarantee = Guarantee.from_attrs(found.attrs)
    found = found.iloc[np.argsort(-found["share"].to_numpy(), kind="stable")]
    low, high = found["low"].to_numpy(), found["high"].to_numpy()
    best, worst = ranks(low, high)
    found = found.assign(best=best, worst=worst, group=groups(low, high))
    words = "This is not the release but a ranking of places estimated from it, which costs no epsilon."
    found = carried(found, guarantee, **(guarantee.answer | {"kind": "popularity", "words": words}))
    first = int((found["group"] == 1).sum())
    if first > 1:
        warn(
            f"The first {first:,} of {len(found):,} places cannot be told apart: their intervals overlap with that of "
            "the first. Only places in different groups have an order."
        )
    return found


def ranks(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst rank that each share may have, by intervals for all of them.

    >>> [rank.tolist() for rank in ranks(np.array([0.5, 0.1, 0.0]), np.array([0.6, 0.3, 0.2]))]
    [[1, 2, 2], [1, 3, 3]]
    """
    surely_more = len(low) - np.searchsorted(np.sort(low), high, side="right")
    surely_less = np.searchsorted(np.sort(high), low, side="left")
    return surely_more + 1, len(low) - surely_less


def groups(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return groups of shares, from the largest on, that cannot be told from the first one of the group.

    >>> groups(np.array([0.5, 0.1, 0.0]), np.array([0.6, 0.3, 0.2])).tolist()
    [1, 2, 2]
    """
    found, number = np.zeros(len(low), dtype=np.int64), 0
    while not found.all():
        first, number = int(np.argmin(found)), number + 1
        found[(found == 0) & (high >= low[first])] = number
    return found
