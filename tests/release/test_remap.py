"""Remap as an argument of a release: the same everywhere, on record, and post-processing only."""

import geopandas as gpd
import numpy as np
import pytest

import geotracs
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError
from geotracs.geo.originals import Originals
from geotracs.geo.tracks import read
from geotracs.release import again
from geotracs.release import plan as plans
from geotracs.release.request import Request
from geotracs.release.steps import Draw, Enter, Leave, Move, Project, Round
from tests.conftest import TOKYO
from tests.core.domains.shapes import SHAPES
from tests.helpers import COLUMNS, perturb, quiet

POINTS = gpd.GeoSeries(gpd.points_from_xy(*np.random.default_rng(4).uniform(TOKYO[:2], TOKYO[2:], (50, 2)).T), crs=4326)


def plan_of(frame, eps=1, method="tracs-c", **arguments):
    request = Request.of(eps, method, **{"domain": TOKYO, "keep": [], **COLUMNS} | arguments)
    lengths = read(frame, "person", "t", grouped=False).lengths
    return quiet(plans.make, request, frame, data=Originals.of(frame.geometry), lengths=lengths)


def test_it_is_a_step_between_the_draw_and_the_region(tracks):
    steps = plan_of(tracks, remap=True, round_to=POINTS).steps
    assert [type(step) for step in steps] == [Enter, Draw, Move, Project, Round, Leave]


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "joint"])
def test_it_moves_the_same_draws_nearer(tracks, method):
    plain, remapped = (perturb(tracks, 0.5, method, remap=remap, **COLUMNS) for remap in (False, True))
    assert not plain.geometry.equals(remapped.geometry)
    west, south, east, north = TOKYO
    assert remapped.geometry.x.between(west, east).all()
    assert remapped.geometry.y.between(south, north).all()
    assert np.ptp(remapped.geometry.x) < np.ptp(plain.geometry.x)
    within = remapped.tracs.guarantee.remap["within"]
    assert 0 < within <= 0.01
    assert remapped.tracs.guarantee.remap == {"prior": "uniform", "kept": True, "within": within}
    assert "remapped by a public table for a public prior (uniform)" in str(remapped.tracs.guarantee)
    assert Guarantee.from_attrs(remapped.attrs) == remapped.tracs.guarantee


def test_what_is_not_kept_changes_nothing_and_is_on_record(tracks):
    plain, remapped = (perturb(tracks, 9, "tracs-d", remap=remap, **COLUMNS) for remap in (False, True))
    assert plain.geometry.equals(remapped.geometry)
    assert remapped.tracs.guarantee.remap == {"prior": "uniform", "kept": False}
    assert "remap" not in plain.attrs["tracs"]
    assert Move not in [type(step) for step in plan_of(tracks, 9, "tracs-d", remap=True).steps]


def test_it_takes_priors(tracks):
    own = perturb(tracks, 0.5, remap=POINTS, **COLUMNS).tracs.guarantee
    assert (own.remap["prior"], own.remap["kept"]) == ("points", True)
    same = perturb(tracks, 0.5, remap=True, prior=POINTS, **COLUMNS).tracs.guarantee
    assert same.remap["prior"] == "points"
    areas = perturb(tracks, 0.5, remap=POINTS.to_crs(32654).buffer(3000).to_crs(4326), **COLUMNS).tracs.guarantee
    assert areas.remap["prior"] == "areas"


def test_in_a_polygon_reports_stay_inside(tracks):
    shape = SHAPES["L"]
    private = perturb(tracks, 1, "tracs-d", domain=shape, outside="clip", remap=True, **COLUMNS)
    assert private.geometry.intersects(shape.buffer(1e-9)).all()


def test_the_channel_of_a_plan_knows_it(tracks):
    plan = plan_of(tracks, remap=True, round_to=POINTS)
    assert plan.channel.release.remap is plan.remap
    secret = plan.region.domain.spread(1)
    assert plan.channel.density(np.arange(len(POINTS)), secret, nodes=512).sum() == pytest.approx(1)


@pytest.mark.parametrize("unit", ["location", "trajectory"])
def test_files_and_frames_agree(tracks, tmp_path, unit):
    private = perturb(tracks, 2, remap=True, unit=unit, **COLUMNS)
    tracks.to_parquet(tmp_path / "tracks.parquet")
    given = {"domain": TOKYO, "keep": [], "rng": 0, "remap": True, "unit": unit, **COLUMNS}
    quiet(geotracs.perturb_file, tmp_path / "tracks.parquet", tmp_path / "out.parquet", 2, "tracs-c", **given)
    written = geotracs.files.read(tmp_path / "out.parquet")
    assert written.geometry.equals(private.geometry)
    assert written.tracs.guarantee.remap == private.tracs.guarantee.remap


@pytest.mark.parametrize("unit", ["location", "trajectory"])
def test_places_are_moved_to_places(tracks, tmp_path, unit):
    """The same draws, the same in a file, and the channel that is built again from the record knows it."""
    given = {"method": "k-rr", "round_to": POINTS, "unit": unit, **COLUMNS}
    plain, remapped = (perturb(tracks, 0.5, remap=remap, **given) for remap in (False, True))
    every = {(point.x, point.y) for point in POINTS}
    assert {(point.x, point.y) for point in remapped.geometry} < every
    assert remapped.geometry.nunique() < plain.geometry.nunique()
    assert remapped.tracs.guarantee.remap == {"prior": "places", "kept": True}
    tracks.to_parquet(tmp_path / "tracks.parquet")
    options = {"domain": TOKYO, "keep": [], "rng": 0, "remap": True, **given}
    quiet(geotracs.perturb_file, tmp_path / "tracks.parquet", tmp_path / "out.parquet", 0.5, **options)
    assert geotracs.files.read(tmp_path / "out.parquet").geometry.equals(remapped.geometry)


def test_the_channel_over_places_is_built_again(tracks):
    remapped = perturb(tracks, 0.5, "k-rr", round_to=POINTS, remap=True, **COLUMNS)
    found = again.setting(remapped.tracs.guarantee, remapped.crs, np.array([0.5]), domain=TOKYO, round_to=POINTS)
    seen = found.channel.density(np.arange(len(POINTS)), found.region.domain.spread(1))[0]
    assert seen.sum() == pytest.approx(1)
    moved = np.unique(
        plan_of(tracks, 0.5, "k-rr", round_to=POINTS, remap=True).remap.moved(np.arange(len(POINTS)), 0.5)
    )
    assert np.array_equal(np.flatnonzero(seen > 0), moved)


def test_what_is_refused(tracks):
    with pytest.raises(InputError, match="`remap` must be True, False, or a public prior"):
        perturb(tracks, remap="yes")
    with pytest.raises(InputError, match=r"`remap` needs the probabilities of each report, and those of atp"):
        perturb(tracks, method="atp", round_to=POINTS, remap=True)
    with pytest.raises(InputError, match=r"`remap` needs the density .* optimal has none"):
        perturb(tracks, method="optimal", remap=True)
    with pytest.raises(InputError, match="`remap` has no point inside the domain"):
        perturb(tracks, remap=POINTS.translate(30))
