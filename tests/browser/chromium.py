"""Open a folium page in a real Chromium without internet: content networks are answered from npm packages."""

import contextlib
import os
import re
import shutil
from pathlib import Path

PACKAGES = Path(__file__).parent / "node_modules"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FILES = {
    r"leaflet@1\.9\.3/(.*)": r"leaflet/\1",
    r"jquery-3\.7\.1\.min\.js": "jquery/dist/jquery.min.js",
    r"bootstrap@5\.2\.2/(.*)": r"bootstrap/\1",
    r"fontawesome-free@6\.2\.0/(.*)": r"@fortawesome/fontawesome-free/\1",
    r"awesome-markers/2\.0\.2/(.*)": r"leaflet.awesome-markers/dist/\1",
    r"bootstrap-glyphicons\.css": "glyphicons-only-bootstrap/css/bootstrap.min.css",
    r"bootstrap/3\.0\.0/fonts/(.*)": r"glyphicons-only-bootstrap/fonts/\1",
    r"leaflet\.timeline@1\.6\.0/dist/.*": "leaflet.timeline/dist/leaflet.timeline.js",
    r"moment\.js/2\.18\.1/(.*)": r"moment/min/\1",
    r"L\.Map\.Sync\.min\.js": "leaflet.sync/L.Map.Sync.js",
}
TYPES = {".js": "text/javascript", ".css": "text/css", ".png": "image/png", ".woff2": "font/woff2"}
TILE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8ffff3f0005fe02fea7a6a0a0"
    "0000000049454e44ae426082"
)


def missing():
    """Say what is not installed, or None."""
    if executable() is None:
        return "no Chromium found; install it or set GEOTRACS_CHROMIUM"
    if not PACKAGES.exists():
        return "npm packages are not installed; run `make browser`"
    return None


def executable():
    """The path of a Chromium, or None."""
    names = [os.environ.get("GEOTRACS_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, filter(None, names)) if path), None)


@contextlib.contextmanager
def running():
    """Yield a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), headless=True, args=FLAGS)
        yield browser
        browser.close()


class Opened:
    """A page and what went on in it: requests that left the machine, and errors."""

    def __init__(self, browser, path, *, blocked=False, size=(1200, 800), scheme="light"):
        self.requests, self.errors = [], []
        self.page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append("dialog"), dialog.dismiss()))
        self.page.route("**/*", self._block if blocked else self._answer)
        self.page.goto(Path(path).resolve().as_uri())
        self.page.wait_for_function("document.querySelector('.leaflet-container') !== null")
        self.page.wait_for_timeout(400)

    def count(self, selector):
        """How many elements there are."""
        return self.page.locator(selector).count()

    def switch(self, name):
        """Click a layer in the control."""
        self.page.locator(".leaflet-control-layers-overlays label", has_text=name).first.locator("input").click()
        self.page.wait_for_timeout(150)

    def _block(self, route):
        if route.request.url.startswith(("file:", "data:", "about:")):
            return route.continue_()
        self.requests.append(route.request.url)
        return route.abort()

    def _answer(self, route):
        url = route.request.url.split("?")[0]
        if url.startswith(("file:", "data:", "about:")):
            return route.continue_()
        self.requests.append(url)
        if "tile" in url and url.endswith(".png"):
            return route.fulfill(body=TILE, content_type="image/png")
        if url.endswith("leaflet.awesome.rotate.min.css"):
            return route.fulfill(body="", content_type="text/css")
        for pattern, target in FILES.items():
            found = re.search(pattern, url)
            if found and (PACKAGES / found.expand(target)).exists():
                path = PACKAGES / found.expand(target)
                headers = {"Access-Control-Allow-Origin": "*"}
                kind = TYPES.get(path.suffix, "application/octet-stream")
                return route.fulfill(body=path.read_bytes(), content_type=kind, headers=headers)
        self.errors.append(f"unknown request: {url}")
        return route.abort()
