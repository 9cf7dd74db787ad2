"""What is said of locations outside the region, with a guess at the reason."""

import numpy as np

import geotracs.geo.crs as crs_
from geotracs.geo.region import Region


def message(xy: np.ndarray, region: Region, n_outside: int) -> str:
    """Return the message of the error when locations lie outside and may not."""
    return (
        f"{n_outside} of {len(xy)} locations lie outside the domain. {_guess(xy, region, n_outside)}Give a "
        'larger public region, or outside="clip" to move them to its border.'
    )


def _guess(xy: np.ndarray, region: Region, n_outside: int) -> str:
    """Guess what is wrong when no location is inside: swapped axes, or another hemisphere."""
    if n_outside < len(xy):
        return ""
    swapped = xy[:, ::-1]
    if region.contains(swapped, region.enter(swapped)).mean() > 0.5:
        return "With x and y swapped most would lie inside: check the order of the axes. "
    if region.shape is None or region.data_crs.geodetic_crs is None:
        return ""
    west, south, east, north = region.shape.bounds
    if not region.data_crs.is_geographic and -180 <= west < east <= 360 and -90 <= south < north <= 90:
        return "Its bounds look like degrees, but a bounding box or geometry is taken to be in the CRS of the data. "
    degrees = crs_.in_degrees(region.data_crs)
    centre = np.array([region.shape.centroid.coords[0][:2]])
    there, here = (crs_.transform(points, region.data_crs, degrees) for points in (centre, xy))
    for axis, names in ((1, ("southern", "northern")), (0, ("western", "eastern"))):
        signs = np.sign(here[:, axis])
        if np.all(signs == signs[0]) and signs[0] * there[0, axis] < 0:
            return (
                f"The domain lies in the {names[int(there[0, axis] > 0)]} hemisphere and all locations in the other. "
            )
    return ""
