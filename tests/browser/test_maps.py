"""The maps in a real browser: what is drawn, what a click does, and what is asked of the network."""

import re

import folium
import geopandas as gpd
import numpy as np
import pytest

import geotracs
from tests.browser import chromium

pytestmark = pytest.mark.slow

PATHS = ".leaflet-overlay-pane path"


def test_layers_are_drawn_counted_and_toggled(show, city, private):
    page = show(city.tracks.tracs.explore(private, domain=city.boundary, places=city.pois))
    n, people, places = len(city.tracks), 3, len(city.pois)
    everything = 1 + places + 2 * (n + people)  # region, places, then a dot a location and a line a person, twice
    assert page.count(PATHS) == everything
    for layer, shapes in {"perturbed": n + people, "original": n + people, "region": 1, "places": places}.items():
        page.switch(layer)
        assert page.count(PATHS) == everything - shapes, layer
        page.switch(layer)
        assert page.count(PATHS) == everything, layer
    page.switch("displacement")  # off at first
    assert page.count(PATHS) == everything + n
    assert any("tile" in url for url in page.requests)


def test_everything_is_in_view_and_the_caption_is_visible(show, city, private):
    page = show(city.tracks.tracs.explore(private, domain=city.boundary))
    assert page.page.locator(".tracs-caption").is_visible()
    assert "confidential" in page.page.locator(".tracs-caption").inner_text()
    assert "tracs-d, epsilon 6" in page.page.locator(".tracs-legend").inner_text()
    inside = page.page.evaluate(
        f"""Array.from(document.querySelectorAll("{PATHS}")).every(path => {{
            const box = path.getBoundingClientRect();
            return box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight }})"""
    )
    assert inside


def test_no_control_covers_another(show, city, private):
    for view in ("overlay", "time", "side-by-side"):
        page = show(city.tracks.tracs.explore(private, domain=city.boundary, view=view), size=(900, 700))
        overlaps = page.page.evaluate(
            """() => { const boxes = Array.from(document.querySelectorAll(".leaflet-control"))
                   .map(e => e.getBoundingClientRect());
               let found = 0;
               boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
                   if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found++; }));
               return found; }"""
        )
        assert overlaps == 0, view


def test_tooltip_shows_columns(show, city, private):
    few = city.tracks.groupby("person").head(2)
    page = show(few.tracs.explore(private.loc[few.index], tiles=None))
    page.switch("perturbed")
    page.page.locator(PATHS).last.hover(force=True)
    assert "speed" in page.page.locator(".leaflet-tooltip").inner_text()


def test_side_by_side_moves_in_step(show, city, private):
    page = show(city.tracks.tracs.explore(private, view="side-by-side", domain=city.boundary))
    assert page.count(".leaflet-container") == 2
    maps = "Object.values(window).filter(o => o instanceof L.Map)"
    views = f"{maps}.map(m => [m.getCenter().lat, m.getCenter().lng, m.getZoom()])"
    left, right = page.page.evaluate(views)
    assert left == pytest.approx(right, abs=1e-6)
    page.page.mouse.move(300, 400)
    page.page.mouse.down()
    page.page.mouse.move(200, 300, steps=8)
    page.page.mouse.up()
    page.page.wait_for_timeout(700)
    moved = page.page.evaluate(views)
    assert moved[0] == pytest.approx(moved[1], abs=1e-6)
    assert abs(moved[0][1] - left[1]) > 1e-4
    page.page.locator(".leaflet-control-zoom-in").last.click()
    page.page.wait_for_timeout(700)
    zoomed = page.page.evaluate(views)
    assert zoomed[0][2] == zoomed[1][2] > moved[0][2]


INK = """() => [...document.querySelectorAll(".tracs-trails")].map(canvas => {
    const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return all.reduce((sum, value, i) => sum + (i % 4 == 3 && value > 0), 0);
})"""
"""How many pixels of each side are drawn."""


def test_time_slider_moves(show, city, private):
    page = show(city.tracks.tracs.explore(private, view="time", trail="20min", domain=city.boundary))
    clock, slider = page.page.locator(".tracs-clock output"), page.page.get_by_label("Time")
    start = clock.inner_text()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", start)
    first = page.page.evaluate(INK)
    assert min(first) > 20, "there is a trail from the start"
    slider.focus()
    page.page.keyboard.press("End")
    assert clock.inner_text() > start
    assert slider.get_attribute("aria-valuetext") == clock.inner_text()
    assert page.page.evaluate(INK) != first
    page.page.locator(".tracs-clock button", has_text="Play").click()
    page.page.wait_for_timeout(400)
    page.page.locator(".tracs-clock button", has_text="Pause").click()


def test_a_part_of_the_time_is_chosen_on_the_histogram(show, city, private):
    page = show(city.tracks.tracs.explore(private, view="time", domain=city.boundary, offline=True))
    clock, box = page.page.locator(".tracs-clock output"), page.page.locator(".tracs-histogram").bounding_box()
    for part, move in ((0.4, page.page.mouse.down), (0.6, page.page.mouse.up)):
        page.page.mouse.move(box["x"] + part * box["width"], box["y"] + 10)
        move()
    page.page.get_by_label("Time").focus()
    page.page.keyboard.press("Home")
    chosen = clock.inner_text()
    page.page.locator(".tracs-clock button", has_text="All").click()
    page.page.get_by_label("Time").focus()
    page.page.keyboard.press("Home")
    assert clock.inner_text() < chosen


