"""A method, a metric and a step of somebody's own: one class each, and one registration."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import geotracs
from geotracs.core.mechanisms import Piecewise
from geotracs.core.methods import METHODS, Method
from geotracs.geo.advise import advise
from geotracs.release import steps
from geotracs.utility.compare import METRICS, Metric
from tests.conftest import TOKYO
from tests.helpers import COLUMNS, perturb, quiet


@dataclass(frozen=True)
class OnlyEast(Method):
    """Report the easting alone, from the middle of the region."""

    name: ClassVar[str] = "only-east"
    window: str = "ogpm"

    @property
    def shares(self):
        return {"x": 1.0}

    def check(self, domain):
        if not isinstance(domain, geotracs.domains.Rectangle):
            raise geotracs.DomainError("only-east needs a rectangle.")

    def report(self, xy, offsets, eps, domain, rng, before=None):
        unit, mechanism = domain.to_unit(xy), Piecewise(eps, self.window)
        unit[:, 0] = mechanism.apply(unit[:, 0], mechanism.draw(len(xy), rng))
        unit[:, 1] = 0.5
        domain.from_unit(unit, out=xy)


def test_a_method_is_one_class_and_one_registration(tracks, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, "only-east", OnlyEast)
    private = perturb(tracks, method="only-east", window="r-sw", **COLUMNS)
    assert np.allclose(private.geometry.y, (TOKYO[1] + TOKYO[3]) / 2)
    assert private.geometry.x.nunique() == len(tracks)
    assert private.tracs.guarantee.options == {"window": "r-sw"}
    tracks.to_parquet(tmp_path / "tracks.parquet")
    arguments = {"domain": TOKYO, "keep": [], "rng": 0, "window": "r-sw", **COLUMNS}
    quiet(geotracs.perturb_file, tmp_path / "tracks.parquet", tmp_path / "out.parquet", 4, "only-east", **arguments)
    assert geotracs.files.read(tmp_path / "out.parquet").geometry.equals(private.geometry)
    assert "only-east" in advise(TOKYO, methods=["only-east", "tracs-c"], optimum=False).index
    with pytest.raises(geotracs.InputError, match="only-east has no option 'k'; its options are"):
        perturb(tracks, method="only-east", k=3)


def test_a_metric_is_one_function_and_one_registration(tracks, monkeypatch):
    def furthest(pair):
        distances = np.hypot(*(pair.after - pair.before).T)
        return np.maximum.reduceat(distances, pair.offsets[:-1])

    monkeypatch.setitem(METRICS, "furthest", Metric("trajectory", furthest))
    private = perturb(tracks, **COLUMNS)
    table = geotracs.compare(tracks, private, metrics=["furthest", "max"], by="trajectory")
    assert np.allclose(table["furthest"], table["max"], rtol=0.01)
    whole = geotracs.compare(tracks, private, metrics="furthest")
    assert whole["furthest"] == pytest.approx(table["furthest"].mean())
    with pytest.raises(geotracs.InputError, match="'trip_length', 'furthest'"):
        geotracs.compare(tracks, private, metrics="nearest")


@dataclass(frozen=True)
class Coarsen:
    """Move reports to a raster of 100 m."""

    side: float

    def __call__(self, batch):
        batch.xy = np.round(batch.xy / self.side) * self.side


def coarsen(setting):
    return Coarsen(100 / setting.region.crs.axis_info[0].unit_conversion_factor)


@pytest.mark.parametrize("method", ["joint", "tracs-d"])
def test_a_step_is_one_class_and_one_registration(tracks, monkeypatch, method):
    flat, box = tracks.to_crs(32654), (360_000, 3_930_000, 410_000, 3_980_000)
    plain = perturb(flat, method=method, domain=box, **COLUMNS)
    monkeypatch.setattr(steps, "AFTER_THE_DRAW", [*steps.AFTER_THE_DRAW, coarsen])
    coarse = perturb(flat, method=method, domain=box, **COLUMNS)
    before, after = (frame.geometry.get_coordinates().to_numpy() for frame in (plain, coarse))
    assert np.array_equal(after, np.round(before / 100) * 100)
