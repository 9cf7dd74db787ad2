import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from geotracs.answers.reader import Reader
from geotracs.answers.states import PlaceStates
from geotracs.errors import InputError
from tests.helpers import quiet

BOX = (0.0, 0.0, 20_000.0, 10_000.0)
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def tracks():
    n = 240
    xy = RNG.random((n, 2)) * [20_000, 10_000]
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(RNG.permutation(n), unit="min")
    frame = {"person": np.arange(n) % 7, "t": times, "budget": 1.0 + np.arange(n) % 3}
    return gpd.GeoDataFrame(frame, geometry=gpd.points_from_xy(*xy.T), crs=32633)


def perturb(tracks, *args, **kwargs):
    return quiet(tracks.tracs.perturb, *args, trajectory="person", time="t", keep=[], rng=5, domain=BOX, **kwargs)


def test_reports_are_read_trajectory_after_trajectory(tracks):
    private = perturb(tracks, 4)
    reader = Reader.of(private)
    ordered = private.sort_values(["person", "t"], kind="stable")
    # trajectories are numbered as they first appear, which is by person here
    np.testing.assert_allclose(reader.xy, shapely.get_coordinates(ordered.geometry.values))
    assert len(reader.offsets) == 8
    np.testing.assert_allclose(np.diff(reader.times), np.diff(ordered.t.astype("datetime64[ns]").astype("int64")) / 1e9)


def test_epsilons_are_those_of_the_release(tracks):
    whole = Reader.of(perturb(tracks, 70, unit="trajectory"))
    np.testing.assert_allclose(whole.eps, 70 / np.repeat(np.diff(whole.offsets), np.diff(whole.offsets)), rtol=1e-9)
    own = Reader.of(perturb(tracks, "budget"))
    assert own.levels.tolist() == [1.0, 2.0, 3.0]
    assert len(own.observed(own.states())) == 3


def test_counts_are_all_reports_and_likelihoods_those_of_their_bins(tracks):
    reader = Reader.of(perturb(tracks, 4))
    states = reader.states()
    (seen,) = reader.observed(states)
    assert seen.total == len(tracks)
    exact = reader.likelihood(states, np.arange(20))
    labels = reader.bins(states).label(reader.reports)[:20]
    binned = seen.operator.rows(labels)
    close = np.abs(exact / exact.sum(axis=1, keepdims=True) - binned / binned.sum(axis=1, keepdims=True)).sum(axis=1)
    assert close.mean() < 0.2  # a bin is a quarter of a window wide


def test_a_method_that_looks_back_has_a_bin_for_each_report(tracks):
    reader = Reader.of(perturb(tracks, 4, method="tracs-d"))
    states = reader.states()
    (seen,) = reader.observed(states)
    assert seen.operator.shape == (len(tracks), states.count)
    expected = reader.channel.density(reader.xy[3:4], states.xy, before=reader.xy[2])[:, 0]
    np.testing.assert_allclose(seen.operator.dense()[3], expected)


def test_places_are_states_where_they_are_what_is_reported(tracks):
    places = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*(RNG.random((30, 2)) * [20_000, 10_000]).T), crs=32633)
    reader = Reader.of(perturb(tracks, 4, method="nearest", round_to=places), round_to=places)
    states = reader.states()
    assert isinstance(states, PlaceStates)
    assert states.count == 30


def test_cells_are_narrow_beside_a_window_or_as_asked(tracks):
    reader = Reader.of(perturb(tracks, 8))
    cell = reader.size / max(reader.states().shape)
    assert cell <= reader.resolution() / 4 * 1.1
    assert reader.size / max(reader.states(cell=100.0).shape) <= 101
    assert max(reader.states(side=10).shape) == 10


def test_another_crs_makes_no_difference(tracks):
    private = perturb(tracks, 4)
    np.testing.assert_allclose(Reader.of(private.to_crs(4326)).xy, Reader.of(private).xy, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda frame: frame.assign(geometry=frame.translate(1.0)), "not those that perturb"),
        (lambda frame: gpd.GeoDataFrame(frame, geometry=frame.geometry.values), "no record"),
        (lambda frame: frame.drop(columns="person"), "no column 'person'"),
    ],
)
def test_what_is_no_release_raises(tracks, change, match):
    changed = change(perturb(tracks, 4))
    if match == "no record":
        changed.attrs = {}
    with pytest.raises(InputError, match=match):
        Reader.of(changed)


def test_a_part_of_a_release_is_read_unless_epsilons_depend_on_the_rest(tracks):
    assert len(Reader.of(perturb(tracks, 4).iloc[:100]).xy) == 100
    with pytest.raises(InputError, match="part of a release"):
        Reader.of(perturb(tracks, 70, unit="trajectory").iloc[:100])
