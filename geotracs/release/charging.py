"""What a release costs each person, and the entry in a ledger that is made before anything is drawn."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

import geotracs.core.randomness as randomness
import geotracs.geo.columns as columns_
import geotracs.geo.tracks as frames
from geotracs.core.budget import billionths
from geotracs.errors import InputError
from geotracs.geo.people import distinct, text
from geotracs.geo.sharing import Unit
from geotracs.release.accounts import Accounts
from geotracs.release.plan import Plan
from geotracs.release.request import Request

SIGN = 2**62
"""The stream of a key by which it is recognised; blocks of locations have smaller numbers."""


CHANGED = "The file changed while it was read: its rows are not those that were charged. Try again."


@dataclass(frozen=True, repr=False)
class Bill:
    """What a release, or a part of it, costs each person.

    Attributes
    ----------
    people : dict
        Billionths of epsilon by label.
    digest : bytes
        Recognises the rows: their locations, labels, times and epsilons, in their order.
    """

    people: dict[str, int] = field(default_factory=dict)
    digest: bytes = b""

    def __add__(self, other: "Bill") -> "Bill":
        people = dict(self.people)
        for label, eps in other.people.items():
            people[label] = people.get(label, 0) + eps
        return Bill(people, hashlib.sha256(self.digest + other.digest).digest())


@dataclass(frozen=True, repr=False)
class Rule:
    """What of a request decides who is charged how much: the unit, epsilon or its column, and the columns."""

    sharing: Unit
    eps: float | str
    person: str | None
    trajectory: str | None
    time: str | None

    @classmethod
    def of(cls, request: Request) -> "Rule":
        """Return the rule of a request."""
        return cls(request.sharing, request.eps, request.person, request.trajectory, request.time)


class Meter:
    """Counts what the rows of a release cost each person, however they are cut into pieces.

    A person is charged what composition says: for ``unit="location"`` the sum over all locations, for
    ``unit="trajectory"`` the epsilon of each trajectory in which the person has a row, for ``unit="person"`` epsilon
    once, and for periods that of each period in which the person has a row. `charges` is the rule.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=2, seed=1)
    >>> meter = Meter(Rule.of(Request.of(0.1, unit="trajectory", trajectory="person")))
    >>> meter.add(city.tracks, frames.read(city.tracks, "person", grouped=False))
    >>> sorted(meter.bill().people.values())
    [100000000, 100000000]
    """

    def __init__(self, rule: Rule) -> None:
        self._sharing, self._trajectory = rule.sharing, rule.trajectory
        self._person = rule.trajectory if rule.person is None else rule.person
        self._column = rule.eps if isinstance(rule.eps, str) else None
        self._eps = 0 if isinstance(rule.eps, str) else billionths(rule.eps)
        self._people: dict[str, int] = {}
        self._tracks: dict[str, int] = {}
        self._periods: dict[str, int] = {}
        self._rows = 0
        self._due: dict[tuple[int, int], int] = {}
        self._hashes = {name: hashlib.sha256() for name in ("present", "xy", "people", "tracks", "n", "t", "eps")}

    @property
    def columns(self) -> list[str]:
        """The columns that are needed, besides the locations and their times."""
        named = (self._trajectory, self._person, self._column, *self._sharing.columns)
        return list(dict.fromkeys(name for name in named if name is not None))

    def add(self, table: pd.DataFrame, tracks: frames.Tracks) -> None:
        """Count rows; their locations are in the order of the rows."""
        rows = table.iloc[np.flatnonzero(tracks.present)]
        people = _numbers(rows[cast(str, self._person)], self._people, cast(str, self._person))
        own = np.arange(self._rows, self._rows + len(rows))  # lines are a trajectory each
        if self._trajectory is not None:
            own = _numbers(rows[self._trajectory], self._tracks, self._trajectory, exact)
        counts = np.ones(len(rows), dtype=np.int64) if tracks.counts is None else tracks.counts
        eps = np.full(len(rows), self._eps) if self._column is None else _epsilons(rows[self._column])
        self._rows += len(rows)
        once = own if self._sharing.by_trajectory else np.zeros(len(rows), dtype=np.int64)
        if self._sharing.period is not None:
            numbers = pd.Series(self._sharing.numbers(rows))
            once = _numbers(numbers, self._periods, str(self._sharing.time), exact)
        for (person, thing), amount in charges(self._sharing.name, people, once, eps, counts).items():
            before = self._due.get((person, thing), 0)
            self._due[person, thing] = before + amount if thing < 0 else max(before, amount)
        times = np.empty(0) if tracks.times is None else tracks.times
        parts = (tracks.present, np.ascontiguousarray(tracks.xy), people, own, counts, times, eps)
        for digest, part in zip(self._hashes.values(), parts, strict=True):
            digest.update(part.tobytes())

    def bill(self) -> Bill:
        """Return what all rows cost."""
        due = [0] * len(self._people)
        for (person, _), amount in self._due.items():
            due[person] += amount
        labels = json.dumps([list(self._people), list(self._tracks)]).encode()
        digest = hashlib.sha256(b"".join(one.digest() for one in self._hashes.values()) + labels).digest()
        return Bill(dict(zip(self._people, due, strict=True)), digest)


def charges(
    unit: str, people: np.ndarray, things: np.ndarray, eps: np.ndarray, counts: np.ndarray
) -> dict[tuple[int, int], int]:
    """Return what rows cost, in billionths: by person and, where epsilon is spent once for something, by that.

    A unit that spends for each location adds up, with -1 for a thing; any other spends once for each thing, so that
    its number is the key. This is the one place that knows what a unit costs.

    Parameters
    ----------
    people, things : array of int
        The person of each row, and the number of what epsilon is spent on: of its trajectory, or of its period.
    eps, counts : array of int
        The epsilon of each row in billionths, and how many locations it holds.

    Examples
    --------
    >>> rows = np.array([0, 0, 1]), np.array([5, 5, 6]), np.array([2, 2, 2]), np.array([1, 1, 1])
    >>> charges("location", *rows)
    {(0, -1): 4, (1, -1): 2}
    >>> charges("trajectory", *rows)
    {(0, 5): 2, (1, 6): 2}
    """
    table = pd.DataFrame({"person": people, "once": things, "eps": eps, "n": counts})
    due: dict[tuple[int, int], int] = {}
    if unit == "location":
        for person, amount, n in table.groupby(["person", "eps"], as_index=False)["n"].sum().to_numpy().tolist():
            due[person, -1] = due.get((person, -1), 0) + amount * n
        return due
    for person, thing, amount in table.groupby(["person", "once"], as_index=False)["eps"].max().to_numpy().tolist():
        due[person, thing] = amount
    return due


class Account:
    """The entry of one release in the ledger of its request; does nothing without a ledger.

    Parameters
    ----------
    engine : str
        Engines that cut rows differently draw differently, so that theirs are different releases.
    """

    def __init__(self, request: Request, engine: str = "rows") -> None:
        self.request, self._engine = request, engine
        self._entry: int | None = None
        self._bill = Bill()
        self._draft: Path | None = None
        self._kept = False

    @property
    def ledger(self) -> Accounts | None:
        """The ledger, if there is one."""
        return self.request.ledger

    def meter(self) -> Meter | None:
        """Return what counts the rows, if there is a ledger."""
        return None if self.ledger is None else Meter(Rule.of(self.request))

    def bill_of(self, table: pd.DataFrame, tracks: frames.Tracks) -> Bill | None:
        """Return what a whole frame costs, if there is a ledger."""
        meter = self.meter()
        if meter is None:
            return None
        columns_.check(table, meter.columns)
        meter.add(table, tracks)
        return meter.bill()

    def key(self, plan: Plan, bill: Bill | None) -> randomness.Key:
        """Charge what the bill says, and return the key of the draws."""
        fixed = self.request.rng is not None
        key = randomness.Key.fresh(randomness.source(self.request.rng))
        if self.ledger is None or bill is None:
            return key
        mark = self._mark(plan, bill)
        if fixed:
            # Were the same seed used for other rows, two releases would share their draws, and the difference of
            # their reports would be that of the locations: sums of epsilons hold for independent draws only.
            key = key.part(0, np.frombuffer(mark, np.uint8))
            mark = hashlib.sha256(mark + key.stream(SIGN).words(32, np.uint8).tobytes()).digest()
        _ = plan.steps if plan.region is not None else None  # what fails for public reasons fails before the charge
        self._bill, bits = bill, None if fixed else randomness.fresh_bits()
        self._entry, bits = self.ledger.enter(cast(str, self.request.data), bill.people, mark, bits)
        return key if bits is None else randomness.Key(bits)

    def check_same(self, meter: Meter | None) -> None:
        """Raise if the rows that were drawn are not those that were charged."""
        if meter is not None and meter.bill().digest != self._bill.digest:
            raise InputError(CHANGED)

    def finish(self) -> None:
        """Note that the release exists."""
        if self.ledger is not None and self._entry is not None:
            self.ledger.finish(self._entry)
        self._entry = None

    def drafted(self, folder: Path) -> None:
        """Say where the release is written until it is complete."""
        self._draft = folder

    def keep(self) -> None:
        """Say that the release may exist from now on, so that the charge is not given back."""
        self._kept = True

    @contextmanager
    def or_withdraw(self) -> Iterator[None]:
        """Give the charge back if what is done here fails and nothing of the release is left."""
        try:
            yield
        except BaseException:
            left = self._kept or (self._draft is not None and self._draft.exists())
            if self.ledger is not None and self._entry is not None and not left:
                self.ledger.withdraw(self._entry, cast(str, self.request.data), self._bill.people)
            raise

    def _mark(self, plan: Plan, bill: Bill) -> bytes:
        """Return what recognises a release: the rows, and everything that decides what is drawn for them."""
        request, region = self.request, plan.region
        names = ("data", "unit", "fit", "weight", "outside", "centroid", "person", "trajectory", "time", "crs")
        asked = {name: str(getattr(request, name)) for name in names} | {"engine": self._engine}
        shape = b"" if region is None else region.domain.outline.wkb
        record = json.dumps([asked, plan.guarantee(None, None).to_attrs()], sort_keys=True, default=str)
        levels = np.asarray(plan.levels, dtype=np.float64).tobytes()
        return hashlib.sha256(b"\0".join([bill.digest, shape, levels, record.encode()])).digest()


@dataclass(frozen=True, repr=False)
class Share:
    """A part of a release that was charged as a whole elsewhere: its rows must be those that were charged.

    Attributes
    ----------
    rule : Rule, or None
        None without a ledger.
    digest : bytes
        Recognises the rows of the part.
    """

    rule: Rule | None = None
    digest: bytes = b""

    def meter(self) -> Meter | None:
        """Return what counts the rows, if there is a ledger."""
        return None if self.rule is None else Meter(self.rule)

    def check_same(self, meter: Meter | None) -> None:
        """Raise if the rows that were drawn are not those that were charged."""
        if meter is not None and meter.bill().digest != self.digest:
            raise InputError(CHANGED)


def exact(label: Any) -> str:
    """Return the label of a trajectory as text, never the same for two that are not equal.

    >>> exact(7) == exact("7")
    False
    """
    label = label.item() if isinstance(label, np.generic) else label
    return f"{type(label).__name__} {label}"


def _numbers(labels: pd.Series, known: dict[str, int], column: str, name: Callable[[Any], str] = text) -> np.ndarray:
    """Return the number of each label: 0, 1, ... as they first appear, here or in an earlier piece."""
    codes, found = distinct(labels, column, "charged")
    numbers = [known.setdefault(name(label), len(known)) for label in found]
    return np.array(numbers, dtype=np.int64)[codes] if numbers else np.zeros(0, dtype=np.int64)


def _epsilons(values: pd.Series) -> np.ndarray:
    """Return a column of epsilons in billionths."""
    distinct, which = np.unique(values.to_numpy(dtype=np.float64), return_inverse=True)
    return np.array([billionths(value) for value in distinct.tolist()], dtype=np.int64)[which]
