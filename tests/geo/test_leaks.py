"""What an audit found: coordinates hide in more than numeric columns, and labels tell places."""

import json
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely

import geotracs
from geotracs import PrivacyWarning, loaders
from geotracs.geo import leaks
from tests.conftest import TOKYO


def texts(frame, form):
    return pd.Series([form(point.x, point.y) for point in frame.geometry], index=frame.index, dtype=object)


def sexagesimal(degrees, parts=3):
    minutes = degrees % 1 * 60
    return f"{int(degrees)}°{int(minutes)}'{minutes % 1 * 60:.1f}\"" if parts == 3 else f"{int(degrees)} {minutes:.4f}"


DISGUISES = {
    "string": lambda f: f["lat"].astype(str),
    "wkt": lambda f: f.geometry.to_wkt(),
    "ewkt": lambda f: "SRID=4326;" + f.geometry.to_wkt(),
    "geometries": lambda f: pd.Series(list(f.geometry), index=f.index, dtype=object),
    "rounded": lambda f: f["lon"].round(3),
    "utm": lambda f: f.to_crs(32654).geometry.x,
    "mercator": lambda f: f.to_crs(3857).geometry.y,
    "wkb": lambda f: f.geometry.to_wkb(),
    "hex wkb": lambda f: f.geometry.to_wkb(hex=True),
    "box": lambda f: f.geometry.bounds.apply(lambda row: row.to_dict(), axis=1),
    "tuple": lambda f: texts(f, lambda x, y: (0, x, y)),
    "numpy": lambda f: texts(f, lambda x, y: [np.float64(7), np.float64(x)]),
    "nested": lambda f: texts(f, lambda x, y: {"at": [x, y]}),
    "lat,lon": lambda f: texts(f, lambda x, y: f"{y},{x}"),
    "hemispheres": lambda f: texts(f, lambda x, y: f"N{y:.5f} E{x:.5f}"),
    "decimal comma": lambda f: texts(f, lambda x, y: f"{y:.5f};{x:.5f}".replace(".", ",")),
    "bytes": lambda f: texts(f, lambda x, y: f"{y},{x}".encode()),
    "geojson": lambda f: texts(f, lambda x, y: json.dumps({"type": "Point", "coordinates": [x, y]})),
    "degrees, minutes, seconds": lambda f: texts(f, lambda x, y: f"{sexagesimal(y)}N {sexagesimal(x)}E"),
    "degrees, minutes": lambda f: texts(f, lambda x, y: f"{sexagesimal(y, 2)}N"),
    "e7": lambda f: (f["lat"] * 1e7).round().astype(int),
    "kilometres": lambda f: f["lon"] * 111.32 * np.cos(np.radians(35.7)),
    "radians": lambda f: np.radians(f["lat"]),
    "negated": lambda f: -f["lon"],
    "shifted": lambda f: f["lon"] - 139,
    "rotated": lambda f: 3 * f["lon"] - 4 * f["lat"],
    "complex": lambda f: f["lon"] + 1j * f["lat"],
    "arrow": lambda f: pd.Series(
        pd.array(list(f[["lon", "lat"]].to_numpy()), pd.ArrowDtype(pa.list_(pa.float64()))), f.index
    ),
    "interval": lambda f: pd.Series(pd.arrays.IntervalArray.from_arrays(f["lat"], f["lat"] + 0.001), f.index),
    "category": lambda f: f["lat"].astype("category"),
    "some wrong": lambda f: (-f["lat"]).where(np.arange(len(f)) % 12 > 0, -9999.0),
    "some missing": lambda f: (-f["lat"]).where(np.arange(len(f)) % 2 > 0),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_disguised_coordinates_warn(tracks, disguise):
    frame = tracks.assign(hidden=disguise(tracks))
    with pytest.warns(PrivacyWarning, match="'hidden' holds the original locations"):
        geotracs.perturb(frame, 4, domain=TOKYO, keep=["hidden"])


@pytest.mark.parametrize("disguise", ["string", "rounded", "utm", "lat,lon", "geojson", "degrees, minutes, seconds"])
@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows_that_hold_the_coordinates_themselves_warn(tracks, disguise, rows):
    frame = tracks.assign(hidden=DISGUISES[disguise](tracks)).iloc[:rows]
    with pytest.warns(PrivacyWarning, match="'hidden' holds the original locations"):
        geotracs.perturb(frame, 4, domain=TOKYO, keep=["hidden"])


def test_coordinates_over_a_continent_warn_in_other_crss():
    rng = np.random.default_rng(1)
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*rng.uniform((-10, 20), (40, 70), (300, 2)).T), crs=4326)
    frame["hidden"] = -frame.to_crs(3857).geometry.y / 1000
    assert leaks._unexplained(frame["hidden"].to_numpy(), frame.get_coordinates().to_numpy()) > 1 - leaks.EXPLAINED
    with pytest.warns(PrivacyWarning, match="'hidden' holds the original locations"):
        geotracs.perturb(frame, 4, domain=(-10, 20, 40, 70), keep=["hidden"])


