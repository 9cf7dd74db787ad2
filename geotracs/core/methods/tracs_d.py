"""TraCS-D: direction and distance from a public reference (the paper's Algorithm 1)."""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np

from geotracs.core.budget import check_share, split
from geotracs.core.charts import Chart, Polar
from geotracs.core.charts.base import evenly
from geotracs.core.domains import Domain, Rectangle
from geotracs.core.mechanisms.named import UnitMechanism, caveat, check_name, make
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.methods.abreast import walk_abreast
from geotracs.core.methods.product import Point, Product
from geotracs.core.methods.released import Release, Reports
from geotracs.core.methods.walk import ARC_STARTS, ARCTANGENTS, kernel
from geotracs.core.randomness import Source, public_stream, words
from geotracs.errors import DomainError, InputError, quoted

HEURISTIC = math.pi / (math.pi + 1)
"""The paper's share of epsilon for the direction."""
SHARES, FINER = (np.arange(0.1, 0.96, 0.05).round(3).tolist(), (-0.03, -0.02, -0.01, 0.01, 0.02, 0.03))
"""The shares that are tried to find the best, and the steps about the best of them."""
STAND_INS, LENGTH, CHANCE = 2**14, 16, 0.005
"""On how many public stand-ins, in trajectories of what length; and by how much the heuristic has to be beaten."""
UNKNOWN, SPREAD = 64, 2**15
"""How many points stand for an unknown reference, and from how many points over the region they are taken."""


