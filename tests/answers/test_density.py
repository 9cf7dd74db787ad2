import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal
from geotracs.domains import Disc, Globe
from geotracs.places import Grid

import geotracs
from geotracs import GeotracsWarning, InputError
from geotracs.answers.density import density
from geotracs.errors import CRSError
from tests.helpers import quiet

BOX = (0.0, 0.0, 3000.0, 2000.0)
CRS = "EPSG:3857"
CELLS = Grid(nx=3, ny=2)
N = 2000


def town(n=N, seed=0, **columns):
    """Two thirds of all locations around one point, the others anywhere."""
    rng = np.random.default_rng(seed)
    centre = rng.normal([2500, 500], 120, (n, 2))
    xy = np.where(rng.random((n, 1)) < 2 / 3, centre, rng.uniform(0, 1, (n, 2)) * BOX[2:])
    return points(np.clip(xy, 0, BOX[2:]), **columns)


def points(xy, crs=CRS, **columns):
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*np.transpose(xy)), crs=crs)


def perturb(frame, eps=8, **arguments):
    return quiet(geotracs.perturb, frame, eps, **{"domain": BOX, "rng": 0} | arguments)


def shares(frame, nx=3, ny=2):
    """The true shares of cells."""
    x, y = frame.geometry.x / BOX[2] * nx, frame.geometry.y / BOX[3] * ny
    cell = np.minimum(y.astype(int), ny - 1) * nx + np.minimum(x.astype(int), nx - 1)
    return np.bincount(cell, minlength=nx * ny) / len(frame)


def boxes(nx=3, ny=2, crs=CRS, **columns):
    made = [
        shapely.box(BOX[2] / nx * i, BOX[3] / ny * j, BOX[2] / nx * (i + 1), BOX[3] / ny * (j + 1))
        for j in range(ny)
        for i in range(nx)
    ]
    return gpd.GeoDataFrame(columns, geometry=made, crs=CRS, index=[f"z{k}" for k in range(nx * ny)]).to_crs(crs)


@pytest.fixture(scope="module")
def tracks():
    return town()


@pytest.fixture(scope="module")
def private(tracks):
    return perturb(tracks)


@pytest.fixture(scope="module")
def found(private):
    return density(private, CELLS)


def test_shares_of_cells(tracks, private, found):
    assert list(found.columns) == ["geometry", "share", "count", "low", "high"]
    assert found.index.tolist() == list(range(6))
    assert found.crs == private.crs
    assert np.allclose(found.geometry[1].bounds, (1000, 0, 2000, 1000))
    assert found["share"].sum() == pytest.approx(1)
    assert np.allclose(found["count"], N * found["share"])
    truth, naive = shares(tracks), shares(private)
    assert np.abs(found["share"] - truth).sum() < np.abs(naive - truth).sum()
    assert np.all((found["low"] <= truth) & (truth <= found["high"]))
    assert np.all((found["low"] <= found["share"]) & (found["share"] <= found["high"]))


def test_the_record_says_what_it_is(private, found):
    answer = found.attrs["tracs"]["answer"]
    assert answer["kind"] == "density"
    assert (answer["over"], answer["level"], answer["reports"]) == ("cells", 0.9, N)
    assert found.attrs["tracs"]["epsilon"] == 8
    assert "costs no epsilon" in str(found.tracs.guarantee)
    with pytest.raises(InputError, match="not the release itself"):
        density(found, CELLS)
    assert "answer" not in private.attrs["tracs"]


def test_the_accessor_calls_the_function(private, found):
    assert_geodataframe_equal(private.tracs.density(CELLS), found)


def test_zones_are_cells_in_any_crs(private, found):
    zones = boxes(crs="EPSG:4326", name=list("abcdef"))
    before = zones.copy()
    areas = density(private, zones=zones)
    assert_geodataframe_equal(zones, before)
    assert list(areas.columns) == ["name", "geometry", "share", "count", "low", "high"]
    assert areas.index.tolist() == zones.index.tolist()
    assert areas.crs == zones.crs
    for column in ("share", "low", "high"):
        assert np.allclose(areas[column], found[column], atol=0.03), column
    named = density(private, zones=zones.rename_geometry("shape"))
    assert named.geometry.name == "shape"
    series = density(private, zones=zones.geometry)
    assert np.allclose(series["share"], areas["share"])


