import numpy as np
import pytest
import shapely

from geotracs.answers.bins import Cells, Places
from geotracs.answers.preimages import Preimages
from geotracs.core.domains import Polygon, Rectangle
from geotracs.core.methods import Reports, make
from geotracs.core.places import Points

CORNER = Polygon(shapely.Polygon([(0, 0), (20, 0), (20, 8), (8, 8), (8, 20), (0, 20)]))
SECRETS = CORNER.spread(60)


@pytest.mark.parametrize("before", [None, (3.0, 4.0)])
def test_likelihoods_inside_are_the_exact_densities(before):
    channel = make("tracs-d").on(Rectangle(0, 0, 20, 20), None, 4.0)
    draws = Preimages(channel, Cells(channel.release, (16, 16)), 4.0)
    report = np.array([6.0, 5.0])
    label = int(draws.label(Reports(report[None], None))[0])
    found = draws.likelihood((label, report), None if before is None else (-1, np.array(before)), SECRETS, 4.0)
    np.testing.assert_allclose(found, channel.density(report[None], SECRETS, before=before)[:, 0])


@pytest.mark.parametrize("places", [None, Points(SECRETS[:12])], ids=["projected", "rounded"])
def test_what_was_moved_has_nearly_the_density_of_the_release(places):
    channel = make("tracs-d").on(CORNER, places, 4.0)
    bins = Cells(channel.release, (10, 10)) if places is None else Places(12)
    draws = Preimages(channel, bins, 4.0)
    report = np.array([14.0, 8.0]) if places is None else SECRETS[5]
    known = channel.release.known(report[None])
    label = int(draws.label(known)[0])
    assert label >= 0
    found = draws.likelihood((label, report), None, SECRETS, 4.0)
    exact = channel.density(report[None], SECRETS)[:, 0]
    found, exact = found / found.sum(), exact / exact.sum()
    assert np.abs(found - exact).sum() < (0.3 if places is None else 0.1)  # pieces of the border are longer here
    assert np.corrcoef(found, exact)[0, 1] > 0.97


def test_two_reports_at_the_same_piece_of_the_border_have_finite_likelihoods():
    """Their draws are taken from the same points, and a density is infinite at its own reference."""
    channel = make("tracs-d").on(CORNER, None, 4.0)
    draws = Preimages(channel, Cells(channel.release, (10, 10)), 4.0)
    report = np.array([14.0, 8.0])
    label = int(draws.label(channel.release.known(report[None]))[0])
    found = draws.likelihood((label, report), (label, report), SECRETS, 4.0)
    assert np.isfinite(found).all()
    assert found.max() > 0
