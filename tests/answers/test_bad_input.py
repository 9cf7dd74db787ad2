"""Releases from which flows, lengths and made-up trips cannot be estimated, or that say next to nothing."""

import geopandas as gpd
import numpy as np
import pytest
import shapely

import geotracs.answers.flows as flows_
import geotracs.answers.lengths as lengths_
import geotracs.answers.trips as trips
from geotracs import InputError, flows, lengths, synthesize
from tests.answers.test_flows import BOX, CRS, HEIGHT, WIDTH, counted, grid, people, release
from tests.helpers import quiet

ANSWERS = {
    "flows": lambda frame, **layers: flows(frame, grid(2, 1), **layers),
    "lengths": lambda frame, **layers: lengths(frame, bins=[0, 5000, 50_000], **layers),
    "synthesize": lambda frame, **layers: synthesize(frame, 200, seed=1, cells=4, **layers),
}
TRIANGLE = gpd.GeoSeries([shapely.Polygon([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT)])], crs=CRS)


@pytest.fixture(params=ANSWERS)
def answer(request, monkeypatch):
    """One of the answers, with few states: it is not about how good it is."""
    monkeypatch.setattr(flows_, "SQUARES", 10)
    monkeypatch.setattr(lengths_, "SQUARES", 8)
    monkeypatch.setattr(trips, "FINE", 20)
    monkeypatch.setattr(trips, "CELLS", (16, 4, 1))
    return lambda frame, **layers: quiet(ANSWERS[request.param], frame, **layers)


@pytest.fixture(scope="module")
def tracks():
    return people(150)


@pytest.fixture(scope="module")
def private(tracks):
    return release(tracks)


def test_what_is_no_release(answer, tracks, private):
    with pytest.raises(InputError, match="no record"):
        answer(tracks)
    moved = private.set_geometry(private.translate(1.0))
    moved.attrs = private.attrs
    with pytest.raises(InputError, match="not those that perturb"):
        answer(moved)
    with pytest.raises(InputError, match="`domain` is not the region"):
        answer(private, domain=(0.0, 0.0, WIDTH, 2 * HEIGHT))


def test_the_layers_of_the_release_are_needed_and_no_others(answer, tracks):
    clipped = release(tracks, domain=TRIANGLE, outside="clip")
    with pytest.raises(InputError, match="give the one that it was made with as `domain`"):
        answer(clipped)
    with pytest.raises(InputError, match="`domain` is not the region"):
        answer(clipped, domain=TRIANGLE.scale(0.9))


def test_too_few(answer, tracks):
    with pytest.raises(InputError, match=r"[Aa]t least 100"):
        answer(release(tracks[tracks["person"] < 99]))


def test_everybody_at_one_place(answer, tracks):
    """Their reports are all over the region, and most of what is estimated is near that place, or makes no way."""
    still = tracks.set_geometry(gpd.points_from_xy(np.full(600, 8000.0), np.full(600, 9000.0)), crs=CRS)
    found = answer(release(still, 8))
    if "start" in found:
        assert found["share"].iloc[0] > 0.8
    elif "share" in found:
        assert found["share"].to_numpy() == pytest.approx(counted(still, grid(2, 1), "ends"), abs=0.15)
    else:
        assert np.mean(found.length < 0.4 * WIDTH) > 0.8


@pytest.mark.parametrize("eps", [1e-6, 600.0])
def test_epsilons_that_tell_nothing_or_all(answer, tracks, eps):
    """With next to no epsilon an interval says that it may be anything; with a large one it is what happened."""
    found = answer(release(tracks, eps))
    if "low" not in found:
        assert shapely.box(*BOX).buffer(1).contains(found.geometry).all()
        return
    truth = counted(tracks, grid(2, 1), "ends") if "origin" in found else None
    if eps < 1:
        assert (found["high"] - found["low"]).max() > 0.4
    elif truth is not None:
        assert found["share"].to_numpy() == pytest.approx(truth, abs=0.05)
    if truth is not None:
        assert np.all((found["low"] <= truth) & (truth <= found["high"]))


def test_times_out_of_order_make_no_difference(answer, tracks, private):
    """Rows are read in the order of time, whatever order they come in."""
    mixed = private.sample(frac=1, random_state=1)
    one, other = answer(private), answer(mixed)
    for name in ("share", "low", "high"):
        if name in one:
            assert other[name].to_numpy() == pytest.approx(one[name].to_numpy(), abs=1e-9)
    assert len(one) == len(other)