def test_places_have_what_is_nearest(tracks, private):
    places = points([[500, 1000], [2500, 1000], [2500, 1000]], name=list("abc"))
    found = density(private, places=places)
    near = (tracks.geometry.x > 1500).mean()
    assert found["share"].tolist() == pytest.approx([1 - near, near / 2, near / 2], abs=0.03)
    assert found["share"].iloc[1] == found["share"].iloc[2]
    assert list(found.columns[:2]) == ["name", "geometry"]


def test_with_a_very_large_epsilon_it_counts(tracks):
    found = density(perturb(tracks, 600), Grid(nx=6, ny=4))
    truth = shares(tracks, 6, 4)
    assert np.abs(found["share"] - truth).max() < 0.005
    assert (found["high"] - found["low"]).max() < 0.06


def test_with_a_very_small_epsilon_it_says_that_it_cannot_tell(tracks):
    private = perturb(tracks, 1e-6)
    with pytest.warns(GeotracsWarning, match="cannot tell the shares of most cells: 6 of 6.*not even halves"):
        found = density(private, CELLS)
    assert np.allclose(found["share"], 1 / 6, atol=0.01)
    assert np.all(found["high"] - found["low"] > found["share"])
    assert found.attrs["tracs"]["answer"]["unclear"] == 6


def test_words_name_a_grid_that_is_clear(private):
    with pytest.warns(GeotracsWarning, match=r"can carry cells of about \d+ m: cells=Grid\(nx=\d+, ny=\d+\)") as caught:
        density(private, Grid(nx=30, ny=20))
    words = str(caught[0].message)
    grid = eval(words.partition("cells=")[2].partition(". ")[0], {"Grid": Grid})
    with warnings.catch_warnings(action="error"):
        density(private, grid)


@pytest.mark.parametrize("eps", [1, 4])
def test_a_prior_helps_and_is_kept_where_reports_say_nothing(tracks, eps):
    rng = np.random.default_rng(1)
    public = tracks.sample(300, random_state=1)
    public = points(np.column_stack([public.geometry.x, public.geometry.y]) + rng.normal(0, 50, (300, 2)))
    private, truth, grid = perturb(tracks, eps), shares(tracks, 6, 4), Grid(nx=6, ny=4)
    without, with_prior = (quiet(density, private, grid, prior=prior) for prior in (None, public))
    alone = shares(public[public.geometry.within(shapely.box(*BOX))], 6, 4)
    error = [np.abs(estimate - truth).sum() for estimate in (with_prior["share"], alone, without["share"])]
    assert error[0] <= error[1] + 0.01
    assert error[0] < error[2]
    assert 0 <= with_prior.attrs["tracs"]["answer"]["prior"] <= 1


