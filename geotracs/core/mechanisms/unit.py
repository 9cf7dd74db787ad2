"""What the mechanisms on the unit interval and the unit circle share."""

from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.lattice import CELLS
from geotracs.core.randomness import Source, source
from geotracs.errors import InputError


@dataclass(frozen=True, repr=False, eq=False)
class Epsilons:
    """One epsilon for all locations, or one for each: the distinct ones, and which of them each location has.

    Examples
    --------
    >>> each = Epsilons.read(np.array([4.0, 1.0, 4.0]))
    >>> each.distinct, each.which
    ((1.0, 4.0), array([1, 0, 1]))
    >>> [(index, rows.tolist()) for index, rows in each.groups()]
    [(0, [1]), (1, [0, 2])]
    """

    distinct: tuple[float, ...]
    which: np.ndarray | None

    @classmethod
    def read(cls, eps: float | np.ndarray) -> "Epsilons":
        """Check ``eps``, one number or an array."""
        if np.ndim(eps) == 0:
            return cls((check_eps(eps),), None)
        distinct, which = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
        return cls(tuple(check_eps(float(value)) for value in distinct), which.reshape(np.shape(eps)))

    @property
    def value(self) -> float | np.ndarray:
        """The number, or the array."""
        return self.distinct[0] if self.which is None else np.array(self.distinct)[self.which]

    def spread(self, values: npt.ArrayLike) -> np.ndarray:
        """Return what was computed for each distinct epsilon, for each location; or the one value."""
        array = np.asarray(values)
        return array[0] if self.which is None else array[self.which]

    def groups(self) -> list[tuple[int, np.ndarray]]:
        """Return the rows of each distinct epsilon; only where there is an array."""
        which = np.ravel(np.asarray(self.which, dtype=np.int64))
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(self.distinct) + 1))
        return [(i, order[ends[i] : ends[i + 1]]) for i in range(len(self.distinct))]

    def check(self, n: int) -> None:
        """Raise unless n locations can have these epsilons."""
        if self.which is not None and self.which.size != n:
            raise InputError(f"`eps` holds {self.which.size} values, but {n} draws were asked for.")

    @property
    def label(self) -> str:
        """The number, or how many there are."""
        return f"{self.distinct[0]:g}" if self.which is None else f"{self.which.size} values"


class OnUnit:
    """The interface of a named mechanism: the same as that of `Piecewise`.

    Attributes
    ----------
    citation : str
        Where it was published.
    paper : str
        What the TraCS paper says about it.
    caveat : str
        What it lacks beside the others; empty where nothing.
    on_interval, on_circle : bool
        Where it is defined.
    per_location : tuple of str
        Attributes that are arrays where ``eps`` is one.
    """

    citation: ClassVar[str]
    paper: ClassVar[str]
    caveat: ClassVar[str] = ""
    on_interval: ClassVar[bool] = True
    on_circle: ClassVar[bool] = True
    per_location: ClassVar[tuple[str, ...]] = ()
    cells = CELLS

    @property
    def has_atoms(self) -> bool:
        """Whether single numbers are reported with a probability of their own, which no density can say."""
        return False

    @property
    def strata(self) -> tuple[float, ...]:
        """How likely a draw is in each of the parts into which draws are divided; for one eps."""
        raise NotImplementedError

    def spread(self, stratum: int, u: np.ndarray) -> np.ndarray:
        """Return draws that stand for all of a stratum, for numbers spread evenly over [0, 1)."""
        raise NotImplementedError

    def __init__(self, eps: float | np.ndarray, *, periodic: bool = False) -> None:
        if not (self.on_circle if periodic else self.on_interval):
            here, there = ("circle", "interval") if periodic else ("interval", "circle")
            raise InputError(f"{type(self).__name__} is for the unit {there}; `periodic` asks for the unit {here}.")
        self.periodic = bool(periodic)
        self._each = Epsilons.read(eps)
        self.eps: float | np.ndarray = self._each.value

    def __repr__(self) -> str:
        return f"<{type(self).__name__} eps={self._each.label} on the unit {'circle' if self.periodic else 'interval'}>"

    def take(self, rows: np.ndarray) -> Self:
        """Return the mechanism of some of the locations; the same one where all have one epsilon.

        Examples
        --------
        >>> from geotracs.core.mechanisms import SquareWave
        >>> SquareWave(np.array([1.0, 4.0, 9.0])).take(np.array([0, 2])).eps
        array([1., 9.])
        """
        if self._each.which is None:
            return self
        part = copy(self)
        part._each = Epsilons(self._each.distinct, self._each.which[rows])
        for name in ("eps", *self.per_location):
            setattr(part, name, getattr(self, name)[rows])
        return part

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations; the secrets are not needed for it."""
        raise NotImplementedError

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports; nothing here is random."""
        raise NotImplementedError

    def density(self, y: npt.ArrayLike, x: npt.ArrayLike) -> np.ndarray:
        """Return the probability density of reporting ``y`` when the secret is ``x``."""
        raise NotImplementedError

    def expected_error(self, x: np.ndarray | None = None, power: int = 1) -> float | np.ndarray:
        """Return the mean of ``|report - x| ** power``, around the circle where there is one."""
        raise NotImplementedError

    def worst_ratio(self) -> Fraction:
        """Return how much likelier a report can be for one secret than for another, at most; for one eps."""
        raise NotImplementedError

    def sample(self, x: npt.ArrayLike, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Report each number of ``x``, which must lie in [0, 1]."""
        secrets = check_unit(x)
        return self.apply(secrets, self.draw(secrets.size, source(rng)).reshape(secrets.shape))


def check_unit(x: npt.ArrayLike) -> np.ndarray:
    """Return numbers in [0, 1] as an array, or raise.

    >>> check_unit([0, 1])
    array([0., 1.])
    """
    array = np.asarray(x, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise InputError("Numbers for a mechanism on the unit interval must lie in [0, 1].")
    return array
