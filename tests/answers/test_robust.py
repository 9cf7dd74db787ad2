import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs import GeotracsWarning, InputError
from geotracs.answers.density import density
from geotracs.experiments.answers import made_up_city
from geotracs.experiments.poisoning import attacked
from tests.answers.test_density import BOX, CELLS, perturb, points, town
from tests.helpers import quiet


@pytest.mark.slow
@pytest.mark.parametrize("eps", [2.0, 8.0])
def test_intervals_hold_what_the_estimate_would_be_without_an_attack(eps):
    """The estimator itself is attacked in seven ways in its largest cell, and its intervals still hold the truth."""
    found = attacked(made_up_city("two towns"), (eps,), reports=2000, share=0.02, draws=1, targets=1)
    assert len(found) == 7
    assert (found["moved"] > 0.01).any()
    assert (found["held"] == 1).all()
    assert (found["covered"] >= 0.85).all()


def with_more(private, xy):
    """The release with reports that somebody made up, and a record that does not know them."""
    more = points(xy).geometry
    both = gpd.GeoDataFrame(geometry=pd.concat([private.geometry, more], ignore_index=True), crs=private.crs)
    both.attrs["tracs"] = {**private.attrs["tracs"], "digest": None}
    return both


def test_intervals_are_wider_by_what_is_malicious():
    private = perturb(town(), 4)
    plain, one, five = (quiet(density, private, CELLS, robust=robust) for robust in (False, True, 0.05))
    assert "suspicious" not in plain
    assert np.allclose(plain["share"], one["share"])
    assert (one["low"] <= plain["low"]).all()
    assert (one["high"] >= plain["high"]).all()
    assert (five["high"] - five["low"]).sum() > (one["high"] - one["low"]).sum() > (plain["high"] - plain["low"]).sum()
    assert not one["suspicious"].any()
    assert one.attrs["tracs"]["answer"]["malicious"] == 0.01
    assert one.attrs["tracs"]["answer"]["suspicious"] == 0


def test_a_zone_with_reports_that_no_density_explains_is_flagged():
    private = perturb(points(np.random.default_rng(0).uniform(0, 1, (4000, 2)) * BOX[2:]), 2)
    poisoned = with_more(private, np.full((150, 2), 1300.0))
    with pytest.warns(GeotracsWarning) as caught:
        found = density(poisoned, CELLS, robust=0.05)
    assert any("than any density explains" in str(one.message) for one in caught)
    assert found.index[found["suspicious"]].tolist() == [4]
    with pytest.raises(InputError, match="reports are at one place"):  # more than the stated share
        density(poisoned, CELLS, robust=0.01)


def test_a_method_that_looks_back_has_no_flags():
    tracks = town(200, who=np.arange(200) // 20)
    found = quiet(density, perturb(tracks, 8, method="tracs-d", trajectory="who"), CELLS, robust=True)
    assert found["suspicious"].isna().all()
    assert found.attrs["tracs"]["answer"]["suspicious"] is None


@pytest.mark.parametrize("robust", [-0.1, 0.5, "yes", None])
def test_shares_that_are_none(robust):
    with pytest.raises(InputError, match="`robust` must be True, False or the share of malicious reports"):
        density(perturb(town()), CELLS, robust=robust)
