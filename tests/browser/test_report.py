"""The report in a real browser: it needs nothing else, fits a phone, can be read in the dark, and is printed."""

import pytest

import geotracs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    city = geotracs.datasets.sample_city(people=5, seed=1)
    box = city.boundary.total_bounds
    private = city.tracks.tracs.perturb(4, domain=box, trajectory="person", time="t", keep=[])
    risk = geotracs.risk(box, 4, interval=60, people=5, fixes=16, cells=16)
    path = tmp_path_factory.mktemp("report") / "report.html"
    private.tracs.report(path, person="person", risk=risk, audit=geotracs.audit("joint", 4, box, checks=["exact"]))
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_stands_alone_and_fits(browser, path, scheme, width):
    page, asked, errors = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.goto(path.resolve().as_uri())
    assert asked == [path.resolve().as_uri()]
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("svg.map circle").count() == 2
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (shade == "rgb(255, 255, 255)") == (scheme == "light")
    page.close()


def test_it_is_printed_on_a_few_pages_in_dark_ink(browser, path):
    page = browser.new_page(color_scheme="dark")
    page.goto(path.resolve().as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    printed = page.pdf(prefer_css_page_size=True)
    assert 3 <= printed.count(b"/Type /Page\n") <= 9
    page.close()