@pytest.mark.parametrize("part", ["first", "last", "centroid", "all vertices"])
def test_a_vertex_of_a_line_warns(part):
    rng = np.random.default_rng(2)
    lines = [shapely.LineString(rng.uniform(TOKYO[:2], TOKYO[2:], (n, 2))) for n in rng.integers(2, 40, 30)]
    hidden = {
        "first": [line.coords[0][0] for line in lines],
        "last": [f"{line.coords[-1][1]:.4f}" for line in lines],
        "centroid": [-line.centroid.y for line in lines],
        "all vertices": [json.dumps(list(line.coords)) for line in lines],
    }
    frame = gpd.GeoDataFrame({"hidden": hidden[part]}, geometry=lines, crs=4326)
    with pytest.warns(PrivacyWarning, match="'hidden' holds the original locations"):
        geotracs.perturb(frame, 4, domain=TOKYO, keep=["hidden"])


def test_index_and_trajectory_columns_are_looked_at_too(tracks):
    with (
        pytest.warns(PrivacyWarning, match="index level 'lat' holds"),
        pytest.warns(PrivacyWarning, match="'lon' holds"),
    ):
        geotracs.perturb(tracks.set_index(["lat", "lon"]), 4, domain=TOKYO, keep=[])
    with pytest.warns(PrivacyWarning, match="'lat' holds"):
        geotracs.perturb(tracks, 4, domain=TOKYO, keep=[], trajectory="lat")
    with pytest.warns(PrivacyWarning, match="'lat' holds"):
        geotracs.perturb(tracks, 4, domain=TOKYO, keep=[], time="lat")


# Labels