def test_priors_of_every_kind(private):
    areas = boxes(inhabitants=[1, 1, 10, 1, 1, 1])
    raster = (np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 10.0]]), (1000, 0, 0, 0, -1000, 2000))
    few = perturb(town(100), 1e-3)
    for prior, weight in ((areas, "inhabitants"), (raster, None)):
        found = quiet(density, few, CELLS, prior=prior, weight=weight)
        assert np.allclose(found["share"], np.array([1, 1, 10, 1, 1, 1]) / 15, atol=1 / 256)  # it is read on a grid
    with pytest.raises(InputError, match="`weight` is a column of `prior`"):
        density(private, CELLS, weight="inhabitants")
    with pytest.raises(InputError, match="`prior` has nothing inside the region"):
        density(private, CELLS, prior=points([[9e5, 9e5]]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "one of `cells`, `zones` and `places`, got none"),
        ({"cells": CELLS, "zones": boxes()}, "got cells and zones"),
        ({"cells": 20}, "`cells` must be a geotracs.places.Grid"),
        ({"cells": Grid(nx=300, ny=300)}, "at most 16,384, got 90,000"),
        ({"places": boxes()}, "`places` must be points, at least one, and 6 of 6 are not"),
        (
            {"places": gpd.GeoSeries(gpd.points_from_xy([0, np.inf], [0, 0]), crs=32654)},
            "1 of 2 `places` cannot be brought",
        ),
        ({"places": 3}, "`places` must be a GeoDataFrame or a GeoSeries of points"),
        ({"zones": points([[1, 1]])}, "`zones` must be areas"),
        ({"cells": CELLS, "level": 1}, "`level` must be a number between 0 and 1"),
        ({"cells": CELLS, "level": "high"}, "`level` must be a number between 0 and 1"),
    ],
)
def test_arguments_that_cannot_be_used(private, arguments, words):
    with pytest.raises(InputError, match=words):
        density(private, **arguments)


def test_places_without_a_crs(private):
    with pytest.raises(CRSError, match="`places` have no CRS"):
        density(private, places=gpd.GeoSeries([shapely.Point(1, 1)]))


def test_releases_that_cannot_be_used(tracks, private):
    with pytest.raises(InputError, match="at least 100 reports, got 99"):
        density(private.iloc[:99], CELLS)
    with pytest.raises(InputError, match="carries no record"):
        density(tracks, CELLS)
    moved = private.copy()
    moved.geometry = moved.geometry.translate(1)
    with pytest.raises(InputError, match="not those that perturb"):
        density(moved, CELLS)


def test_all_reports_at_one_place_are_no_reports(private):
    """With a record that was forged, since the digest knows the locations."""
    same = private.copy()
    same.geometry = [shapely.Point(1000, 1000)] * N
    same.attrs["tracs"] = {**private.attrs["tracs"], "digest": None}
    with pytest.raises(InputError, match=r"2,000 of 2,000 reports are at one place.*not reports of this release"):
        density(same, CELLS)


def test_all_people_at_one_place_are_found(tracks):
    """What is possible: all locations the same."""
    one = points(np.full((1000, 2), 700.0))
    found = quiet(density, perturb(one, 4), CELLS)
    assert found["share"].idxmax() == 0
    assert found["share"][0] > 0.8
    assert found["high"][0] > 0.95


def test_zones_that_overlap_or_lie_outside_are_refused(private):
    zones = boxes()
    twice = pd.concat([zones, gpd.GeoDataFrame(geometry=[shapely.box(0, 0, 3000, 500)], crs=CRS, index=["more"])])
    with pytest.raises(InputError, match="`zones` overlap in 3 place"):
        density(private, zones=twice)
    with pytest.raises(InputError, match="1 of 7 `zones` lie outside the region"):
        density(private, zones=pd.concat([zones.geometry, zones.iloc[:1].translate(9000)], ignore_index=True))


def test_zones_that_leave_gaps_have_less_than_all(tracks, private, found):
    with pytest.warns(GeotracsWarning, match="leave 66.7% of the region's area open"):
        some = density(private, zones=boxes().iloc[[2, 5]])
    assert np.allclose(some["share"], found["share"][[2, 5]], atol=0.01)
    assert some["share"].sum() < 0.9


def test_a_zone_smaller_than_a_working_cell_knows_how_little_it_knows(private):
    small = gpd.GeoSeries([shapely.box(2499, 499, 2501, 501)], crs=CRS)
    with pytest.warns(GeotracsWarning) as caught:
        found = density(private, zones=small)
    words = " ".join(str(one.message) for one in caught)
    assert "leave 100.0% of the region's area open" in words
    assert "cannot tell the shares of most zones" in words
    assert found["share"].iloc[0] < 1e-3
    assert found["high"].iloc[0] > 10 * found["share"].iloc[0]


