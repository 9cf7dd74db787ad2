"""Make the pictures of the README and the docs: a generated city, its maps photographed in a real browser.

Run by ``make pictures``. Without tiles, so that they can be made again anywhere, with or without internet.
"""

import io
import tempfile
from pathlib import Path
from typing import Any

import folium
import geopandas as gpd
import matplotlib.pyplot as plt
import numpy as np
import shapely
from matplotlib.axes import Axes
from PIL import Image

import geotracs
from geotracs.core.methods.book import Book
from geotracs.core.methods.book_cache import book
from geotracs.geo.optimum import public_setting
from geotracs.views.maps.scene import Row
from tests.browser import chromium

FOLDER = Path(__file__).parent / "pictures"
SIZE = (1200, 760)
PERSON = 2
"""Which person is shown."""


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    codebooks()
    risk()
    maps()


def codebooks() -> None:
    """Draw the codewords of "optimal" at three epsilons on a city with a public prior, and one location's window."""
    city = geotracs.datasets.sample_city(people=5, seed=4)
    region, _ = public_setting(city.boundary, None, prior=city.pois, weight=None, crs="EPSG:4326")
    secret = region.enter(np.array([city.pois.geometry.iloc[0].coords[0]]))
    pois = city.pois.to_crs(region.crs)
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 5.6), layout="constrained")
    outline = gpd.GeoSeries([region.domain.outline])
    for ax, eps in zip(axes, (1.0, 4.0, 8.0), strict=True):
        found = book(region.chart, eps)
        outline.plot(ax=ax, facecolor="#f6f4ef", edgecolor="#8a8578", zorder=0)
        _codebook(ax, found, secret, pois)
        if eps == 8:
            _closer(ax, found, secret, pois)
        hit = float(found.pmf(secret, eps)[0][found.windows_of(secret)[0]].sum())
        ax.set_title(
            f"epsilon {eps:g}: {found.m:,} codewords\n{hit:.0%} of reports are among the {found.k} in the window",
            fontsize=11,
        )
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(FOLDER / "codebooks.png", dpi=120)
    plt.close(figure)


def risk() -> None:
    """Draw how the errors of reports and of an attacker fall with epsilon and with the pace of reports."""
    curves = geotracs.risk_curves((0, 0, 30_000, 30_000), 4, interval=15, crs=32654)
    axes = geotracs.plots.risk(curves)
    axes[0].figure.savefig(FOLDER / "risk.png", dpi=110)
    plt.close(axes[0].figure)


def _codebook(ax: Axes, found: Book, secret: np.ndarray, pois: gpd.GeoDataFrame, times: float = 1.0) -> None:
    inside = np.isin(np.arange(found.m), found.windows_of(secret)[0])
    size = times * (26 if found.m < 1000 else 6)
    ax.scatter(pois.geometry.x, pois.geometry.y, s=5 * times, color="#d0b040", lw=0, label="places: the public prior")
    for which, color, label in ((~inside, "#3b6ea5", "codewords"), (inside, "#d1304a", "those in the window")):
        ax.scatter(*found.codewords[which].T, s=size, color=color, alpha=0.6, lw=0, label=label)
    ax.scatter(*secret.T, s=70 * times**0.5, marker="+", color="black", lw=1.6, zorder=5, label="the location")
    ax.set_aspect("equal")
    ax.set_axis_off()


def _closer(ax: Axes, found: Book, secret: np.ndarray, pois: gpd.GeoDataFrame) -> None:
    """Show the window larger, in the corner that the city leaves free."""
    words = found.codewords[found.windows_of(secret)[0]]
    half = 1.25 * np.abs(words - secret).max()
    x, y = secret[0]
    inset = ax.inset_axes((-0.08, 0.0, 0.5, 0.42), xlim=(x - half, x + half), ylim=(y - half, y + half))
    _codebook(inset, found, secret, pois, 5)
    inset.set_axis_on()
    inset.set(xticks=[], yticks=[], facecolor="#f6f4ef")
    inset.set_title(f"{2 * half / 1000:.1f} km across", fontsize=9)
    ax.indicate_inset_zoom(inset, edgecolor="#55524a")


