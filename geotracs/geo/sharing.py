"""What epsilon is for: a location, or all locations of a trajectory, a person, or a person and a period together."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

import geotracs.core.budget as budget
import geotracs.geo.columns as columns_
import geotracs.geo.tracks as frames
from geotracs.errors import InputError
from geotracs.geo.periods import Period


@dataclass(frozen=True)
class Unit:
    """What shares an epsilon, as the ``unit`` of `geotracs.perturb` says; all of it is public.

    Attributes
    ----------
    name : str
        "location", "trajectory", "person", or a period such as "day" or "1W": then of a person.
    column : str or None
        The column that says whose row it is: of people, or of trajectories.
    time : str or None
        The column of times.
    period : Period or None

    Examples
    --------
    >>> import geopandas as gpd
    >>> frame = gpd.GeoDataFrame(
    ...     {"who": ["ann", "ann", "ben"], "trip": [1, 2, 3]},
    ...     geometry=gpd.points_from_xy([0, 1, 2], [0, 0, 0]),
    ...     crs=3857,
    ... )
    >>> tracks = Unit.of("person", person="who").group(frame, frames.read(frame, "trip"))
    >>> tracks.unit_lengths.tolist(), tracks.lengths.tolist()
    ([2, 1], [1, 1, 1])
    """

    name: str
    column: str | None = None
    time: str | None = None
    period: Period | None = None

    @classmethod
    def of(
        cls, name: Any, *, person: str | None = None, trajectory: str | None = None, time: str | None = None
    ) -> Self:
        """Return the unit that is asked for, or raise."""
        budget.check_unit(name)
        if name == "location" or name == "trajectory":
            return cls(name, trajectory, time)
        if name == "person":
            if person is None:
                raise InputError('`unit="person"` needs the column that says whose row it is; give it with `person`.')
            return cls(name, person, time)
        period = Period.of(name, "unit")
        if time is None:
            raise InputError(
                f'`unit="{name}"` shares epsilon over the locations of a {period.words}, which needs times; give their '
                "column with `time`."
            )
        column = trajectory if person is None else person
        if column is None:
            raise InputError(
                f'`unit="{name}"` shares epsilon over the locations of a person and a {period.words}; say whose rows '
                "they are with `person`, or with `trajectory`."
            )
        return cls(name, column, time, period)

    @property
    def shares(self) -> bool:
        """Whether several locations share an epsilon."""
        return self.name != "location"

    @property
    def by_trajectory(self) -> bool:
        """Whether the locations that belong together are those of a trajectory."""
        return self.name in ("location", "trajectory")

    @property
    def columns(self) -> list[str]:
        """The columns that say what belongs together."""
        return [name for name in (self.column, None if self.period is None else self.time) if name is not None]

    def group(self, table: pd.DataFrame, tracks: frames.Tracks) -> frames.Tracks:
        """Return the locations of a table with the number of the unit that each row belongs to."""
        return tracks if self.by_trajectory else replace(tracks, units=self.codes(table, tracks.present))

    def codes(self, table: pd.DataFrame, present: np.ndarray) -> np.ndarray:
        """Return the number of the person, or the person and period, of each present row."""
        column = self.column
        if column is None:  # which `of` has made sure of
            raise InputError("`person` is missing.")
        columns_.check(table, self.columns)
        people = frames.labels(table, column, present, "person")
        if self.period is None:
            return people
        periods = pd.factorize(self.numbers(table)[present])[0]
        return pd.factorize(people * (periods.max(initial=0) + 1) + periods)[0]

    def periods(self, table: pd.DataFrame, tracks: frames.Tracks) -> int | None:
        """Return the largest number of periods that a person has rows in; None where epsilon is not for periods."""
        if self.period is None or self.column is None or tracks.units is None:
            return None
        first = np.unique(tracks.units, return_index=True)[1]
        people = frames.labels(table, self.column, tracks.present, "person")[first]
        return int(np.bincount(people).max(initial=0))

    def numbers(self, table: pd.DataFrame) -> np.ndarray:
        """Return the number of the period of each row, where epsilon is for periods."""
        if self.period is None or self.time is None:
            return np.zeros(len(table), dtype=np.int64)
        return self.period.numbers(table, self.time)
