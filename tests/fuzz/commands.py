"""Everything that reads a file: the commands, as a user types them, and the functions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import geotracs
from tests.fuzz import formats
from tests.fuzz.damage import damage
from tests.fuzz.private import DOMAIN, Private, make

BOX = ",".join(map(str, DOMAIN))
RELEASES = (
    "gpkg",
    "geojson",
    "geojsonl",
    "shp",
    "fgb",
    "gml",
    "tab",
    "mif",
    "sqlite",
    "parquet",
    "csv",
    "csv.gz",
    "tsv",
)
METHODS = ("tracs-c", "tracs-d", "joint", "planar-laplace")


@dataclass
class Call:
    """What a run does: arguments of the command line, or a function without arguments.

    Attributes
    ----------
    released : bool
        Whether the files that it leaves in OUT's folder must not hold originals.
    tables : bool
        Whether it shows numbers that may begin with the digits of an original by chance.
    """

    name: str
    arguments: list[str] | None = None
    function: Callable[[], Any] | None = None
    released: bool = True
    tables: bool = False


@dataclass(frozen=True)
class Case:
    """A damaged file, a whole one of the same frame, and a folder to write to."""

    kind: str
    path: Path
    whole: Path
    out: Path
    private: Private
    rng: np.random.Generator

    @property
    def remote(self) -> bool:
        """Whether the file names another one, and is let."""
        return self.kind == "vrt" and len(self.private.frame) % 4 > 0

    def one(self, *choices: Any) -> Any:
        """Choose."""
        return choices[int(self.rng.integers(len(choices)))]


def call(case: Case) -> Call:
    """Choose what is done with a file."""
    if case.kind in formats.LOADED or (case.kind == "gpx" and case.rng.random() < 0.4):
        loader = getattr(geotracs.loaders, case.kind)
        return Call(f"loaders.{case.kind}", function=lambda: loader(case.path))
    kind = case.one(_command, _command, _command, _stream, _stream, _read, _compare, _map, _advise, _public, _answer)
    chosen = kind(case)
    if case.remote and chosen.arguments and kind is not _advise:
        chosen.arguments.append("--allow-remote")
    return chosen


def _columns(case: Case) -> dict[str, str]:
    given = (
        {"trajectory": "trajectory", "time": "time"} if case.kind == "gpx" else {"trajectory": "person", "time": "t"}
    )
    return given if not case.private.lines else {}


def _flags(case: Case) -> list[str]:
    return [part for name, column in _columns(case).items() for part in (f"--{name}", column)]


def _target(case: Case) -> Path:
    return case.out / f"private.{case.one(*RELEASES)}"


def _options(case: Case) -> list[str]:
    """Return options of `geotracs perturb`."""
    options = ["--eps", "4", "--domain", BOX, "--method", case.one(*METHODS), "--seed", "1"]
    for name, column in _columns(case).items():
        options += [f"--{name}", column] if case.rng.random() < 0.9 else []
    for more in (["--unit", "trajectory"], ["--batch-rows", "10"], ["--outside", "clip"], ["--overwrite"]):
        options += more if case.rng.random() < 0.4 else []
    for more in (["--sort"], ["--round-to", "grid:50000"], ["--x", "lon", "--y", "lat"], ["--input-crs", "EPSG:4326"]):
        options += more if case.rng.random() < 0.25 else []
    return options


def _command(case: Case) -> Call:
    keep = case.one([], [], ["--keep", "none"], ["--keep", "all"], ["--keep", "name"])
    arguments = ["perturb", str(case.path), str(_target(case)), *_options(case), *keep]
    return Call("perturb", arguments, released=keep[1:] in ([], ["none"]))


def _stream(case: Case) -> Call:
    rows, sort, unit = case.one(None, 10), case.one(False, False, True), case.one("location", "trajectory")
    keep, method, target = case.one([], None, "all"), case.one(*METHODS), _target(case)

    def run() -> None:
        geotracs.perturb_file(
            case.path, target, 4, method, domain=DOMAIN, keep=keep, batch_rows=rows, sort=sort, unit=unit, rng=1,
            allow_remote=case.remote, **_columns(case),
        )  # fmt: skip

    return Call("perturb_file", function=run, released=keep != "all")


def _read(case: Case) -> Call:
    target = _target(case)

    def run() -> None:
        frame = geotracs.files.read(case.path, allow_remote=case.remote)
        private = frame.tracs.perturb(4, "tracs-c", domain=DOMAIN, keep=[], rng=1, **_columns(case))
        geotracs.files.write(private, target)

    return Call("files.read", function=run)


def _compare(case: Case) -> Call:
    both = case.one([case.path, case.whole], [case.whole, case.path])
    by = case.one([], ["--by", "person"], ["--places", str(case.path)])
    return Call("compare", ["compare", *map(str, both), *by], tables=True)


def _map(case: Case) -> Call:
    paths = case.one([case.path, case.whole], [case.whole, case.path], [case.path])
    view = case.one("overlay", "side-by-side", "time")
    arguments = ["map", *map(str, paths), str(case.out / "page.html"), "--no-tiles", "--view", view, *_flags(case)]
    return Call("map", arguments, released=False)


def _advise(case: Case) -> Call:
    of = case.one(["--prior", str(case.path)], ["--places", str(case.path)])
    domain = case.one(BOX, BOX, BOX, str(case.path))
    arguments = ["advise", "--domain", domain, "--method", "joint", "--method", "nearest", "--no-optimum", *of]
    return Call("advise", arguments, tables=True)


def _answer(case: Case) -> Call:
    """The damaged file is what should be a release, or a public layer of an answer from a whole one."""
    name = case.one("density", "popularity", "flows", "lengths", "reconstruct", "synthesize")
    source = case.path if case.rng.random() < 0.3 else _released(case)
    layer = case.whole if source == case.path else case.path
    options = {
        "density": case.one(["--cells", "3", "2"], ["--zones", str(layer)], ["--places", str(layer)]),
        "popularity": ["--places", str(layer)],
        "flows": ["--zones", str(layer), "--pairs", "consecutive"],
        "lengths": ["--pairs", "consecutive", "--bins", "3"],
        "reconstruct": ["--speed", "15", "--cells", "8", *case.one([], ["--places", str(layer)])],
        "synthesize": ["--cells", "3", *case.one([], ["--network", str(layer)], ["--places", str(layer)])],
    }[name]
    public = case.one([], ["--domain", BOX], ["--domain", str(layer)], ["--round-to", str(layer)])
    prior = case.one([], ["--prior", str(layer)]) if name != "synthesize" else []
    target = [] if name == "lengths" else [str(_target(case))]
    return Call(name, [name, str(source), *target, *options, *public, *prior], released=False, tables=True)


def _released(case: Case) -> Path:
    """Write a release of 240 other locations, and damage it or not."""
    rng = np.random.default_rng(int(case.rng.integers(2**32)))
    frame = make(rng, rows=240).frame.assign(person=[f"p{row // 2}" for row in range(240)])
    path = case.whole.with_name(f"release.{case.one('parquet', 'gpkg')}")
    method = case.one("joint", "tracs-c")
    private = frame.tracs.perturb(6, method, domain=DOMAIN, keep=[], rng=1, trajectory="person", time="t")
    if not path.exists():
        geotracs.files.write(private, path)
    return damage(path, case.private, path, case.rng)[0] if case.rng.random() < 0.5 else path


def _public(case: Case) -> Call:
    """The damaged file is what should be public; its values are not quoted either."""
    of = case.one("--domain", "--prior", "--round-to")
    domain = [] if of == "--domain" else ["--domain", BOX]
    arguments = ["perturb", str(case.whole), str(_target(case)), "--eps", "4", *domain, of, str(case.path)]
    return Call("perturb with", [*arguments, "--keep", "none", "--outside", "clip"], released=False)