def silent(frame, **arguments):
    """Perturb, where any warning is an error, but for the one that people can be followed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Whoever follows a person")
        return geotracs.perturb(frame, 4, **{"keep": "all", **arguments})


@pytest.mark.parametrize("kind", ["text", "integer", "missing", "category", "index"])
def test_labels_that_determine_the_place_warn(kind):
    """Half of the rows at venues, in any order; each venue is at one place, and others are visited once."""
    rng = np.random.default_rng(3)
    where = rng.uniform(TOKYO[:2], TOKYO[2:], (400, 2))
    visits = np.concatenate([rng.integers(0, 40, 360), np.arange(40, 400)])
    frame = gpd.GeoDataFrame({"venue": visits}, geometry=gpd.points_from_xy(*where[visits].T), crs=4326)
    frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    labels = {
        "text": "v" + (frame["venue"] * 7919 % 1000).astype(str),
        "integer": frame["venue"] * 7919 % 1000,
        "missing": (frame["venue"] * 7919 % 1000).astype(float).where(np.arange(720) % 5 > 0),
        "category": frame["venue"].map("v{}".format).astype("category"),
    }
    if kind == "index":
        frame, keep = frame.set_index("venue"), []
    else:
        frame["venue"], keep = labels[kind], ["venue"]
    with pytest.warns(PrivacyWarning, match="'venue' pins down the location of 100% of the rows whose value occurs"):
        geotracs.perturb(frame, 4, domain=TOKYO, keep=keep)


def test_the_share_is_that_of_rows_whose_value_occurs_in_one_cell():
    rng = np.random.default_rng(4)
    where = rng.uniform(0, 1, (64, 2))
    codes = np.tile(np.arange(64), 10)
    xy = where[codes]
    xy[codes < 16] = rng.uniform(0, 1, (160, 2))  # a quarter of the values is all over the square
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=32654)
    assert leaks.pinned_share(leaks.Rows.of(frame), pd.Series(codes)) == 0.75


@pytest.mark.slow
@pytest.mark.parametrize("city", ["tky", "chi"])
def test_venues_of_real_checkins_warn_and_the_rest_does_not(checkins, city):
    frame = loaders.checkins(checkins(city))
    domain = tuple(np.add(frame.total_bounds, (-0.1, -0.1, 0.1, 0.1)))
    columns = {"trajectory": "user", "time": "time", "domain": domain}
    with pytest.warns(PrivacyWarning, match=r"'venue' pins down the location of (99|100)% of the rows"):
        geotracs.perturb(frame, 4, keep=["venue"], **columns)
    for mixed in (frame, frame.sort_values("time"), frame.sample(frac=1, random_state=0, ignore_index=True)):
        silent(mixed.drop(columns="venue").assign(number=np.arange(len(frame))), **columns)
        silent(mixed.drop(columns="venue"), domain=domain)


# What does not tell, and must not be warned of


@pytest.mark.slow
def test_columns_of_a_city_do_not_warn():
    city = geotracs.datasets.sample_city(people=20, seed=1)
    tracks = city.tracks.assign(
        number=np.arange(len(city.tracks)),
        trip=(city.tracks["mode"] != city.tracks["mode"].shift()).cumsum(),
        clock=city.tracks["t"].astype(str),
        minute=city.tracks["t"].dt.floor("min").astype("int64"),
        day=city.tracks["t"].dt.date,
        resting=city.tracks["mode"] == "rest",
        country="Skeleton Coast",
        nothing=np.nan,
    )
    for frame in (tracks, tracks.sort_values("t"), tracks.sample(frac=1, random_state=1)):
        silent(frame, domain=city.boundary, trajectory="person", time="t")
        silent(frame, domain=city.boundary)


@pytest.mark.parametrize("regular", [True, False])
def test_who_drives_straight_on_may_keep_time_and_numbers(regular):
    """There they are affine maps of x, too; and the true coordinates are still told from them."""
    rng = np.random.default_rng(0)
    n = 300
    t = np.arange(n) * 2.0 if regular else rng.exponential(2, n).cumsum().round(1)
    x, y = 139.5 + t * 5e-4 + rng.normal(0, 1e-5, n), 35.6 + t * 2e-4 + rng.normal(0, 1e-5, n)
    frame = gpd.GeoDataFrame(
        {"t": t, "seconds": t, "number": np.arange(n), "name": [f"fix {i}" for i in range(n)]},
        geometry=gpd.points_from_xy(x, y),
        crs=4326,
    )
    frame["clock"] = pd.to_datetime(t, unit="s").astype(str)
    domain = (139, 35, 141, 37)
    assert leaks._unexplained(t, np.column_stack([x, y])) < 1e-6
    silent(frame, domain=domain, time="t")
    silent(frame.set_index("number"), domain=domain, time="t")
    with pytest.warns(PrivacyWarning, match="'hidden' holds the original locations"):
        geotracs.perturb(frame.assign(hidden=-x), 4, domain=domain, time="t", keep=["hidden"])


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 9])
def test_few_rows_do_not_warn_of_what_fits_anything(tracks, rows):
    rng = np.random.default_rng(6)
    frame = tracks.iloc[:rows].drop(columns=["lat", "lon"])
    frame = frame.assign(a=rng.random(rows), b=np.arange(rows), c="x", d=[f"{i} of 7" for i in range(rows)])
    silent(frame, domain=TOKYO)


def test_strange_columns_do_not_stop_a_release(tracks):
    silent(
        tracks.drop(columns=["lat", "lon"]).assign(
            ids=[f"4b7e{i:02}e999f" for i in range(60)],
            huge=np.linspace(1e300, 1e308, 60),
            lists=[[]] * 60,
            arrow=pd.array([["a"], ["b"], None] * 20, pd.ArrowDtype(pa.list_(pa.string()))),
            near=["Point Reyes", "Point Lobos", "polygon", "5 Main Street"] * 15,
            mixed=[None, 1, "a", (), {}, b"\xff"] * 10,
            infinite=np.tile([np.inf, -np.inf, 1.0], 20),
            nullable=pd.array([1, None, 3] * 20, "Int64"),
            delay=pd.to_timedelta(np.arange(60), "s"),
        ),
        domain=TOKYO,
    )


def test_no_warning_holds_a_coordinate(tracks):
    frame = tracks.assign(**{f"c{i}": disguise(tracks) for i, disguise in enumerate(DISGUISES.values())})
    with pytest.warns(PrivacyWarning) as caught:
        geotracs.perturb(frame, 4, domain=TOKYO, keep="all")
    assert len(caught) >= len(DISGUISES)
    assert not any(text in str(warning.message) for warning in caught for text in ("139", "35.", ".6", ".7"))
