"""Kinds of privacy: what a release promises of two locations, and how that adds up over a trajectory.

Most methods are eps-LDP: every two locations of the region look alike ("pure"). `Metric` is weaker, and says so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

PURE, METRIC = "pure", "metric"


@dataclass(frozen=True)
class Metric:
    """Metric privacy (geo-indistinguishability): how much alike two locations look depends on their distance.

    Attributes
    ----------
    radius : float
        The distance in metres at which two locations are told apart by at most exp(eps).
    least : float
        Locations nearer than this, in metres, count as this far apart.

    Examples
    --------
    >>> Metric(200.0, 0.5).label
    'metric, 200 m'
    >>> Metric.read(Metric(200.0, 0.5).to_record())
    Metric(radius=200.0, least=0.5)
    """

    radius: float
    least: float

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "Metric | None":
        """Return what the record of a release says; None for pure eps-LDP."""
        return cls(record["radius"], record["least"]) if record["kind"] == METRIC else None

    def to_record(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"kind": METRIC, "radius": self.radius, "least": self.least}

    @property
    def label(self) -> str:
        """Few words, for tables and legends."""
        return f"{METRIC}, {self.radius:g} m"

    def promise(self, eps: float) -> str:
        """Return what holds for one location.

        >>> print(Metric(200.0, 0.5).promise(1.4))
        Whatever is reported, it is at most exp(1.4), about 4.06, times likelier from one than from another of any two
        locations of the region within 200 m of each other. For two that are d metres apart the factor is at most
        exp(1.4 * d / 200): beyond 200 m the protection is less. Those nearer than 0.5 m count as that far apart.
        This is metric privacy (geo-indistinguishability), not local differential privacy over the region. Distances
        are those of the working CRS.
        """
        return (
            f"Whatever is reported, it is at most exp({eps:.12g}){_factor(eps)} times likelier from one than from "
            f"another of any two locations of the region within {self.radius:.12g} m of each other. For two that are "
            f"d metres apart the factor is at most exp({eps:.12g} * d / {self.radius:.12g}): {self._remarks}"
        )

    def promise_of_trajectories(self, eps: float) -> str:
        """Return what holds for a whole trajectory over whose locations epsilon is shared evenly.

        >>> print(Metric(200.0, 0.5).promise_of_trajectories(2.0))
        Whatever is reported, it is at most exp(2), about 7.39, times likelier from one than from another of any two
        trajectories of as many locations that are nowhere more than 200 m apart. ...
        """
        return (
            f"Whatever is reported, it is at most exp({eps:.12g}){_factor(eps)} times likelier from one than from "
            "another of any two trajectories of as many locations that are nowhere more than "
            f"{self.radius:.12g} m apart. Where their locations are d metres apart on average, the factor is at most "
            f"exp({eps:.12g} * d / {self.radius:.12g}): {self._remarks}"
        )

    def composition(self, eps: float, locations: int | None) -> str:
        """Return how epsilons of single locations add up over the longest trajectory; None if its length is unknown.

        >>> print(Metric(200.0, 0.5).composition(2.0, 30))
        Over a trajectory the factors multiply: the longest (30 locations) has epsilon 60 as a whole, among those that
        are nowhere more than 200 m apart.
        """
        who, total = "one of n locations", f"n times {eps:.12g}"
        if locations is not None:
            who = f"the longest ({locations} location{'' if locations == 1 else 's'})"
            total = f"{eps * locations:.12g}"
        return (
            f"Over a trajectory the factors multiply: {who} has epsilon {total} as a whole, among those that are "
            f"nowhere more than {self.radius:.12g} m apart."
        )

    @property
    def _remarks(self) -> str:
        return (
            f"beyond {self.radius:.12g} m the protection is less. Those nearer than {self.least:.3g} m count as that "
            "far apart. This is metric privacy (geo-indistinguishability), not local differential privacy over the "
            "region. Distances are those of the working CRS."
        )


def label(record: Mapping[str, Any]) -> str:
    """Return the kind of privacy in few words.

    >>> label({"kind": "pure"}), label({"kind": "metric", "radius": 50.0, "least": 0.1})
    ('pure', 'metric, 50 m')
    """
    metric = Metric.read(record)
    return PURE if metric is None else metric.label


def is_right(record: Any) -> bool:
    """Return whether a record, from a file of anybody's, says a kind of privacy: one that does not is not read as pure.

    >>> is_right({"kind": "pure"}), is_right({"kind": "metric", "radius": -5}), is_right({"kind": "other"})
    (True, False, False)
    """
    if not isinstance(record, Mapping) or record.get("kind") not in (PURE, METRIC):
        return False
    return record["kind"] == PURE or all(_is_length(record.get(name)) for name in ("radius", "least"))


def _is_length(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def _factor(eps: float) -> str:
    return f", about {math.exp(eps):.3g}," if eps < 12 else ""
