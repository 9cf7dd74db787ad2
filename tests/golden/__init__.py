"""Golden releases: what each method reports with a fixed rng, kept as hashes, so that nothing changes it unseen.

`python -m tests.golden` writes them anew, in a commit that says why. They depend on the format of a release: the length
of a block (`geotracs.mechanisms.lattice.BLOCK`), the order in which random words are used, the working CRS.
"""

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs
from geotracs.core.domains import Disc, Globe
from geotracs.core.methods import METHODS, PlaceMethod
from tests.helpers import quiet

HASHES = Path(__file__).with_name("hashes.json")
DIGITS = 7
"""Of a degree, about a centimetre: the last bits of sines and exponentials differ between processors."""
BOX = (139.47, 35.51, 139.92, 35.87)
CITY = shapely.Polygon([(139.5, 35.55), (139.9, 35.52), (139.85, 35.7), (139.7, 35.62), (139.6, 35.85), (139.5, 35.8)])
EPS = 4.0


@functools.cache
def people(lines: bool) -> gpd.GeoDataFrame:
    """Return twelve people of 1 to 23 locations, in order, as points or as a line each."""
    rng = np.random.default_rng(7)
    lengths = [2 * number + 1 + (number == 0) * lines for number in range(12)]
    spread = CITY.buffer(-0.01)
    xy = np.array([p for p in rng.uniform(BOX[:2], BOX[2:], (3000, 2)) if spread.contains(shapely.Point(p))])
    frame = gpd.GeoDataFrame(
        {
            "person": np.repeat([f"p{number}" for number in range(12)], lengths),
            "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.concatenate([np.arange(n) for n in lengths]), "min"),
        },
        geometry=gpd.points_from_xy(*xy[: sum(lengths)].T),
        crs=4326,
    )
    if not lines:
        return frame
    shapes = frame.groupby("person", sort=False)["geometry"].agg(lambda points: shapely.LineString(list(points)))
    return gpd.GeoDataFrame(shapes.reset_index(), geometry="geometry", crs=4326)


def places() -> gpd.GeoDataFrame:
    """Return sixty public places."""
    xy = np.random.default_rng(8).uniform(BOX[:2], BOX[2:], (60, 2))
    return gpd.GeoDataFrame({"name": np.arange(60)}, geometry=gpd.points_from_xy(*xy.T), crs=4326)


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the names of all cases, and the arguments of `perturb`."""
    for name, method in METHODS.items():
        over_places = issubclass(method, PlaceMethod)
        yield name, {"method": name, "domain": BOX, **({"round_to": places()} if over_places else {})}
        yield f"{name} trajectory", {
            "method": name, "domain": BOX, "unit": "trajectory", **({"round_to": places()} if over_places else {}),
        }  # fmt: skip
        if not over_places:
            yield f"{name} polygon", {"method": name, "domain": CITY}
            yield f"{name} polygon rounded", {"method": name, "domain": CITY, "round_to": places()}
    yield "joint transport", {"method": "joint", "domain": CITY, "fit": "transport"}
    yield "joint prior", {"method": "joint", "domain": BOX, "prior": places()}
    yield "tracs-c oriented", {"method": "tracs-c", "domain": CITY, "fit": "oriented"}
    yield "tracs-c globe", {"method": "tracs-c", "domain": Globe()}
    yield "tracs-d disc", {"method": "tracs-d", "domain": Disc((139.7, 35.7), 30_000)}
    yield "tracs-d r-sw", {"method": "tracs-d", "domain": BOX, "window": "r-sw"}
    yield "tracs-c truncated-laplace", {"method": "tracs-c", "domain": BOX, "window": "truncated-laplace"}
    yield "tracs-d sw polygon", {"method": "tracs-d", "domain": CITY, "window": "sw"}
    yield "joint grid", {"method": "joint", "domain": BOX, "round_to": geotracs.places.Grid(cell=500)}


def in_memory(lines: bool, arguments: dict[str, Any]) -> str:
    """Return the hash of a release of a frame."""
    return _hash(quiet(geotracs.perturb, people(lines), EPS, rng=1, **_columns(lines), **arguments))


def in_batches(lines: bool, arguments: dict[str, Any], folder: Path) -> str:
    """Return the hash of a release of a file in small batches."""
    people(lines).to_parquet(folder / "in.parquet")
    given = {"rng": 1, "batch_rows": 3 if lines else 17, "overwrite": True, **_columns(lines), **arguments}
    quiet(geotracs.perturb_file, folder / "in.parquet", folder / "out.parquet", EPS, **given)
    return _hash(gpd.read_parquet(folder / "out.parquet"))


def on_dask(lines: bool, arguments: dict[str, Any]) -> str:
    """Return the hash of a release of three partitions."""
    import dask_geopandas  # which an environment without extras has not

    frame = people(lines)
    starts = frame.index[frame["person"].isin(["p0", "p5", "p9"]) & ~frame["person"].duplicated()].tolist()
    ddf = dask_geopandas.from_geopandas(frame, npartitions=1).repartition(divisions=[*starts, frame.index[-1]])
    private = quiet(ddf.tracs.perturb, EPS, rng=1, shuffle=False, **_columns(lines), **arguments)
    return _hash(quiet(private.compute, scheduler="synchronous"))


def _columns(lines: bool) -> dict[str, Any]:
    return {"trajectory": "person", "time": None if lines else "t", "keep": []}


def _hash(frame: gpd.GeoDataFrame) -> str:
    xy = np.round(shapely.get_coordinates(np.asarray(frame.geometry.values)), DIGITS) + 0.0
    return hashlib.sha256(xy.astype("<f8").tobytes()).hexdigest()[:16]
