"""dask-geopandas frames: one release, whatever the partitions are. `test_dask_workers` has worker processes."""

import re
import subprocess
import sys
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal
from scipy import stats

import geotracs
from geotracs import CRSError, InputError, PrivacyWarning, files
from geotracs.core.methods import METHODS
from tests.conftest import TOKYO
from tests.helpers import COLUMNS
from tests.lazy import PLACES, four_hundred_rows, here, in_this_process, lazily, partitions, places_for  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_process")]

dask = pytest.importorskip("dask")
dask_geopandas = pytest.importorskip("dask_geopandas")
dd = pytest.importorskip("dask.dataframe")


# One release


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "nearest"])
def test_keeps_what_a_frame_has(ddf, people, method):
    private = lazily(ddf, 4, method, shuffle=False, **COLUMNS, **places_for(method))
    assert isinstance(private, dask_geopandas.GeoDataFrame)
    assert private.divisions == ddf.divisions
    assert private.crs == ddf.crs
    assert private.spatial_partitions is None
    out = here(private)
    assert out.index.equals(people.index)
    assert out[["person", "t"]].equals(here(ddf)[["person", "t"]])
    assert list(out.columns) == list(private.columns)
    assert out.geometry.isna().equals(people.geometry.isna())
    assert not out.geometry.geom_equals(people.geometry).any()
    assert out.tracs.guarantee == private.tracs.guarantee
    assert private.tracs.guarantee.locations is None
    assert private.tracs.guarantee.per_trajectory is None
    assert "A trajectory of n locations has epsilon n times 4" in str(private.tracs.guarantee)


def test_spatial_partitions_are_cleared(ddf):
    ddf.calculate_spatial_partitions()
    assert ddf.spatial_partitions is not None
    assert lazily(ddf, 4).spatial_partitions is None


@pytest.mark.parametrize("by", ["hilbert", "morton", "geohash"])
def test_an_index_that_tells_where_rows_are_is_warned_of(people, by):
    ddf = dask_geopandas.from_geopandas(people.dropna(), npartitions=2).spatial_shuffle(by)
    with pytest.warns(PrivacyWarning, match=f"index level '({by}|{by}_distance)' holds the original locations"):
        lazily(ddf, 4)


def counted(people, npartitions=4):
    """A frame whose first partition is empty, and a list of the partitions that were read."""
    reads = []

    def read(number):
        reads.append(number)
        return parts[number]

    parts = [people[:0], *(people.iloc[rows] for rows in np.array_split(np.arange(len(people)), npartitions))]
    delayed = [dask.delayed(read, pure=False)(number) for number in range(len(parts))]
    return dd.from_delayed(delayed, meta=people[:0], verify_meta=False), reads


def derived(people, what):
    """Arguments with something that should be public and was made from the locations; and what is said of it."""
    places = people.geometry.dropna().sample(frac=1, random_state=0)
    return {
        "keep": ({"keep": "all"}, r"'lat' holds the original locations"),
        "domain": ({"domain": tuple(people.total_bounds)}, "`domain` has the extent of the private data"),
        "round_to": ({"round_to": places.to_crs(3857)}, "`round_to` has the coordinates of the private data"),
        "prior": ({"prior": places}, "`prior` has the coordinates of the private data"),
    }[what]


@pytest.mark.parametrize("what", ["keep", "domain", "round_to", "prior"])
def test_what_was_derived_from_the_locations_is_warned_of(people, what):
    people = people.assign(lat=people.geometry.y)
    arguments, said = derived(people, what)
    ddf, reads = counted(people)
    with dask.config.set(scheduler="synchronous"), pytest.warns(PrivacyWarning, match=said):
        lazily(ddf, 4, **arguments)
    assert sorted(reads) == ([0, 1] if what == "keep" else [0, 0, 1, 1, 2, 3, 4])
    with pytest.warns(PrivacyWarning, match=said):
        geotracs.perturb(people, 4, **{"domain": TOKYO, "keep": [], **arguments})


def test_known_spatial_partitions_say_the_extent_without_a_pass(people):
    ddf, reads = counted(people.dropna())
    with dask.config.set(scheduler="synchronous"):
        ddf.calculate_spatial_partitions()
        reads.clear()
        with pytest.warns(PrivacyWarning, match="`domain` has the extent of the private data"):
            lazily(ddf, 4, domain=tuple(people.total_bounds))
    assert reads == [0, 1]