def maps() -> None:
    """Photograph the maps of the README and the docs."""
    city = geotracs.datasets.sample_city(people=40, seed=4)
    few = city.tracks[city.tracks.person.isin([8, 12, 31]) & (city.tracks.groupby("person").cumcount() % 8 == 0)]
    private = few.tracs.perturb(
        8, method="tracs-d", domain=city.boundary, trajectory="person", time="t", round_to=city.pois, keep=[]
    )
    shown = {"domain": city.boundary, "places": city.pois, "offline": True}
    with tempfile.TemporaryDirectory() as folder, chromium.running() as browser:
        _photograph("before-and-after", few.tracs.explore(private, **shown), browser, folder)
        for name, page in (("density", _density()), ("person", _person()), ("flows", _flows())):
            _photograph(name, page, browser, folder)


def _density() -> folium.Map | Row:
    """Where people were: before, as released, as a reader estimates it, and the difference."""
    city = geotracs.datasets.sample_city(people=400, seed=4)
    private = _released(city, 4)
    return city.tracks.tracs.explore(
        private, view="density side-by-side", domain=city.boundary, cells=1200, offline=True, tooltip=False
    )


def _person() -> folium.Map | Row:
    """Draw what an attacker finds of one person."""
    city = geotracs.datasets.sample_city(people=12, seed=4)
    private = _released(city, 6)
    found = private.tracs.reconstruct(speed=12, domain=city.boundary)
    return found.tracs.explore(private, truth=city.tracks, view="person", domain=city.boundary, offline=True)


def _flows() -> folium.Map | Row:
    """Draw who goes from where to where."""
    city = geotracs.datasets.sample_city(people=1200, seed=4)
    rows = city.tracks.groupby("person").cumcount() / city.tracks.groupby("person").person.transform("size")
    ends = city.tracks[(rows == 0) | ((rows >= 0.5) & (rows.groupby(city.tracks.person).shift() < 0.5))]  # home, midday
    private = ends.tracs.perturb(8, domain=city.boundary, trajectory="person", time="t", keep=[])
    box = city.boundary.to_crs(city.boundary.estimate_utm_crs())
    west, south, east, north = box.total_bounds
    x, y = np.linspace(west, east, 4), np.linspace(south, north, 4)
    cells = [shapely.box(x[i], y[j], x[i + 1], y[j + 1]) for j in range(3) for i in range(3)]
    zones = gpd.GeoSeries(cells, crs=box.crs).to_crs(4326).intersection(city.boundary.geometry.iloc[0])
    zones = zones[~zones.is_empty]
    flows = private.tracs.flows(zones, domain=city.boundary)
    return flows[flows.origin != flows.destination].tracs.explore(domain=city.boundary, background=zones, offline=True)


def _released(city: Any, eps: float) -> gpd.GeoDataFrame:
    return city.tracks.tracs.perturb(eps, domain=city.boundary, trajectory="person", time="t", keep=[])


def _photograph(name: str, page: folium.Map | Row, browser: Any, folder: str) -> None:
    """Write a page, open it, and keep what is seen, in few colours."""
    path = Path(folder) / f"{name}.html"
    page.get_root().save(path)
    opened = chromium.Opened(browser, path, blocked=True, size=SIZE)
    opened.page.wait_for_timeout(800)
    if name == "person":
        for _ in range(PERSON):
            opened.page.keyboard.press("n")
        opened.page.get_by_text("Zoom", exact=True).click()
        opened.page.wait_for_timeout(300)
    picture = Image.open(io.BytesIO(opened.page.screenshot())).convert("RGB")
    picture = picture if name == "density" else picture.quantize(256)  # whose scales would be bands
    picture.save(FOLDER / f"{name}.png", optimize=True)
    opened.page.close()


if __name__ == "__main__":
    main()
