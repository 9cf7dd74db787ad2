"""Maps of answers in a real browser: drawn, without an error, and without a request beside originals."""

import pytest

from tests.browser.test_maps import PATHS
from tests.views import toys

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def private(city):
    return toys.released(city.tracks, city.boundary)


def test_densities_side_by_side_move_together(show, city, private):
    zones = toys.cells(city.boundary.total_bounds, 4)
    estimate = toys.density(zones, city.tracks, private)
    row = estimate.tracs.explore(private, truth=city.tracks, view="side-by-side", domain=city.boundary, offline=True)
    page = show(row, blocked=True)
    unclear = int((estimate.share < 0.2).sum())
    assert page.count(".leaflet-container") == 3
    assert page.count(PATHS) == 3 * (1 + len(zones)) + unclear
    page.switch("uncertainty")
    assert page.count(PATHS) == 3 * (1 + len(zones)) + unclear + len(zones)
    assert page.page.locator(".tracs-caption").is_visible()
    maps = "Object.values(window).filter(o => o instanceof L.Map)"
    page.page.evaluate(f"{maps}[2].setZoom({maps}[2].getZoom() + 1, {{animate: false}})")
    page.page.wait_for_timeout(300)
    assert len(set(page.page.evaluate(f"{maps}.map(m => m.getZoom())"))) == 1
    assert page.requests == []


def test_flows_say_their_interval(show, private):
    page = show(toys.flows(private).tracs.explore(tiles=None))
    assert page.count(PATHS) == 2
    page.page.locator(PATHS).last.dispatch_event("mouseover")
    assert "30.00%" in page.page.locator(".leaflet-tooltip").inner_text()
    page.switch("unclear flows")
    assert page.count(PATHS) == 3


def test_tracks_in_their_tubes(show, city, private):
    found = toys.reconstructed(city.tracks, private)
    page = show(found.tracs.explore(private, truth=city.tracks, domain=city.boundary, offline=True), blocked=True)
    assert page.count(PATHS) == 1 + 3 + 2 * (len(city.tracks) + 3)
    page.switch("radius")
    assert page.count(PATHS) == 1 + 2 * (len(city.tracks) + 3)
    assert page.requests == []