def test_public_things_are_not_warned_of_and_take_no_pass(people):
    venues = gpd.GeoSeries([*people.geometry.dropna().iloc[:100], *PLACES.geometry], crs=4326)
    ddf, reads = counted(people)
    with dask.config.set(scheduler="synchronous"):
        lazily(ddf, 4, keep="all", round_to=PLACES, prior=PLACES, **COLUMNS)
        assert reads == [0, 1]
        reads.clear()
        lazily(ddf, 4, round_to=venues)  # at which all locations of the first partition are: one pass tells
        assert sorted(reads) == [0, 0, 1, 1, 2, 3, 4]


def test_each_partition_has_a_stream_of_its_own():
    same = gpd.GeoDataFrame(geometry=gpd.points_from_xy(np.full(60, 139.7), 35.7), crs=4326)
    out = here(lazily(dask_geopandas.from_geopandas(same, npartitions=3), 4))
    assert len(set(out.geometry.to_wkt())) == 60


def test_a_partition_that_changed_is_drawn_anew(people):
    people = people.dropna()
    moved = people.copy()
    moved.iloc[7, moved.columns.get_loc("geometry")] = shapely.Point(139.7, 35.7)
    renamed = people.assign(person=people["person"].replace("p7", "p0"))
    now = [people]
    ddf = dd.from_delayed([dask.delayed(lambda: now[0], pure=False)()], meta=people[:0], verify_meta=False)
    private = lazily(ddf, 4, "tracs-c", unit="trajectory", shuffle=True, **COLUMNS)
    before = here(private)
    for now[0] in (moved, renamed):
        assert not here(private).geometry.geom_equals(before.geometry).any()
    now[0] = people
    assert_geodataframe_equal(here(private), before)


def test_rows_in_another_order_do_not_tell_their_differences(people):
    """With the same draws at a position, nearly all reports of tracs-c would differ by what the locations differ."""
    now = [people.dropna()]
    ddf = dd.from_delayed([dask.delayed(lambda: now[0], pure=False)()], meta=people[:0], verify_meta=False)
    private = lazily(ddf, 12, "tracs-c")
    first, now[0] = (now[0], here(private)), now[0][::-1]
    second = now[0], here(private)
    real, reported = (a.geometry.x.to_numpy() - b.geometry.x.to_numpy() for a, b in zip(first, second, strict=True))
    assert np.mean(np.abs(real - reported) < 1e-6) < 0.01


def test_lines_that_share_their_points_differently_are_drawn_anew():
    points = np.random.default_rng(0).uniform((139.6, 35.6), (139.8, 35.8), (5, 2))
    one, other = (gpd.GeoSeries([shapely.LineString(p) for p in np.split(points, [k])], crs=4326) for k in (2, 3))
    now = [one.to_frame("geometry")]
    meta = now[0][:0]
    ddf = dd.from_delayed([dask.delayed(lambda: now[0], pure=False)()], meta=meta, verify_meta=False)
    private = lazily(ddf, 4, "tracs-c")
    before = shapely.get_coordinates(here(private).geometry)
    now[0] = other.to_frame("geometry")
    assert not (shapely.get_coordinates(here(private).geometry) == before).any()


def test_categories_of_a_release_are_not_known(people):
    categories = people.assign(person=people["person"].astype("category"))
    private = lazily(dask_geopandas.from_geopandas(categories, npartitions=4), 4, **COLUMNS)
    assert not private["person"].cat.known
    codes = private["person"].cat.as_known().cat.codes.compute()
    assert codes.nunique() == 20


def with_geometries(part):
    return gpd.GeoDataFrame(part[["person"]], geometry=gpd.GeoSeries.from_wkb(part["geometry"]), crs=4326)


def test_small_files_that_dask_joins(people, tmp_path):
    people = people.dropna().assign(note="a long text that is not read, so that dask joins files")
    for number, part in enumerate(np.array_split(np.arange(len(people)), 40)):
        people.iloc[part].to_parquet(tmp_path / f"part.{number:02}.parquet")
    columns = ["person", "geometry"]
    meta = with_geometries(people[:0].to_wkb()[columns])
    ddf = dd.read_parquet(tmp_path)[columns].map_partitions(with_geometries, meta=meta)
    assert len(ddf.to_delayed()) < ddf.npartitions
    private = lazily(ddf, 4, trajectory="person")
    assert len(here(private)) == len(people)
    assert_geodataframe_equal(here(private), private.compute(scheduler="threads"))


