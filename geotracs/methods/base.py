"""What a method is: a recipe of a domain, a chart and mechanisms, over flat arrays."""

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from geotracs.domains import Domain
from geotracs.errors import InputError
from geotracs.mechanisms.piecewise import WINDOWS
from geotracs.randomness import Source


@dataclass(frozen=True)
class Method:
    """Base of all methods; the fields of a subclass are its options."""

    name: ClassVar[str]
    sequential: ClassVar[bool] = False
    """Whether a location's report depends on earlier reports of the same trajectory."""
    public_points: ClassVar[tuple[str, ...]] = ()
    """Options that may be a public point, given in the user's CRS."""

    window: str = "ogpm"

    def __post_init__(self) -> None:
        if self.window not in WINDOWS:
            raise InputError(f"`window` must be one of {sorted(WINDOWS)}, got {self.window!r}.")

    @property
    def shares(self) -> dict[str, float]:
        """The share of epsilon that each part gets."""
        raise NotImplementedError

    def check(self, domain: Domain) -> None:
        """Refuse a domain that the method cannot work on, and say why."""
        raise NotImplementedError

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
    ) -> None:
        """Replace each location by its report.

        Parameters
        ----------
        xy : array of shape (n, 2)
            Locations inside the domain, trajectory after trajectory, with contiguous columns; overwritten.
        offsets : array of int
            Where each trajectory begins, and n at the end.
        eps : float, or array of shape (n,)
            Epsilon of each location.
        """
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        """Return the options, for the record of a release."""
        return asdict(self)

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the options."""
        return [f.name for f in fields(cls)]
