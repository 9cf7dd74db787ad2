"""What a release promises: its record, and sentences for a report."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import geotracs.core.notions as notions
import geotracs.core.provisos as provisos
from geotracs.core.budget import RULES
from geotracs.errors import InputError


@dataclass(frozen=True)
class Guarantee:
    """What a release promises, read from ``attrs["tracs"]``; plain JSON values only.

    ``print(guarantee)`` gives sentences for a report. ``over`` says what the method drew from: the "region", or the
    "places" of a public set; ``caveat`` what its guarantee lacks; ``privacy`` which kind it is, "pure" eps-LDP or
    "metric", where epsilon is for two locations that are its radius apart; ``tables`` recognises what was fitted for
    "optimal", ``digest`` the released locations. Of a dask frame the number of ``locations``, that of the ``longest``
    trajectory and the digest are not known: None.

    Where each row or trajectory has an epsilon of its own, ``epsilon`` is the largest, and ``epsilons`` says the
    column, the smallest and the largest, how many levels locations have, in how many ``steps`` these double if they
    were rounded down, and the largest ``total`` of a trajectory. ``allocation`` is how a trajectory's is shared.

    With ``recipe``, the method's options in the working CRS, and ``layers``, which recognises the public region, prior
    and places or holds them whole, a reader builds the channel again. ``answer`` says what was computed from the
    release, in ``words`` and plain values, if the frame is not the release itself.

    Where people share an epsilon over their trajectories, or over each period, ``unit`` is "person" or the period,
    ``person`` the column that says whose row it is, ``longest`` the number of locations of what has most of them, and
    ``periods`` the largest number of periods that a person has, if it is known.

    ``schedule`` says which rows were reported (``every``, ``at_most``) and how the others were filled in (``fill``), if
    not all were: those that the column "filled" marks are no observations, and neither ``locations`` nor ``longest``
    counts them.

    ``risk`` has the expected error of a ``report`` and of whoever has ``followed`` a person through the release, in
    metres, for people of that ``speed``: where reports have times that are near to each other. From public things only.

    ``repeat`` says that the rows of a ``person`` (the column) in a ``cell`` of so many metres have one report, which is
    one observation, however many rows there are. ``prepared`` says which steps of `geotracs.prepare` came before the
    draw, and whether they looked at where somebody was.

    Examples
    --------
    >>> guarantee = Guarantee(method="tracs-c", epsilon=2.0, longest=30, domain={"kind": "rectangle"})
    >>> guarantee.per_location, guarantee.per_trajectory
    (2.0, 60.0)
    """

    method: str
    epsilon: float
    unit: str = "location"
    shares: dict[str, float] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    locations: int | None = 0
    longest: int | None = 0
    domain: dict[str, Any] = field(default_factory=dict)
    crs: str | None = None
    trajectory: str | None = None
    time: str | None = None
    kept: list[str] = field(default_factory=list)
    places: int | None = None
    over: str = "region"
    caveat: str = ""
    tables: dict[str, Any] = field(default_factory=dict)
    privacy: dict[str, Any] = field(default_factory=lambda: {"kind": notions.PURE})
    reproducible: bool = False
    digest: dict[str, Any] | None = None
    version: str = ""
    allocation: str | list[float] = "even"
    epsilons: dict[str, Any] = field(default_factory=dict)
    remap: dict[str, Any] | None = None
    recipe: dict[str, Any] = field(default_factory=dict)
    layers: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    risk: dict[str, Any] = field(default_factory=dict)
    repeat: dict[str, Any] = field(default_factory=dict)
    prepared: list[dict[str, Any]] = field(default_factory=list)
    person: str | None = None
    periods: int | None = None
    schedule: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, Any]) -> Self:
        """Read the record that `perturb` leaves in a frame's attrs."""
        record = recorded(attrs)
        if not record:
            raise InputError(
                'This frame carries no record of a perturbation in attrs["tracs"]. Use the frame that perturb() '
                "returned, or its file, read by geotracs.files.read. If merge, sjoin or another library lost the "
                "record, geotracs.with_record(frame, record) gives it back."
            )
        return cls(**record)

    def to_attrs(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        record = asdict(self)
        if self.remap is None:  # most releases have none
            del record["remap"]
        if not self.answer:  # a release itself
            del record["answer"]
        for name in ("risk", "repeat", "prepared", "person", "periods", "schedule"):
            if not record[name]:  # it was not computed, or is not needed
                del record[name]
        return record

    @property
    def per_location(self) -> float:
        """The largest epsilon of one location: a trajectory of one location gets all of its epsilon."""
        return self.epsilon

    @property
    def per_person(self) -> float | None:
        """Epsilon of a person, all locations of theirs in this release together; None if nothing says it."""
        if self.unit == "person":
            return self.epsilon
        return None if self.periods is None else self.epsilon * self.periods

    @property
    def per_trajectory(self) -> float | None:
        """Epsilon of the longest trajectory, all its locations together; None if its length is not known."""
        if self.unit in ("trajectory", "person"):
            return self.epsilon
        if self.unit != "location":
            return self.per_person
        if self.column is not None:
            return self.epsilons.get("total")
        return None if self.longest is None else self.epsilon * self.longest

    @property
    def column(self) -> str | None:
        """The public column with the epsilon of each row or trajectory, if there is one."""
        return self.epsilons.get("column")

    @property
    def fitted(self) -> bool:
        """Whether the region was fitted to the private data, which the guarantee does not cover."""
        return bool(self.domain.get("fitted"))

    def __str__(self) -> str:
        sentences = [self._promise(), self._composition(), self._region(), self._not_protected()]
        if self.risk:
            sentences.insert(2, self._followed())
        if self.schedule:
            sentences.insert(2, self._scheduled())
        if self.repeat:
            sentences.insert(1, provisos.repeated(self.repeat))
        if self.caveat:
            sentences.insert(1, self.caveat)
        sentences += [provisos.prepared(self.prepared)] if self.prepared else []
        if self.reproducible:
            sentences.append("The draws came from a fixed rng: whoever knows it can undo them.")
        if self.answer:
            sentences.append(str(self.answer.get("words", "")))
        return " ".join(sentences)

    @property
    def _metric(self) -> notions.Metric | None:
        """The kind of privacy, if it is the weaker one."""
        return notions.Metric.read(self.privacy)

    def _promise(self) -> str:
        if self._metric is not None:
            whole = self.unit != "location"
            promise = (self._metric.promise_of_trajectories if whole else self._metric.promise)(self.epsilon)
            return f"{self._what} was reported by {self.method} under metric privacy. {promise}"
        what = "Each distinct cell of a person" if self.repeat else self._what
        places = "places" if self.unit == "location" else "sequences of as many places"
        where = "of the set" if self.over == "places" else "in the region"
        if self.column is not None:
            return self._own_promise(what, f"of any two {places} {where}")
        return (
            f"{what} was reported by {self.method} under pure {_number(self.epsilon)}-local differential privacy: "
            f"no report is more than exp({_number(self.epsilon)}){_times(self.epsilon)} likelier from one than from "
            f"another of any two {places} {where}."
        )

    @property
    def _what(self) -> str:
        """What epsilon is for."""
        if self.unit in ("location", "trajectory", "person"):
            return f"Each {self.unit}"
        return f"Each {self._period} of a person"

    @property
    def _period(self) -> str:
        days = {"1D": "day", "1d": "day", "1W": "week", "7D": "week", "1h": "hour"}
        name = days.get(self.unit, self.unit)
        return name if name.isalpha() else f"period of {name}"

    def _own_promise(self, what: str, among: str) -> str:
        row = "its row" if self.unit == "location" else "its rows"
        low, high = _number(self.epsilons["smallest"]), _number(self.epsilon)
        down = "" if self.epsilons.get("steps") is None else ", rounded down where they are many"
        return (
            f"{what} was reported by {self.method} under pure local differential privacy with the epsilon of {row}, "
            f"from {low} to {high} (the public column {self.column!r}{down}): no report is more than exp(that epsilon) "
            f"times, and so none more than exp({high}){_times(self.epsilon)}, likelier from one than from another "
            f"{among}."
        )

    def _composition(self) -> str:
        if self._metric is not None and self.unit == "location":
            return self._metric.composition(self.epsilon, self.longest)
        if self.repeat:
            each = f"{_number(self.epsilon)}" if self.column is None else "at most " + _number(self.epsilon)
            return (
                f"A person in n distinct cells has epsilon n times {each} as a whole, among ways that repeat their "
                "cells in the same rows."
            )
        if self.allocation != "even":
            return self._uneven()
        if self.unit not in ("location", "trajectory"):
            return self._of_people()
        if self.column is not None:
            if self.unit == "trajectory":
                return "It is shared evenly over the locations of the trajectory."
            total = self.per_trajectory
            largest = "" if total is None else f", {_number(total)} at most in this release"
            return f"A trajectory as a whole has the sum over its locations{largest}."
        if self.longest is None:
            if self.unit == "trajectory":
                return "Epsilon is shared evenly over the locations of each trajectory."
            return f"A trajectory of n locations has epsilon n times {_number(self.epsilon)} as a whole."
        count = f"{self.longest} location{'' if self.longest == 1 else 's'}"
        if self.unit == "trajectory":
            share = _number(self.epsilon / max(self.longest, 1))
            return f"Epsilon is shared evenly; each location of the longest trajectory ({count}) has {share}."
        return f"The longest trajectory ({count}) has epsilon {_number(self.epsilon * self.longest)} as a whole."

    def _of_people(self) -> str:
        """Return how the locations of a person share epsilon, and what a person has as a whole."""
        whose = "person" if self.unit == "person" else f"person and {self._period}"
        text = f"Epsilon is shared evenly over all locations of a {whose} (the public column {self.person!r})"
        if self.longest is not None and self.column is None:
            share = _number(self.epsilon / max(self.longest, 1))
            count = f"{self.longest} location{'' if self.longest == 1 else 's'}"
            text += f": where these are most ({count}), each has {share}"
        if self.unit == "person":
            return f"{text}. A person has {_number(self.epsilon)} as a whole, however many trajectories."
        if self.periods is None:
            return f"{text}. A person with n such periods has n times {_number(self.epsilon)} as a whole."
        total = f"{_number(self.epsilon * self.periods)} as a whole"
        return f"{text}. The person with most such periods ({self.periods}) has epsilon {total}."

    def _scheduled(self) -> str:
        """Return which rows were reported, and what the others are."""
        every, at_most = self.schedule.get("every"), self.schedule.get("at_most")
        rules = []
        if every == "auto":
            rules.append("so many rows as are best for its epsilon and number of rows, evenly by their number")
        elif every is not None:
            rules.append(f"the first row in every {every}")
        if at_most is not None:
            rules.append(f"at most {at_most} rows, evenly by their number")
        unit = "trajectory" if self.unit == "location" else self.unit
        whose = unit if unit in ("trajectory", "person") else f"person and {self._period}"
        text = (
            f"Of each {whose}, {' and of these '.join(rules)}, were reported, which depends on times and numbers only"
        )
        if self.schedule.get("fill") is None:
            return f"{text}; the other rows were left out."
        return f"{text}; the other rows are filled in from the reports ({self.schedule['fill']}) and no observations."

    def _followed(self) -> str:
        return (
            f"A report is about {self.risk['report']:,.0f} m off on average; whoever follows a person of up to "
            f"{self.risk['speed']:g} m/s from report to report finds them to about {self.risk['followed']:,.0f} m."
        )

    def _uneven(self) -> str:
        if self.allocation == "ends":
            rule = "with four times as much for the first and the last one as for the others"
        elif self.allocation == "water-filling":
            rule = "by water-filling, with more for the first and the last one"
        else:
            weights = ", ".join(_number(float(weight)) for weight in self.allocation)
            rule = f"by the weights ({weights}) from the first to the last one"
        return (
            f"Epsilon is shared over the locations of each trajectory {rule}: together they have at most all of it, "
            "and a location with a larger share is protected less than the others."
        )

    def _region(self) -> str:
        kind = self.domain.get("kind")
        if kind is None:
            return "There was no location, and no region."
        if self.fitted:
            return (
                f"The region is a {kind} fitted to the private data: its extent is not protected, and the guarantee "
                f"holds only among places inside it.{self._prior()}{self._remap()}{self._places()}"
            )
        where = {"bounds": "with bounds", "centre": f"of {self.domain.get('radius')} m about"}
        for key, words in where.items():
            if key in self.domain:
                numbers = ", ".join(_number(value) for value in self.domain[key])
                kind += f" {words} ({numbers}) in {self.domain.get('crs')}"
        return f"The region is a public {kind}.{self._prior()}{self._remap()}{self._places()}"

    def _prior(self) -> str:
        prior = self.domain.get("prior")
        if prior is None:
            return ""
        return f" The noise follows a public prior ({prior['kind']})."

    def _remap(self) -> str:
        if self.remap is None or not self.remap.get("kept"):
            return ""
        return f" Reports were remapped by a public table for a public prior ({self.remap.get('prior')})."

    def _places(self) -> str:
        if self.places is None:
            return ""
        if self.over == "places":
            return f" The set is {self.places:,} public places, and a location counts as its nearest one."
        return f" Reports were rounded to {self.places:,} public places."

    def _not_protected(self) -> str:
        columns = f", the kept columns ({', '.join(self.kept)})" if self.kept else ""
        people = "" if self.person is None else " and those of people"
        return (
            f"Not protected: time stamps, the number of locations, trajectory labels{people}, the index and order of "
            f"the rows{columns}. Another release of the same data adds its own epsilon."
        )


def _number(value: float) -> str:
    return f"{value:.12g}"


def _times(eps: float) -> str:
    return f" < {math.ceil(math.exp(eps)):,} times" if 1 <= eps < 20 else " times"


def recorded(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a perturbation in a frame's attrs; nothing if there is none, or it is not one of ours.

    Files come from anybody, so that every value is looked at before anything is made of it.

    >>> recorded({"tracs": {"method": "tracs-c", "epsilon": "much"}})
    {}
    """
    record = attrs.get("tracs")
    if not isinstance(record, Mapping):
        return {}
    known = {name: value for name, value in record.items() if name in KINDS}
    right = all(isinstance(value, KINDS[name]) or (value is None and name in OPTIONAL) for name, value in known.items())
    risk = known.get("risk") or dict.fromkeys(RISK, 1.0)
    right = right and all(isinstance(risk.get(name), Real) for name in RISK)
    right = right and provisos.are_right(known.get("repeat", {}), known.get("prepared", []))
    right = right and notions.is_right(known.get("privacy", {"kind": notions.PURE}))
    whole = right and {"method", "epsilon"} <= set(known) and 0 < known["epsilon"] < math.inf
    own = known.get("epsilons", {}) if whole else {}
    rule = known.get("allocation", "even")
    if not (rule in RULES if isinstance(rule, str) else all(isinstance(weight, Real) for weight in rule)):
        return {}
    if "column" in own:
        numbers = [own.get("smallest"), own.get("total") or 0]
        whole = isinstance(own["column"], str) and all(isinstance(number, Real) for number in numbers)
    return known if whole else {}


def caption(record: Mapping[str, Any]) -> str:
    """Return method and epsilon of a record in few words, for legends; weaker privacy is named.

    >>> caption({"method": "joint", "epsilon": 4.0})
    'joint, epsilon 4 per location'
    >>> caption({"method": "geo-ind", "epsilon": 1.0, "privacy": {"kind": "metric", "radius": 200.0, "least": 0.4}})
    'geo-ind, epsilon 1 at 200 m per location (metric privacy)'
    """
    unit = record.get("unit", "location")
    metric = notions.Metric.read(record.get("privacy", {"kind": notions.PURE}))
    if metric is None:
        return f"{record['method']}, epsilon {record['epsilon']:g} per {unit}"
    return f"{record['method']}, epsilon {record['epsilon']:g} at {metric.radius:g} m per {unit} (metric privacy)"


RISK = ("report", "followed", "speed")
"""What is known of people who are followed."""
OPTIONAL = ("crs", "trajectory", "time", "places", "locations", "longest", "digest", "remap", "person", "periods")
KINDS: dict[str, type] = {
    "method": str,
    "epsilon": Real,
    "unit": str,
    "shares": Mapping,
    "options": Mapping,
    "locations": Integral,
    "longest": Integral,
    "domain": Mapping,
    "crs": str,
    "trajectory": Hashable,
    "time": Hashable,
    "kept": Sequence,
    "places": Integral,
    "over": str,
    "caveat": str,
    "tables": Mapping,
    "privacy": Mapping,
    "reproducible": bool,
    "digest": Mapping,
    "version": str,
    "allocation": Sequence,
    "epsilons": Mapping,
    "remap": Mapping,
    "recipe": Mapping,
    "layers": Mapping,
    "answer": Mapping,
    "risk": Mapping,
    "repeat": Mapping,
    "prepared": Sequence,
    "person": Hashable,
    "periods": Integral,
    "schedule": Mapping,
}
"""What the values of a record are."""
