"""One browser for all tests of pages, and what they open in it."""

import pytest

import geotracs
from tests.browser import chromium


@pytest.fixture(scope="session")
def browser():
    if chromium.missing():
        pytest.skip(chromium.missing())
    with chromium.running() as running:
        yield running


@pytest.fixture(scope="session")
def city():
    return geotracs.datasets.sample_city(people=3, seed=2)


@pytest.fixture(scope="session")
def private(city):
    return city.tracks.tracs.perturb(6, "tracs-d", domain=city.boundary, trajectory="person", time="t", keep=["mode"])


@pytest.fixture
def show(browser, tmp_path):
    """Save a map, open it, and check in the end that nothing went wrong on the page."""
    opened = []

    def open_(map_, **options):
        path = tmp_path / f"{len(opened)}.html"
        map_.get_root().save(path)
        opened.append(chromium.Opened(browser, path, **options))
        return opened[-1]

    yield open_
    for page in opened:
        assert page.errors == []
        page.page.close()