REGIONS = {
    "polygon": {"domain": shapely.Polygon([(0, 0), (3000, 0), (3000, 2000), (1500, 1200), (0, 2000)])},
    "disc": {"domain": Disc((1500, 1000), 1000), "fit": "transport"},
    "rounded": {"round_to": Grid(cell=250)},
    "tracs-c": {"method": "tracs-c"},
    "trajectories": {"trajectory": "who", "unit": "trajectory", "eps": 100},
    "remapped": {"remap": True},
}


@pytest.mark.parametrize("kind", REGIONS)
def test_every_kind_of_release(kind):
    """Its estimate is nearer to the truth than its reports are, and its intervals hold the truth in most zones."""
    tracks = town(1200, who=np.arange(1200) // 12)
    arguments = {"eps": 6, "outside": "clip"} | REGIONS[kind]
    layers = {name: arguments[name] for name in ("domain", "round_to") if name in arguments}
    private = perturb(tracks, **arguments)
    found = quiet(density, private, CELLS, **({} if kind == "rounded" else layers))
    truth, index = shares(tracks), found.index
    inside = tracks
    if kind in ("polygon", "disc"):
        inside = perturb(tracks, **arguments | {"eps": 690})
        truth = shares(inside)
    assert found["share"].sum() == pytest.approx(1)
    assert np.abs(found["share"] - truth[index]).sum() < np.abs(shares(private) - truth).sum()
    assert np.mean((found["low"] <= truth[index]) & (truth[index] <= found["high"])) >= 0.8


def test_a_method_that_looks_back():
    tracks = town(200, who=np.arange(200) // 20)
    found = quiet(density, perturb(tracks, 8, method="tracs-d", trajectory="who"), CELLS)
    truth = shares(tracks)
    assert found["share"].idxmax() == truth.argmax()
    assert np.mean((found["low"] <= truth) & (truth <= found["high"])) >= 0.8


def test_a_method_over_places():
    rng = np.random.default_rng(2)
    public = points(rng.uniform(0, 1, (60, 2)) * BOX[2:])
    tracks = town()
    private = perturb(tracks, 5, method="nearest", round_to=public)
    truth = np.bincount(public.sindex.nearest(tracks.geometry, return_all=False)[1], minlength=60) / N
    found = quiet(density, private, places=public, round_to=public)
    reported = np.bincount(public.sindex.nearest(private.geometry, return_all=False)[1], minlength=60) / N
    assert np.abs(found["share"] - truth).sum() < np.abs(reported - truth).sum()
    assert np.mean((found["low"] <= truth) & (truth <= found["high"])) >= 0.85
    zones = quiet(density, private, zones=boxes(), round_to=public)
    assert zones["share"].sum() == pytest.approx(1, abs=1e-6)


def test_on_the_globe():
    rng = np.random.default_rng(3)
    xy = np.where(
        rng.random((500, 1)) < 0.8, rng.normal([100, 40], 3, (500, 2)), rng.uniform([-180, -80], [180, 80], (500, 2))
    )
    tracks = points(xy, crs=4326)
    private = perturb(tracks, 6, domain=Globe())
    found = quiet(density, private, Grid(nx=4, ny=2))
    assert found["share"].idxmax() == 7
    assert found["share"][7] == pytest.approx(0.83, abs=0.1)
    with pytest.raises(InputError, match="do not fit the globe"):
        density(private, Grid(cell=1e6))


def test_a_file_and_a_dask_frame_give_the_same_numbers(private, found, tmp_path):
    geotracs.files.write(private, tmp_path / "release.parquet")
    assert_geodataframe_equal(density(tmp_path / "release.parquet", CELLS), found)
    dask = pytest.importorskip("dask_geopandas")
    lazy = dask.from_geopandas(private, npartitions=3)
    assert_geodataframe_equal(lazy.tracs.density(CELLS), found)


def test_missing_locations_do_not_count(tracks):
    some = tracks.copy()
    some.loc[::10, "geometry"] = None
    found = density(perturb(some), CELLS)
    assert found["count"].sum() == pytest.approx(0.9 * N)