@dataclass(frozen=True)
class TracsD(Product):
    """Perturb the direction from a public reference, and the distance as a part of the way to the border.

    Parameters
    ----------
    window : {"ogpm", "r-sw", "pm", "sw", "truncated-laplace", "truncated-gaussian", "purkayastha", "sdd"}
        The mechanism of direction and distance; see `geotracs.core.mechanisms.named`. The last two are for directions
        only: the distance takes "truncated-laplace". All but the first two are slow on long trajectories.
    direction_share : float or "best"
        Share of epsilon for the direction; the paper's heuristic is pi / (pi + 1). "best" takes the one with the
        smallest expected error on public stand-ins for locations of the region, at a typical location's epsilon.
    start : {"centre", "corner", "random", "places"} or (x, y)
        Public reference of the first location of each trajectory; "places" takes the one from which the public places
        of ``round_to`` are reported with the smallest expected error.
    reference : {"previous", "places"} or (x, y)
        Reference of the other locations: the previous *reported* location as in Algorithm 1, or one public point
        for every location, which "places" chooses as it does for ``start``.

    Notes
    -----
    A report depends on its own location, the public region, and what was reported before it; the two parts of
    epsilon add up by sequential composition. On a disc the reference is always the centre.
    """

    name: ClassVar[str] = "tracs-d"
    sequential: ClassVar[bool] = True
    resumable: ClassVar[bool] = True
    public_points: ClassVar[tuple[str, ...]] = ("start", "reference")

    window: str = "ogpm"
    direction_share: float | str = field(default=HEURISTIC)
    start: str | Point = "centre"
    reference: str | Point = "previous"

    def __post_init__(self) -> None:
        check_name(self.window, "window")
        if self.direction_share != "best":
            check_share(cast(float, self.direction_share), "direction_share")
        _check_point(self.start, "start", ("centre", "corner", "random", "places"))
        _check_point(self.reference, "reference", ("previous", "places"))
        if self.reference != "previous" and self.start != "centre":
            raise InputError("`start` has no meaning when `reference` is a fixed point; give only `reference`.")

    @property
    def shares(self) -> dict[str, float]:
        """The shares of direction and distance; none before "best" is found."""
        if isinstance(self.direction_share, str):
            return {}
        return {"direction": self.direction_share, "distance": 1 - self.direction_share}

    @property
    def caveat(self) -> str:
        """What the window lacks beside the others."""
        return caveat(self.window)

    def check(self, domain: Domain) -> None:
        """Raise unless the region has straight sides or a polar chart, whose centre is then the only reference."""
        if domain.half_planes is not None:
            _ = domain.edges  # built once, before the blocks of locations ask for them
            return
        if domain.polar is None:
            raise DomainError(
                f"{self.name} needs straight lines to a border, and this region ({domain.kind}) has none; "
                f"{domain.instead}."
            )
        if self.start != "centre" or self.reference != "previous":
            raise InputError(
                f"On a {domain.kind} the reference of every location is the centre; leave out `start` and `reference`."
            )

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report; see `Method.report`.

        ``before`` is the last report of a trajectory that these locations continue.
        """
        direction, distance = self.mechanisms(eps, domain)
        planes = domain.half_planes
        if planes is None:
            chart = self.chart(domain)
            unit = chart.to_unit(xy)
            for axis, mechanism in enumerate((direction, distance)):
                unit[:, axis] = mechanism.apply(unit[:, axis], mechanism.draw(len(xy), rng))
            chart.from_unit(unit, out=xy)
            return
        starts = self._starts(len(offsets) - 1, domain, rng)
        if before is not None and self.reference == "previous":
            starts[0] = before
        draws = direction.draw(len(xy), rng), distance.draw(len(xy), rng)
        follow, offsets = self.reference == "previous", np.asarray(offsets, dtype=np.int64)
        if not isinstance(direction, (Piecewise, Sectors)) or not isinstance(distance, Piecewise):
            inside = domain.project_inside if len(domain.edges.table) else None
            walk_abreast(xy, offsets, starts, follow, planes, (direction, distance), draws, inside)
            return
        kernel(
            xy[:, 0],
            xy[:, 1],
            offsets,
            starts,
            follow,
            planes,
            draws[0],
            np.atleast_1d(np.asarray(direction.window, dtype=np.int64)),
            isinstance(direction, Sectors),
            draws[1],
            np.atleast_1d(np.asarray(distance.window, dtype=np.int64)),
            ARC_STARTS,
            ARCTANGENTS,
            domain.edges,
        )

    def mechanisms(self, eps: float | np.ndarray, domain: Domain) -> tuple[UnitMechanism | Sectors, UnitMechanism]:
        """Return the mechanisms of direction and distance."""
        share = self.direction_share
        if isinstance(share, str):
            if np.ndim(eps):
                raise InputError('`direction_share="best"` needs one epsilon; use `settled` for a typical one first.')
            share = best_share(self, float(eps), domain)
        direction, distance = split(eps, share)
        return self._direction(direction), make(self.window, distance)

    def settled(self, eps: float, domain: Domain) -> "TracsD":
        """Return the method with the best share for a typical epsilon, if that was asked for."""
        return self if self.direction_share != "best" else replace(self, direction_share=best_share(self, eps, domain))

    def chart(self, domain: Domain, reference: Point | None = None) -> Chart:
        """Return the polar chart at a reference, by default the public point where trajectories start."""
        self.check(domain)
        if domain.half_planes is not None:
            return Polar(self.seen_from(domain, reference), domain.half_planes)
        return cast(Chart, domain.polar)  # `check` has asked for it

    def seen_from(self, domain: Domain, reference: Point | None = None) -> np.ndarray:
        """Return the public point from which a location is seen, by default where trajectories start."""
        if domain.half_planes is None:
            return np.asarray(domain.centre, dtype=np.float64)
        if self.reference == "previous" and reference is not None:
            return self._inside(reference, "reference", domain)
        if self.start in ("random", "places") or self.reference == "places":
            raise InputError("This recipe has no public point of its own to start at; give one as `reference`.")
        return self._starts(1, domain, public_stream())[0]

    def references(self, domain: Domain, before: Reports | None, release: Release) -> list[Any]:
        """Return the public points from which a location may have been seen; see `Method.references`."""
        if domain.half_planes is None:
            return [None]
        if self.reference != "previous" or before is None:
            if self.start != "random":
                return [self.seen_from(domain)]
            return list(_anywhere(evenly(UNKNOWN), domain))
        if release.places is None or before.which is None:
            return list(before.xy)
        spread = domain.spread(SPREAD)
        alike = spread[release.places.round(spread)[0] == before.which[0]]
        if not len(alike):  # its cell is small: the point of the region nearest to it
            alike = domain.clip(release.places.sample(release.places.count)[before.which])
        return list(alike[:: -(-len(alike) // UNKNOWN)])

    def reference_is_known(self, rounded: bool) -> bool:
        """Return whether each location is seen from what was released, or from a public point."""
        return self.reference != "previous" or (self.start != "random" and not rounded)

    def _direction(self, eps: float | np.ndarray) -> UnitMechanism | Sectors:
        """Return the mechanism of the direction."""
        return make(self.window, eps, periodic=True)

    def best_start(self, places: np.ndarray, eps: float, domain: Domain) -> Point:
        """Return the public point from which these public places are reported with the smallest mean error.

        The paper's heuristic for discrete spaces, by trying a grid of points over the region with the same draws.
        Nothing here is private.
        """
        steps = np.linspace(0, 1, 9)
        candidates, settled = _anywhere(np.array(np.meshgrid(steps, steps)).reshape(2, -1).T, domain), self
        if self.direction_share == "best":
            settled = replace(self, start="centre", reference="previous").settled(eps, domain)
        sample = domain.clip(places)
        offsets = np.arange(len(sample) + 1)
        errors = []
        for point in candidates.tolist():
            reports = sample.copy(order="F")
            recipe = replace(settled, reference="previous", start=tuple(point))
            recipe.report(reports, offsets, eps, domain, public_stream())
            errors.append(np.hypot(*(reports - sample).T).mean())
        return tuple(candidates[np.argmin(errors)].tolist())

    def _starts(self, trajectories: int, domain: Domain, rng: Source) -> np.ndarray:
        if self.start == "random":
            return _anywhere(words(rng, 2 * trajectories, np.uint64).reshape(-1, 2) / 2.0**64, domain)
        named: dict[str, Point] = {"centre": domain.centre, "corner": domain.corner}
        name, point = ("start", self.start) if self.reference == "previous" else ("reference", self.reference)
        start = self._inside(named[point] if isinstance(point, str) else point, name, domain)
        return np.repeat([start], trajectories, axis=0)

    def _inside(self, point: Point, name: str, domain: Domain) -> np.ndarray:
        """Return a public point as an array, if it lies where the method works."""
        xy, planes = np.asarray(point, dtype=np.float64), cast(np.ndarray, domain.half_planes)
        if not np.all(planes[:, :2] @ xy <= planes[:, 2] + 1e-9 * domain.diameter):
            raise DomainError(f"`{name}` must lie inside the domain; it is a public point in the frame's CRS.")
        return xy


@lru_cache(maxsize=256)
def best_share(method: TracsD, eps: float, domain: Domain) -> float:
    """Return the share of the direction with the smallest mean error on public stand-ins for locations.

    Trajectories without a pattern, with the same draws for every share: a scan, and a finer one about its best. The
    paper's heuristic stays where it is within chance of that.
    """
    xy = np.asfortranarray(domain.spread(STAND_INS))
    offsets = np.unique(np.append(np.arange(0, len(xy), LENGTH), len(xy)))

    def error(share: float) -> float:
        reports = xy.copy(order="F")
        replace(method, direction_share=share).report(reports, offsets, eps, domain, public_stream())
        domain.project_inside(reports)
        return float(domain.distance(xy, reports).mean())

    errors = {share: error(share) for share in (HEURISTIC, *SHARES)}
    middle = min(errors, key=errors.__getitem__)
    errors |= {share: error(share) for share in (round(middle + step, 3) for step in FINER) if 0 < share < 1}
    best = min(errors, key=errors.__getitem__)
    return best if errors[best] < (1 - CHANCE) * errors[HEURISTIC] else HEURISTIC


def _anywhere(uv: np.ndarray, domain: Domain) -> np.ndarray:
    """Map the unit square to the rectangle around a region, then inside it."""
    box = domain.chart or Rectangle(*domain.outline.bounds)
    xy = box.from_unit(uv)
    domain.project_inside(xy)
    return xy


def _check_point(value: Any, name: str, words: tuple[str, ...]) -> None:
    if isinstance(value, str) and value in words:
        return
    pair = isinstance(value, (tuple, list)) and len(value) == 2
    if pair and all(isinstance(number, Real) and math.isfinite(number) for number in value):
        return
    raise InputError(f"`{name}` must be one of {list(words)} or a public point (x, y), got {quoted(value)}.")
