"""Frames as others keep them: trajectories of MovingPandas, and times or labels in the index."""

from typing import Any

import geopandas as gpd

TIME = "t"
"""What the column of times is called where an index has no name."""


def as_frame(data: Any, trajectory: str | None = None, time: str | None = None) -> tuple[Any, str | None, str | None]:
    """Return data as a frame, with the names of its trajectory and time columns.

    A collection of MovingPandas becomes its points, with the columns that it says itself. What is asked for and stands
    in the index becomes a column. Anything else stays as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> points = gpd.points_from_xy([13.1, 13.2], [52.1, 52.2])
    >>> frame = gpd.GeoDataFrame({"p": [1, 1]}, geometry=points, index=pd.date_range("2026-01-01", periods=2, name="t"))
    >>> list(as_frame(frame, "p", "t")[0].columns)
    ['t', 'p', 'geometry']
    """
    if not isinstance(data, gpd.GeoDataFrame) and hasattr(data, "to_point_gdf"):
        trajectory = trajectory or data.get_traj_id_col()
        data = data.to_point_gdf()
        time = time or data.index.name or TIME
        data = data.rename_axis(index=data.index.name or TIME)
    if isinstance(data, gpd.GeoDataFrame):
        names = {trajectory, time} - {None}
        levels = [name for name in data.index.names if name in names and name not in data.columns]
        data = data.reset_index(level=levels) if levels else data
    return data, trajectory, time