def test_twice_on_one_map(show, city, private):
    map_ = city.tracks.tracs.explore(private, tiles=None)
    page = show(private.tracs.explore(m=map_, color="black", view="overlay"))
    assert page.count(".tracs-legend") == 2
    names = page.page.locator(".leaflet-control-layers-overlays").inner_text().split("\n")
    assert [name.strip() for name in names] == ["displacement", "perturbed", "original", "perturbed 2"]


@pytest.mark.parametrize("people", [0, 1])
def test_time_of_nobody_and_of_one_location(show, city, private, people):
    page = show(city.tracks.iloc[:people].tracs.explore(private.iloc[:people], view="time", tiles=None))
    assert page.count(".tracs-trails") == 2 * people


HOSTILE = (
    "{{ 7 * 7 }}{% raw %}<script>window.broken=1</script><img src=x onerror='window.broken=2'>"
    "\"'`${window.broken=3}</script>"
)


@pytest.mark.parametrize("view", ["overlay", "side-by-side", "time"])
def test_hostile_strings_are_inert(show, city, view):
    frame = city.tracks.groupby("person").head(2).assign(person=lambda f: f.person.astype(str) + HOSTILE)
    frame = frame.rename(columns={"mode": HOSTILE})
    private = frame.tracs.perturb(6, domain=city.boundary, trajectory="person", time="t", keep=[HOSTILE])
    private.attrs["tracs"]["method"] = HOSTILE  # a file of somebody else's
    page = show(frame.tracs.explore(private, view=view, popup=True, tiles=None))
    dots = page.page.locator(PATHS)
    for number in range(dots.count()):
        dots.nth(number).dispatch_event("mouseover")
        dots.nth(number).dispatch_event("click")
    page.page.wait_for_timeout(200)
    assert page.page.evaluate("window.broken") is None
    assert page.count("img[src=x]") == 0
    if view != "time":
        assert "window.broken" in page.page.locator(".leaflet-popup, .leaflet-tooltip").first.inner_text()


@pytest.mark.parametrize("view", ["overlay", "side-by-side", "time"])
def test_an_offline_file_draws_with_all_requests_blocked(show, city, private, view):
    map_ = city.tracks.tracs.explore(private, view=view, domain=city.boundary, places=city.pois, offline=True)
    page = show(map_, blocked=True)
    assert page.count(PATHS) > (0 if view == "time" else len(city.pois))
    assert page.requests == []


@pytest.mark.parametrize("view", ["overlay", "side-by-side", "time"])
def test_with_originals_tiles_are_the_only_requests(show, city, private, view):
    page = show(city.tracks.tracs.explore(private, view=view, domain=city.boundary, popup=True))
    page.page.locator(PATHS).last.dispatch_event("click")
    page.page.locator(".leaflet-control-zoom-in").last.click()
    page.page.wait_for_timeout(400)
    assert page.count(PATHS) > 0
    assert page.requests
    assert {url.split("/")[2] for url in page.requests} == {"tile.openstreetmap.org"}
    assert all(url.endswith(".png") for url in page.requests)


def test_in_a_notebook_tiles_are_the_only_requests(browser, tmp_path, city, private):
    path = tmp_path / "cell.html"
    path.write_text(f"<div class=leaflet-container></div>{city.tracks.tracs.explore(private)._repr_html_()}")
    page = chromium.Opened(browser, path)
    page.page.wait_for_timeout(600)
    assert page.page.frame_locator("iframe").locator(PATHS).count() == 2 * (len(city.tracks) + 3)
    assert {url.split("/")[2] for url in page.requests} == {"tile.openstreetmap.org"}
    assert page.errors == []
    page.page.close()


def test_what_may_be_added_to_a_map_with_originals_is_drawn(show, city, private):
    map_ = city.tracks.tracs.explore(private, tiles=None)
    folium.CircleMarker([-20.25, 13.2], tooltip="mine").add_to(map_)
    folium.PolyLine([[-20.25, 13.2], [-20.26, 13.3]]).add_to(map_)
    folium.GeoJson(city.boundary, tooltip="public", control=False).add_to(map_)
    page = show(map_, blocked=True)
    assert page.count(PATHS) == 2 * (len(city.tracks) + 3) + 2 + len(city.boundary)
    assert page.requests == []


def test_without_tiles_no_tile_is_asked_for(show, city, private):
    page = show(private.tracs.explore(tiles=None))
    assert not [url for url in page.requests if "tile" in url.replace("timeline", "")]


def test_many_locations_are_drawn_on_a_canvas(show):
    rng = np.random.default_rng(0)
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(rng.random(9000), rng.random(9000)), crs=4326)
    page = show(
        frame.tracs.explore(frame.tracs.perturb(4, domain=(0, 0, 1, 1)), view="overlay", offline=True), blocked=True
    )
    assert page.count("canvas") == 1
    assert "5,000" not in page.page.locator(".tracs-legend").inner_text()
    assert "4,500 of 9,000 locations" in page.page.locator(".tracs-legend").inner_text()


def test_on_a_map_of_the_users_own(show, city, private):
    own = folium.Map(tiles=None)
    folium.Marker([-20.25, 13.2]).add_to(own)
    with pytest.warns(geotracs.PrivacyWarning, match="loads scripts"):
        page = show(city.tracks.tracs.explore(private, m=own))
    assert page.count(PATHS) == 2 * (len(city.tracks) + 3)
