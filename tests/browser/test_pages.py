"""Every view at two sizes, light and dark, without a request: drawn, beside its controls, legible, by keys."""

import pytest

from geotracs.views.maps.explore import DENSITIES
from tests.browser import chromium
from tests.views import toys

pytestmark = pytest.mark.slow

VIEWS = ["overlay", "side-by-side", "time", "person", *DENSITIES]
LOOKS = [((1280, 800), "light"), ((390, 800), "dark")]
COVERED = """() => Object.values(window).filter(o => o instanceof L.Map && o.tracsBounds).flatMap(map => {
    const all = map.getContainer().getBoundingClientRect();
    const [a, b] = map.tracsBounds.map(corner => map.latLngToContainerPoint(corner));
    const data = {left: all.left + a.x, right: all.left + b.x, top: all.top + b.y, bottom: all.top + a.y};
    const outside = data.left < all.left || data.right > all.right || data.top < all.top || data.bottom > all.bottom;
    return [...map.getContainer().querySelectorAll(".leaflet-control")].filter(control => {
        const box = control.getBoundingClientRect();
        return box.width && box.left < data.right - 1 && data.left < box.right - 1
            && box.top < data.bottom - 1 && data.top < box.bottom - 1;
    }).map(control => control.className).concat(outside ? ["outside"] : []);
})"""
"""Controls that cover what is drawn."""
ILLEGIBLE = """() => {
    const parse = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = element => {
        for (; element; element = element.parentElement) {
            const style = getComputedStyle(element), colour = parse(style.backgroundColor);
            if (style.backgroundImage !== "none") return null;
            if (colour.length < 4 || colour[3] > 0.9) return colour;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const element of document.querySelectorAll(".leaflet-control *, .leaflet-control")) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        const box = element.getBoundingClientRect();
        if (!own || !box.width || element.closest("a.leaflet-control-zoom-in, a.leaflet-control-zoom-out")) continue;
        const style = getComputedStyle(element), below = ground(element);
        if (parseFloat(style.fontSize) < 12) found.push("small: " + element.textContent);
        if (!below) continue;
        const [a, b] = [light(parse(style.color)), light(below)].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.push("pale: " + element.textContent);
    }
    return found;
}"""
"""Text below 12 pixels, or with a contrast below 4.5 to what is behind it."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory, city, private):
    """A page of each view, saved once."""
    folder = tmp_path_factory.mktemp("pages")
    saved = {}
    for view in VIEWS:
        map_ = city.tracks.tracs.explore(private, view=view, domain=city.boundary, offline=True)
        saved[view] = folder / f"{view}.html"
        map_.get_root().save(saved[view])
    found = toys.reconstructed(city.tracks, private)
    map_ = found.tracs.explore(private, truth=city.tracks, view="person", domain=city.boundary, offline=True)
    saved["found"] = folder / "found.html"
    map_.get_root().save(saved["found"])
    return saved


@pytest.mark.parametrize("view", [*VIEWS, "found"])
def test_drawn_legible_and_beside_its_controls(browser, pages, view):
    for size, scheme in LOOKS:
        page = chromium.Opened(browser, pages[view], blocked=True, size=size, scheme=scheme)
        assert page.count(".leaflet-overlay-pane path, .leaflet-overlay-pane canvas") > 0
        assert page.page.evaluate(COVERED) == [], (view, size)
        assert page.page.evaluate(ILLEGIBLE) == [], (view, scheme)
        named = page.page.locator(".leaflet-container").first.get_attribute("aria-label")
        assert "geotracs" in named
        assert page.errors == []
        assert page.requests == []
        page.page.close()


@pytest.fixture
def opened(browser, pages):
    """Open a page of these, and check in the end that nothing went wrong."""
    found = []

    def open_(view):
        found.append(chromium.Opened(browser, pages[view], blocked=True))
        return found[-1]

    yield open_
    for page in found:
        assert page.errors == []
        page.page.close()


def test_one_density_at_a_time_by_keys(opened):
    page = opened("density")
    radios = page.page.locator(".leaflet-control-layers-base input")
    fills = "[...document.querySelectorAll('.leaflet-overlay-pane path')].map(p => p.getAttribute('fill')).join()"
    drawn = []
    radios.first.focus()
    for _ in range(4):
        page.page.keyboard.press("Space")
        page.page.wait_for_timeout(100)
        drawn.append(page.page.evaluate(fills))
        page.page.keyboard.press("ArrowDown")
    assert len(set(drawn)) == 4


def test_one_person_is_found_by_name_and_by_keys(opened, city):
    page = opened("found")
    said = page.page.locator(".tracs-people [aria-live]")
    first = said.inner_text()
    assert "off on average" in first
    page.page.keyboard.press("n")
    assert said.inner_text() != first
    page.page.keyboard.press("p")
    assert said.inner_text() == first
    page.page.get_by_label("Find a person").fill("2")
    assert page.page.locator(".tracs-people option").all_inner_texts() == ["2"]
    count = int((city.tracks.person == 2).sum())
    assert said.inner_text().startswith(f"{count} locations")
    assert page.count(".leaflet-tracs-tube-pane path") == 2 * count - 1
    page.page.get_by_label("Find a person").fill("nobody of this name")
    assert "Nobody" in said.inner_text()
