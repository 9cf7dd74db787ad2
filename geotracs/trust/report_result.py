"""A report: facts as plain values, and the page that says them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geotracs.io.siblings as siblings
from geotracs.errors import InputError, quoted, sealed
from geotracs.io.replacing import complete
from geotracs.trust.report_page import page

ENDINGS = (".html", ".htm", ".json")


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What a privacy officer has to know of a release.

    `to_dict` has plain values, `to_html` is a page that needs nothing else, and `write` makes a file of either.

    Attributes
    ----------
    facts : dict
        Everything that the page says, as plain JSON values.
    picture : str
        The map of the public region, as SVG; empty if it is not known.
    """

    facts: dict[str, Any]
    picture: str = ""

    @property
    def confidential(self) -> bool:
        """Whether some figures were computed from original locations."""
        return bool(self.facts["confidential"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return dict(self.facts)

    def to_html(self) -> str:
        """Return the page."""
        return page(self.facts, self.picture)

    @sealed
    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page, or the facts if the name ends with .json; under its name only when it is complete."""
        path = check_path(path, overwrite=overwrite)
        text = (
            json.dumps(self.facts, indent=2, ensure_ascii=False) if path.suffix.lower() == ".json" else self.to_html()
        )
        with complete(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        marked = ", confidential" if self.confidential else ""
        return f"<Report of a release by {self.facts['method']['name']}, {len(self.facts['points'])} points{marked}>"


def check_path(path: Any, *, overwrite: bool = False) -> Path:
    """Return a path at which a report can be written, or raise."""
    if not isinstance(path, (str, Path)):
        raise InputError(f"A report is written to the name of a file, got {quoted(path)}.")
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"A report is a page or JSON: give a name that ends with .html or .json, got {path.name!r}.")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{str(path)!r} cannot be written: it is a folder, or its folder is not there.")
    if path.exists() and not overwrite:
        raise InputError(f"{str(path)!r} exists already; use overwrite=True to replace it.")
    siblings.check(path)
    return path
