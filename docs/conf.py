"""How the documentation is built: ``make docs``, without the network."""

import shutil
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
GALLERY = HERE / "gallery"
"""The notebooks, as Sphinx wants them: below its own folder. Made anew by each build."""

project = "geotracs"
author = "The geotracs developers"
copyright = author  # noqa: A001
release = version = version_of("geotracs")
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.doctest", "numpydoc", "myst_nb"]
exclude_patterns = ["pictures", "releasing.md"]
templates_path: list[str] = []
nitpicky = False
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
nb_execution_mode = "off"  # they are committed with their outputs, and the tests run them
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["mystnb.unknown_mime_type"]
html_theme = "pydata_sphinx_theme"
html_title = "geotracs"
html_theme_options = {"navigation_with_keys": True, "show_toc_level": 2, "header_links_before_dropdown": 6}
html_show_sourcelink = False


def setup(app):
    """Bring the notebooks here, and let links that are right in the repository be right here, too."""
    shutil.rmtree(GALLERY, ignore_errors=True)
    shutil.copytree(HERE.parent / "notebooks", GALLERY, ignore=shutil.ignore_patterns(".*"))
    app.connect("source-read", lambda app, page, source: _relinked(source))
    app.connect("include-read", lambda app, path, page, source: _relinked(source))


def _relinked(source):
    for there, here in (
        ("../notebooks/", "gallery/"),
        ("(../docs/", "(../"),
        ("(docs/", "("),
        ("](notebooks/", "](gallery/"),
    ):
        source[0] = source[0].replace(there, here)
