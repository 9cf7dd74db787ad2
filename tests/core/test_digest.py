import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import PrivacyWarning, files
from geotracs.core.digest import LOWEST, Digest
from geotracs.utility.compare import standing
from tests.conftest import TOKYO

ARGUMENTS = {"domain": TOKYO, "trajectory": "person", "time": "t", "keep": []}


@pytest.fixture
def private(tracks):
    return geotracs.perturb(tracks, 4, **ARGUMENTS)


def test_pieces_add_up_in_any_order():
    xy = np.random.default_rng(1).random((1000, 2))
    whole = Digest.of(xy)
    pieces = sum((Digest.of(part) for part in np.array_split(xy[::-1], 7)), Digest())
    assert pieces.to_record() == whole.to_record()
    assert Digest.from_record(whole.to_record()).compare(xy) == "same"
    assert len(Digest.from_record(whole.to_record()).lowest) == LOWEST
    assert Digest.of(-np.zeros((1, 2))).to_record() == Digest.of(np.zeros((1, 2))).to_record()
    assert Digest().compare(np.zeros((0, 2))) == "same"


@pytest.mark.parametrize("n", [5, 10_000])
def test_parts_are_told_from_foreign_locations(n):
    """Exact but for one in 50 that is foreign, which passes with 0.6%; the seed is fixed."""
    rng = np.random.default_rng(2)
    xy = rng.random((n, 2))
    digest = Digest.of(xy)
    for _ in range(20):
        part = xy[rng.random(n) < 0.5]
        assert digest.compare(part) == ("same" if len(part) == n else "part")
    assert digest.compare(rng.random((n, 2))) == "other"
    assert digest.compare(np.concatenate([xy, xy[:1]])) == "other"
    assert digest.compare(xy + 1e-9) == "other"
    assert digest.compare(rng.random((max(n // 50, 1), 2))) == "other"
    half = xy.copy()
    half[: n // 2 + 1] = rng.random((n // 2 + 1, 2))
    assert digest.compare(half) == "other"


def test_a_frame_of_as_many_locations_is_no_part():
    reports = np.random.default_rng(3).random((10_000, 2))
    whole = Digest.of(reports)
    reports[0] += 1e-3
    assert whole.compare(reports) == "other"


def test_a_release_is_recognised_whatever_is_done_to_its_rows(private, tmp_path):
    assert standing(private) == "same"
    assert standing(private.sample(frac=1, random_state=1).reset_index(drop=True)) == "same"
    assert standing(private[private["person"] == "ann"]) == "part"
    assert standing(private.to_crs(3857)) == "unknown"
    for name in ("p.parquet", "p.gpkg"):
        files.write(private.reset_index(drop=True), tmp_path / name)
        assert standing(files.read(tmp_path / name)) == "same"
    assert private[private["person"] == "ann"].tracs.guarantee == private.tracs.guarantee


def test_originals_in_a_release_are_noticed(private, tracks):
    swapped = private.set_geometry(tracks.geometry)
    assert swapped.attrs["tracs"] == private.attrs["tracs"]
    assert standing(swapped) == "other"
    with pytest.warns(PrivacyWarning, match="not those that perturb"):
        swapped.tracs.guarantee  # noqa: B018
    some = private.copy()
    some.loc[some["person"] == "ann", "geometry"] = tracks.geometry[tracks["person"] == "ann"]
    with pytest.warns(PrivacyWarning, match="not those that perturb"):
        some.tracs.guarantee  # noqa: B018


@pytest.mark.parametrize("method", ["joint", "tracs-d"])
@pytest.mark.parametrize("lines", [False, True])
def test_streamed_releases_have_the_digest_of_what_was_written(tracks, tmp_path, method, lines):
    tracks = tracks.sort_values(["person", "t"]).reset_index(drop=True)
    arguments = ARGUMENTS
    if lines:
        tracks = gpd.GeoDataFrame(
            tracks.groupby("person")["geometry"].agg(lambda p: shapely.LineString(list(p))).reset_index(),
            crs=4326,
        )
        arguments = ARGUMENTS | {"time": None}
    tracks.to_parquet(tmp_path / "in.parquet")
    guarantee = geotracs.perturb_file(
        tmp_path / "in.parquet", tmp_path / "out.parquet", 4, method, batch_rows=2 if lines else 7, **arguments
    )
    back = gpd.read_parquet(tmp_path / "out.parquet")
    assert guarantee.digest["count"] == 60
    assert standing(back) == "same"


def test_records_without_a_digest_or_with_a_wrong_one_are_read(private):
    for wrong in (None, {}, {"crs": "EPSG:4326"}, {"crs": "EPSG:4326", "count": 1, "sum": "xyz", "lowest": ""}):
        frame = private.copy()
        frame.attrs = {"tracs": private.attrs["tracs"] | {"digest": wrong}}
        assert standing(frame) == "unknown"
        assert frame.tracs.guarantee.epsilon == 4
    assert standing(gpd.GeoDataFrame(geometry=[], crs=4326)) == "unknown"
    assert pd.concat([private.iloc[:5], private.iloc[5:]]).attrs == private.attrs


def test_too_few_locations_cannot_be_told():
    rng = np.random.default_rng(3)
    digest = Digest.of(rng.random((100_000, 2)))
    answers = [digest.compare(rng.random((10, 2))) for _ in range(1000)]
    assert set(answers) == {"unknown", "other"}