def test_the_same_distribution_as_a_frame_and_a_file(tmp_path):
    """The chance that any of these two-sample tests is below 1e-5 is 4e-4; the seeds are fixed."""
    n, length = 3000, 3
    track = [(139.55, 35.6), (139.6, 35.8), (139.85, 35.55)]
    frame = gpd.GeoDataFrame(
        {"person": np.arange(n) // length}, geometry=[shapely.Point(xy) for xy in track * (n // length)], crs=4326
    )
    frame.to_parquet(tmp_path / "in.parquet")
    ddf = dask_geopandas.from_geopandas(frame, npartitions=4)
    for method in METHODS:
        arguments = {"trajectory": "person", "domain": TOKYO, "keep": [], **places_for(method)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            once = geotracs.perturb(frame, 2, method, rng=1, **arguments)
            geotracs.perturb_file(
                tmp_path / "in.parquet", tmp_path / "out.parquet", 2, method,
                rng=2, batch_rows=700, overwrite=True, **arguments,
            )  # fmt: skip
            lazy = here(ddf.tracs.perturb(2, method, rng=3, shuffle=False, **arguments))
        for other in (files.read(tmp_path / "out.parquet"), lazy):
            for step in range(length):
                a, b = once.geometry[step::length], other.geometry[step::length]
                for coordinate in ("x", "y"):
                    p = stats.ks_2samp(getattr(a, coordinate), getattr(b, coordinate)).pvalue
                    assert p > 1e-5, (method, step, coordinate)


# Whole trajectories


@pytest.mark.parametrize("arguments", [{"method": "tracs-d"}, {"unit": "trajectory"}, {"method": "ngram"}])
def test_trajectories_over_several_partitions_are_refused(people, arguments):
    arguments = {**COLUMNS, **arguments, **({"round_to": PLACES} if arguments.get("method") == "ngram" else {})}
    ddf = dask_geopandas.from_geopandas(people, npartitions=7)
    with pytest.raises(InputError, match="shuffle=True"):
        lazily(ddf, 4, **arguments)
    with pytest.raises(InputError, match="spread over several partitions"):
        lazily(ddf, 4, shuffle=False, **arguments)
    with pytest.raises(InputError, match="give `trajectory`"):
        here(lazily(ddf, 4, **{**arguments, "trajectory": None, "time": None}))


@pytest.mark.parametrize("other", ["float64", str])
def test_labels_of_several_types_are_refused_or_brought_together(people, other):
    """Equal labels have other keys there: half a trajectory would count as a whole one, with all of its epsilon."""
    people["person"] = np.repeat(np.arange(10), 40)
    parts = [people[::2], people[1::2].astype({"person": other})]
    for these in (parts, parts[::-1]):
        ddf = dd.from_delayed([dask.delayed(part) for part in these], meta=these[0][:0], verify_meta=False)
        with pytest.raises(InputError, match="'person' is not of the same type in all partitions"):
            lazily(ddf, 4, unit="trajectory", shuffle=False, **COLUMNS)
        shuffled = lazily(ddf, 4, unit="trajectory", shuffle=True, **COLUMNS)
        if other is str:
            with pytest.raises(InputError, match="'person' is not of the same type in all partitions"):
                here(shuffled)
            continue
        homes = [set(part["person"]) for part in dask.compute(*shuffled.to_delayed(), scheduler="synchronous")]
        assert sum(map(len, homes)) == len(set.union(*homes)) == 10


def test_labels_whose_equals_dask_does_not_know_are_refused(people):
    """Half a trajectory would be taken for a whole one, with all of its epsilon."""
    times = pd.Series(pd.date_range("2026-01-01", periods=10)).dt.as_unit("ns").repeat(40).to_numpy()
    people["person"] = times
    seconds = people[1::2].astype({"person": "datetime64[s]"})
    texts = people.assign(person=people["person"].astype(str))
    for parts in ([people[::2], seconds], [texts[::2].astype({"person": "category"}), texts[1::2]]):
        ddf = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0][:0], verify_meta=False)
        with pytest.raises(InputError, match="'person' is not of the same type in all partitions"):
            here(lazily(ddf, 4, unit="trajectory", shuffle=True, **COLUMNS))


def test_categories_in_another_order_are_brought_together(people):
    names = people["person"].unique()
    parts = [
        people[half::2].assign(person=pd.Categorical(people["person"][half::2], names[:: 1 - 2 * half]))
        for half in (0, 1)
    ]
    ddf = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0][:0], verify_meta=False)
    private = lazily(ddf, 4, unit="trajectory", shuffle=True, **COLUMNS)
    homes = [set(part["person"]) for part in dask.compute(*private.to_delayed(), scheduler="synchronous")]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 20


