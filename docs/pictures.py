"""Make the pictures of the README and the docs: a generated city, its maps photographed in a real browser.

Run by ``make pictures``. Without tiles, so that they can be made again anywhere, with or without internet.
"""

import tempfile
from pathlib import Path

import geopandas as gpd
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import geotracs
from geotracs.core.methods.book import Book
from geotracs.core.methods.book_cache import book
from geotracs.geo.optimum import public_setting
from tests.browser import chromium

FOLDER = Path(__file__).parent / "pictures"
SIZE = (1100, 680)


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
    """Photograph the maps of the README."""
    city = geotracs.datasets.sample_city(people=40, seed=4)
    few = city.tracks[city.tracks.person.isin([8, 12, 31]) & (city.tracks.groupby("person").cumcount() % 8 == 0)]
    private = few.tracs.perturb(
        8, method="tracs-d", domain=city.boundary, trajectory="person", time="t", round_to=city.pois, keep=[]
    )
    shown = {"domain": city.boundary, "places": city.pois, "offline": True}
    pages = {
        "before-and-after": few.tracs.explore(private, **shown),
        "side-by-side": few.tracs.explore(private, view="side-by-side", **shown),
    }
    with tempfile.TemporaryDirectory() as folder, chromium.running() as browser:
        for name, page in pages.items():
            path = Path(folder) / f"{name}.html"
            page.get_root().save(path)
            opened = chromium.Opened(browser, path, blocked=True, size=SIZE)
            opened.page.wait_for_timeout(800)
            opened.page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
