"""The check-ins of the paper's two cities as its tracks: the user has the files, geotracs does not contain them."""

from pathlib import Path

import numpy as np
import pandas as pd

from geotracs.core.places import Points
from geotracs.errors import InputError
from geotracs.experiments.setups import Setup

DECIMALS = {"tky": 8, "chi": 5}
"""To which the paper rounds latitudes and longitudes."""


def city(data: str | Path, name: str, users: tuple[int, int] = (0, 100), published_runs: float = 1) -> Setup:
    """Return the paper's tracks of Tokyo or Chicago, in its unit square of latitude and longitude.

    A track is the set of a user's distinct places, ordered by latitude and then longitude; the time of the check-ins
    plays no part. Errors are in degrees, of either kind.

    Parameters
    ----------
    data : path
        Folder with ``tky_checkins.csv.gz`` and ``chi_checkins.csv.gz``, with columns user, lat and lon.
    name : {"tky", "chi"}
        Which city.
    users : pair of int
        The first user, and the one after the last, in the order of their numbers. The published figures for Chicago
        come from the first hundred on continuous space, from the second hundred on its places.
    """
    visits = _visits(data, name)
    places = np.unique(visits[:, 1:], axis=0)
    low, size = places.min(axis=0), np.ptp(places, axis=0)
    _, begins = np.unique(visits[:, 0], return_index=True)
    begins = np.append(begins, len(visits))[users[0] : users[1] + 1]
    return Setup(
        space=name,
        xy=np.asfortranarray((visits[begins[0] : begins[-1], 1:] - low) / size),
        offsets=begins - begins[0],
        scale=tuple(size.tolist()),
        places=Points((places - low) / size),
        published_runs=published_runs,
    )


def location_spaces(data: str | Path) -> pd.DataFrame:
    """Return the places of both cities, in degrees (the paper's figure of its location spaces)."""
    parts = []
    for name in DECIMALS:
        places = np.unique(_visits(data, name)[:, 1:], axis=0)
        parts.append(pd.DataFrame(places, columns=["lat", "lon"]).assign(experiment="location-spaces", space=name))
    return pd.concat(parts, ignore_index=True)


def _visits(data: str | Path, name: str) -> np.ndarray:
    """Return user, latitude and longitude of the distinct places of each user, in that order."""
    if name not in DECIMALS:
        raise InputError(f"`name` must be one of {sorted(DECIMALS)}, got {name!r}.")
    path = Path(data) / f"{name}_checkins.csv.gz"
    if not path.exists():
        raise InputError(f"`data` must be a folder with {path.name}; it is not in {str(data)!r}.")
    visits = pd.read_csv(path, usecols=["user", "lat", "lon"])[["user", "lat", "lon"]].to_numpy(np.float64)
    visits[:, 1:] = visits[:, 1:].round(DECIMALS[name])
    return np.unique(visits, axis=0)
