"""Make the pictures of the README: real maps of a generated city, photographed in a real browser.

Run by ``make pictures``. Without tiles, so that they can be made again anywhere, with or without internet.
"""

import tempfile
from pathlib import Path

import geotracs
from tests.browser import chromium

FOLDER = Path(__file__).parent / "pictures"
SIZE = (1100, 680)


def main() -> None:
    """Write all pictures."""
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
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium.running() as browser:
        for name, page in pages.items():
            path = Path(folder) / f"{name}.html"
            page.get_root().save(path)
            opened = chromium.Opened(browser, path, blocked=True, size=SIZE)
            opened.page.wait_for_timeout(800)
            opened.page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