def test_lines_are_whole(people):
    rng = np.random.default_rng(1)
    shapes = [shapely.LineString(rng.uniform((139.6, 35.6), (139.8, 35.8), (k, 2))) for k in rng.integers(2, 9, 12)]
    ddf = dask_geopandas.from_geopandas(gpd.GeoDataFrame(geometry=shapes, crs=4326), npartitions=3)
    out = here(lazily(ddf, 4, "tracs-d", unit="trajectory"))
    assert shapely.get_num_coordinates(out.geometry).tolist() == [len(shape.coords) for shape in shapes]


# What bad input gets


def test_arguments_are_checked_at_once(ddf):
    for arguments, match in [
        ({"eps": 0}, "`eps` must be"),
        ({"method": "laplace"}, "`method` must be one of"),
        ({"domain": None}, "`domain` must be given"),
        ({"trajectory": "nobody"}, "no column 'nobody'"),
        ({"colour": "red"}, "no option 'colour'"),
        ({"keep": ["nothing"]}, "no column 'nothing'"),
        ({"method": "k-rr"}, "give it with `round_to`"),
        ({"rng": "seed"}, "`rng` must be"),
        ({"workers": 2}, "`workers` has no meaning for a dask frame"),
        ({"progress": True}, "`progress` has no meaning for a dask frame"),
        ({"shuffle": "yes"}, "`shuffle` must be"),
        ({"method": "auto", "unit": "trajectory"}, "how long trajectories are"),
        ({"fit": "best", "unit": "trajectory"}, "how long trajectories are"),
    ]:
        with pytest.raises(InputError, match=match):
            lazily(ddf, **{"eps": 4, **arguments})
    with pytest.warns(PrivacyWarning, match="`rng` is fixed"):
        lazily(ddf, 4, rng=1)


def test_no_crs(people):
    ddf = dask_geopandas.from_geopandas(people.set_crs(None, allow_override=True), npartitions=2)
    with pytest.raises(CRSError, match="no CRS"):
        lazily(ddf, 4)


def test_only_geographic_frames(people):
    plain = dd.from_pandas(pd.DataFrame(people.drop(columns="geometry")), npartitions=2)
    with pytest.raises(AttributeError, match=r"needs a dask_geopandas\.GeoDataFrame"):
        plain.tracs  # noqa: B018


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "nearest"])
def test_an_empty_partition(ddf, people, method):
    half = ddf[ddf["person"].isin(people["person"][:150].unique())]
    private = lazily(half, 4, method, shuffle=False, **COLUMNS, **places_for(method))
    out = private.compute()
    assert len(out) == 160
    assert [len(part) for part in dask.compute(*private.to_delayed())] == [100, 60, 0, 0]
    assert out.geometry.isna().sum() == 2


@pytest.mark.filterwarnings("ignore:Geometry column")
def test_a_partition_that_differs(ddf, people):
    parts = ddf.to_delayed()
    for change, match in [
        (lambda part: part.assign(colour=1), "Partition 1 has the columns"),
        (lambda part: part.drop(columns="speed"), "Partition 1 has the columns"),
        (lambda part: part.to_crs(3857), "Partition 1 is in another CRS"),
        (lambda part: pd.DataFrame(part.assign(geometry=1)), "partition 1 must be a GeoDataFrame"),
    ]:
        odd = dd.from_delayed(
            [parts[0], dask.delayed(change)(parts[1])], meta=ddf._meta, verify_meta=False, divisions=(0, 200, 398)
        )
        with pytest.raises(InputError, match=match):
            lazily(odd, 4).compute()


def test_locations_outside(ddf):
    with pytest.raises(geotracs.DomainError, match="locations lie outside the domain") as caught:
        lazily(ddf, 4, domain=(139.65, 35.65, 139.75, 35.75)).compute()
    assert not re.search(r"139\.[67]\d{3}", str(caught.value))


# The accessor


def test_importing_geotracs_does_not_import_dask():
    code = (
        "import sys, geotracs; assert 'dask' not in sys.modules\n"
        "import dask_geopandas; assert dask_geopandas.GeoDataFrame.tracs.__name__ == 'DaskTracsAccessor'"
    )
    other = "import dask_geopandas, geotracs; assert dask_geopandas.GeoDataFrame.tracs.__name__ == 'DaskTracsAccessor'"
    worker = (
        "import geotracs.release.dask, dask_geopandas\n"
        "assert dask_geopandas.GeoDataFrame.tracs.__name__ == 'DaskTracsAccessor'"
    )
    for text in (code, other, worker):
        subprocess.run([sys.executable, "-c", text], check=True)
