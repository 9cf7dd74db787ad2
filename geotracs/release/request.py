"""What a release is asked for: the arguments of `perturb`, checked once."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import shapely

import geotracs.core.budget as budget
import geotracs.core.methods as methods
import geotracs.core.randomness as randomness
import geotracs.geo.crs as crs_
import geotracs.geo.region as regions
import geotracs.geo.remap as remaps
import geotracs.geo.rounding as roundings
import geotracs.release.accounts as accounts
import geotracs.release.repeats as repeats
from geotracs.core.notions import PURE
from geotracs.errors import InputError, quoted
from geotracs.geo.schedule import Schedule
from geotracs.geo.sharing import Unit

OUTSIDE = ("raise", "clip")
AUTO = "joint"
"""The method that stands for "auto" until the region is known."""


@dataclass(frozen=True, eq=False, repr=False)
class Request:
    """Everything that a release is asked for; the fields are the arguments of `geotracs.perturb`.

    Errors that do not depend on the data are raised here, before any data is read. Another argument is a field here, a
    word in the signature of `perturb`, and a line where it is used. Public as the arguments should be, a region or a
    layer may have been made from private data: a request does not show them.

    Examples
    --------
    >>> Request.of(4, "tracs-d", start="corner", domain=(139.4, 35.5, 139.9, 35.9))
    <Request for tracs-d, epsilon 4 per location>
    >>> Request.of(4, trajectories="person")
    Traceback (most recent call last):
        ...
    geotracs.errors.InputError: joint has no option 'trajectories'; did you mean `trajectory`?
    """

    eps: float | str
    method: str = "joint"
    domain: Any = None
    fit: str = "envelope"
    prior: Any = None
    weight: str | None = None
    remap: Any = None
    trajectory: str | None = None
    time: str | None = None
    person: str | None = None
    unit: str = "location"
    allocation: str | Sequence[float] = "even"
    every: Any = None
    at_most: int | None = None
    fill: str | None = None
    speed: float | None = None
    repeat: str | None = None
    cell: float | None = None
    round_to: Any = None
    place: str = "place"
    join: Sequence[str] = ()
    centroid: bool = False
    crs: Any = None
    outside: str = "raise"
    keep: str | Sequence[str] | None = None
    embed: bool = False
    ledger: accounts.Accounts | None = None
    data: str | None = None
    rng: int | np.random.Generator | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, eps: float | str, method: str = "joint", **arguments: Any) -> "Request":
        """Return the request for arguments of `perturb`: those that are not fields are options of the method."""
        known = {name: arguments.pop(name) for name in cls.names() if name in arguments and name != "options"}
        return cls(eps, method, **known, options=arguments)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the fields."""
        return [own.name for own in fields(cls)]

    def __post_init__(self) -> None:
        options = {name: _plain(value) for name, value in self.options.items()}
        eps = str(self.eps) if isinstance(self.eps, str) else budget.check_eps(self.eps)  # a column, or a number
        self._become(eps=eps, options=options)
        self._become(keep=_checked_keep(self.keep), join=_checked_join(self.join))
        _ = self.sharing
        self._check_schedule()
        if not self.shared.even and self.unit != "trajectory":
            raise InputError('`allocation` shares the epsilon of a trajectory; give it with unit="trajectory".')
        self._check_method()
        if not isinstance(self.outside, str) or self.outside not in OUTSIDE:
            raise InputError(f"`outside` must be one of {list(OUTSIDE)}, got {quoted(self.outside)}.")
        if not isinstance(self.embed, (bool, np.bool_)):
            raise InputError(f"`embed` must be True or False, got {quoted(self.embed)}.")
        regions.check_fit(self.fit, self.prior, self.weight)
        remaps.check(self.remap)
        if self.crs is not None:
            crs_.parse_planar(self.crs)
        self._check_places()
        self._check_ledger()
        repeats.check(self)
        randomness.check(self.rng)

    def __repr__(self) -> str:
        eps = f"of column {self.eps!r}" if isinstance(self.eps, str) else f"{self.eps:g}"
        return f"<Request for {self.method}, epsilon {eps} per {self.unit}>"

    @cached_property
    def sharing(self) -> Unit:
        """What epsilon is for."""
        return Unit.of(self.unit, person=self.person, trajectory=self.trajectory, time=self.time)

    @cached_property
    def schedule(self) -> Schedule | None:
        """Which rows are reported; None for all of them."""
        return Schedule.of(self.every, self.at_most, self.fill, self.speed)

    @cached_property
    def shared(self) -> budget.Allocation:
        """How the epsilon of a trajectory is shared over its locations."""
        return budget.Allocation.of(self.allocation)

    @property
    def budget_column(self) -> str | None:
        """The column that holds the epsilons, if they are not one number."""
        return self.eps if isinstance(self.eps, str) else None

    @property
    def columns(self) -> list[str]:
        """The columns that are read beside the locations."""
        named = (self.trajectory, self.time, self.budget_column, self.person)
        return list(dict.fromkeys(name for name in named if name is not None))

    @cached_property
    def recipe(self) -> methods.Method:
        """The method with its options; for "auto" the one that stands for it."""
        name = AUTO if isinstance(self.method, str) and self.method == "auto" else self.method
        unknown = sorted(set(self.options) - set(methods.make(name).options()))
        meant = difflib.get_close_matches(unknown[0], self.names(), 1) if unknown else []
        if meant:
            raise InputError(f"{name} has no option {quoted(unknown[0])}; did you mean `{meant[0]}`?")
        recipe = methods.make(name, dict(self.options))
        return recipe if self.round_to is None else recipe.with_places()

    @property
    def added(self) -> list[str]:
        """The columns that places add to the release."""
        return [] if self.round_to is None else [self.place, *self.join]

    def _check_schedule(self) -> None:
        if self.schedule is None or not self.schedule.auto:
            return
        if not self.sharing.shares:
            raise InputError(
                'every="auto" says over how many moments an epsilon is best shared; give it with unit="trajectory", '
                '"person" or a period. For unit="location" each moment costs an epsilon of its own: use `every` or '
                "`at_most`."
            )
        if self.budget_column is not None:
            raise InputError('every="auto" needs `eps` as one number, not as a column.')
        if self.domain is None:
            raise InputError('every="auto" needs a public region: give `domain`, or use `every` or `at_most`.')

    def _check_method(self) -> None:
        if self.round_to is None and (self.join or self.centroid):
            raise InputError("`join` and `centroid` are for places; give them with `round_to`.")
        if self.recipe.over != "places":
            return
        if self.round_to is None:
            raise InputError(
                f"{self.method} reports places of a public set; give it with `round_to`, a layer or a grid."
            )
        if self.prior is not None:
            raise InputError(f"`prior` is for methods on a region, such as joint; {self.method} knows its places.")

    def _check_places(self) -> None:
        if self.round_to is None:
            return
        roundings.check(self.round_to, self.join, self.centroid)
        if not isinstance(self.place, str):
            raise InputError(f"`place` must be the name of a column, got {type(self.place).__name__}.")
        if self.place in self.join:
            raise InputError(f"The release would have two columns {self.place!r}; choose another name with `place`.")

    def _check_ledger(self) -> None:
        person = self.person if self.ledger is not None or self.sharing.by_trajectory else None
        accounts.check(self.ledger, self.data, person, self.trajectory, repeat=self.repeat is not None)
        if self.ledger is not None and self.recipe.privacy["kind"] != PURE:
            raise InputError(
                f"A ledger adds up epsilons of local differential privacy; that of {self.method} is for locations "
                "within its radius only, and cannot be added. Choose another method."
            )

    def _become(self, **values: Any) -> None:
        """Put arguments into their plain form, while the request is made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _checked_keep(keep: Any) -> Any:
    if keep is None or (isinstance(keep, str) and keep == "all"):
        return keep
    if isinstance(keep, str):
        raise InputError(f'`keep` must be a list of column names or "all", got {keep!r}; use keep=[{keep!r}].')
    return _listed("keep", keep)


def _checked_join(join: Any) -> tuple[str, ...]:
    if isinstance(join, str):
        raise InputError(f"`join` must be a list of column names, got {join!r}; use join=[{join!r}].")
    return _listed("join", join)


def _listed(name: str, columns: Any) -> tuple[str, ...]:
    try:
        return tuple(columns)
    except TypeError:
        raise InputError(f"`{name}` must be a list of column names, got {type(columns).__name__}.") from None


def _plain(value: Any) -> Any:
    """Turn points and numpy values into plain ones."""
    if isinstance(value, shapely.Point) and not value.is_empty:
        return [value.x, value.y]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
