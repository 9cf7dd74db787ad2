"""The paper's evaluation, reproduced: every figure and table as a function that returns a tidy frame.

The paper is "TraCS: Trajectory Collection in Continuous Space under Local Differential Privacy" (PETS 2026). Its data
are public, so every draw here comes from a public stream and every number can be had again; never release anything
that these functions made. The figures that its authors published are read from a folder that the user has.

A frame has the columns ``experiment``, ``space``, ``method``, ``epsilon``, ``published`` (missing where there is none),
``ours``, ``se`` (the standard error of ours) and ``published_se`` (that of a run as small as the published one).
"""

from geotracs.experiments.cities import city, location_spaces
from geotracs.experiments.continuous import (
    city_continuous,
    epsilon_split,
    short_side,
    square_wave,
    strawman_as_published,
    synthetic,
)
from geotracs.experiments.discrete import (
    city_places,
    gridding,
    hotspots,
    range_queries,
    synthetic_grid,
    trajectory_epsilon,
)
from geotracs.experiments.exact import circular_area, direction_error, exponential_arrangement, sectors
from geotracs.experiments.figures import plot
from geotracs.experiments.report import reproduce
from geotracs.experiments.timing import growth, time_table

__all__ = [
    "circular_area",
    "city",
    "city_continuous",
    "city_places",
    "direction_error",
    "epsilon_split",
    "exponential_arrangement",
    "gridding",
    "growth",
    "hotspots",
    "location_spaces",
    "plot",
    "range_queries",
    "reproduce",
    "sectors",
    "short_side",
    "square_wave",
    "strawman_as_published",
    "synthetic",
    "synthetic_grid",
    "time_table",
    "trajectory_epsilon",
]
