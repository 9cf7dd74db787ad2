"""No repr shows a private coordinate or the extent of private data: of any class, and of objects at work."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
import types
import typing
import warnings
from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest

import geotracs
from geotracs.errors import InputError
from geotracs.geo.originals import Originals
from tests.conftest import TOKYO

HARMLESS = (str, int, bool, slice, Path, type(None))
"""What the fields that a repr shows may be made of: names and counts. No float, for it may be a coordinate."""
PUBLIC = {
    "geotracs.answers.estimate.Step": "made from a release",
    "geotracs.core.budget.Allocation": "weights that the user typed",
    "geotracs.core.budget.Levels": "epsilons, which are public",
    "geotracs.release.budgets.Budgets": "epsilons, which are public",
    "geotracs.core.guarantee.Guarantee": "the record that every reader of a release gets, without a fitted region",
    "geotracs.geo.optimum.Limit": "an error and an epsilon, made from the public region",
    "geotracs.io.formats.dialect.Dialect": "how a table is written; its columns are what the user typed",
    "geotracs.io.datasets.SampleCity": "generated, nobody's locations",
    "geotracs.io.datasets.Streets": "generated",
    "geotracs.core.domains.disc.Disc": "a public region; Region and Plan do not show theirs, which may be fitted",
    "geotracs.core.domains.globe.Globe": "a public region",
    "geotracs.core.domains.parallelogram.Parallelogram": "a public region, as Disc",
    "geotracs.core.domains.rectangle.Rectangle": "a public region, as Disc",
    "geotracs.experiments.report.Section": "words and functions",
    "geotracs.experiments.setups.Recipe": "the name and options of a method",
    "geotracs.core.mechanisms.slopes.Node": "made from the public places",
    "geotracs.core.methods.atp.Tables": "made from the public places",
    "geotracs.core.methods.released.Reports": "what is released",
    "geotracs.core.methods.exponential.Tables": "made from the public places",
    "geotracs.core.methods.l_srr.Tables": "made from the public places",
    "geotracs.core.methods.ngram.Tables": "made from the public places",
    "geotracs.core.domains.edges.Edges": "made from public things",
    "geotracs.core.methods.codebooks.StandIns": "made from public things",
    "geotracs.core.methods.convex_weights.Gradient": "made from public things",
    "geotracs.core.methods.convex_weights.Metric": "made from public things",
    "geotracs.core.methods.convex_weights.Lists": "made from public things",
    "geotracs.core.methods.codebooks._State": "made from public things",
    "geotracs.core.methods.convex_weights.Weights": "made from public things",
    "geotracs.core.methods.weight_fit.Secrets": "public places that stand for secrets",
    "geotracs.core.mechanisms.tokens.Windows": "shows a count",
    "geotracs.core.methods.weight_fit.Fitted": "made from public things",
    "geotracs.core.optimum.bound.Optimum": "made from public things",
    "geotracs.core.optimum.constraints.Tiles": "made from public things",
    "geotracs.core.optimum.constraints.Values": "made from public things",
    "geotracs.core.notions.Metric": "the radius that the user typed, as in the record",
    "geotracs.core.places.Grid": "what the user typed",
    "geotracs.trust.report_sums.Sums": "epsilons and counts of a release, which its reader has",
    "geotracs.trust.risk._Asked": "numbers that the user typed",
    "geotracs.trust.risk_found.Found": "means and quantiles over people, marked as private in a Risk",
    "geotracs.trust.risk_people.Habits": "numbers that the user typed",
    "geotracs.io.streams.Summary": "about the reports",
    "geotracs.trust.draws.Bound": "public stand-ins for locations",
    "geotracs.trust.findings.Audit": "made from public things",
    "geotracs.trust.findings.Check": "made from public things",
    "geotracs.trust.pairs.Promise": "what the user typed, and a public region",
    "geotracs.utility.sweep.Engine": "functions",
}
"""Classes whose repr may show numbers, and why. Methods may, too: their fields are options that the user typed."""
PUBLIC_FIELDS = {
    ("geotracs.geo.region.Region", "record"): "part of the record of a release: no bounds if the region was fitted",
    ("geotracs.core.cells.Cells", "side"): "the public size of cells",
    ("geotracs.release.repeats.Repeat", "cell"): "the public size of cells",
    ("geotracs.io.geoarrow.Encoding", "kind"): "a type of Arrow",
}
OWN_REPRS = {
    "geotracs.answers.reader.Reader",
    "geotracs.views.maps.scene.Row",
    "geotracs.core.guarantee.Guarantee",
    "geotracs.utility.compare.Pair",
    "geotracs.geo.tracks.Tracks",
    "geotracs.core.mechanisms.codebook.Codebook",
    "geotracs.core.mechanisms.lattice_noise.LatticeNoise",
    "geotracs.core.mechanisms.piecewise.Piecewise",
    "geotracs.core.mechanisms.tokens.Windows",
    "geotracs.core.methods.book.Book",
    "geotracs.core.mechanisms.unit.OnUnit",
    "geotracs.core.mechanisms.window.Window",
    "geotracs.trust.findings.Audit",
    "geotracs.release.plan.Plan",
    "geotracs.trust.report_result.Report",
    "geotracs.trust.risk_result.Risk",
    "geotracs.release.request.Request",
    "geotracs.trust.ledger.Ledger",
    "geotracs.core.randomness.Key",
}
"""Classes with a `__repr__` or `__str__` of their own, each read by somebody: names, counts and epsilon only."""


def all_classes():
    names = [name for _, name, _ in pkgutil.walk_packages(geotracs.__path__, "geotracs.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    found = {member for module in modules for member in vars(module).values() if isinstance(member, type)}
    return sorted((one for one in found if one.__module__.startswith("geotracs")), key=full_name)


def full_name(one):
    return f"{one.__module__}.{one.__qualname__}"


CLASSES = all_classes()
SHOWING = [c for c in CLASSES if dataclasses.is_dataclass(c) and c.__dataclass_params__.repr]


def is_public(one):
    return full_name(one) in PUBLIC or issubclass(one, geotracs.methods.Method)


def is_harmless(kind):
    """Whether a type is made of names and counts, or of classes of the package, which are looked at themselves."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) in (typing.Union, list, tuple, dict):
        return all(is_harmless(part) for part in typing.get_args(kind))
    return kind in HARMLESS or (isinstance(kind, type) and kind in CLASSES and not is_public(kind))


def test_the_lists_name_classes_that_there_are():
    assert set(PUBLIC) | OWN_REPRS | {name for name, _ in PUBLIC_FIELDS} <= set(map(full_name, CLASSES))
    assert {"Tracks", "Source", "Side", "Pair", "Plan", "Region", "Scene"} <= {one.__name__ for one in CLASSES}


@pytest.mark.parametrize("one", [c for c in SHOWING if not is_public(c)], ids=full_name)
def test_a_dataclass_shows_names_and_counts_only(one):
    kinds = typing.get_type_hints(one, vars(inspect.getmodule(one)))
    shown = [f.name for f in dataclasses.fields(one) if f.repr and (full_name(one), f.name) not in PUBLIC_FIELDS]
    assert [name for name in shown if not is_harmless(kinds[name])] == []


def test_every_tuple_and_every_repr_of_our_own_was_looked_at():
    tuples = {full_name(one) for one in CLASSES if issubclass(one, tuple)}
    assert tuples <= set(PUBLIC)
    written = {
        full_name(one)
        for one in CLASSES
        for name in ("__repr__", "__str__", "__format__", "_repr_html_")
        if name in vars(one) and Path(inspect.getsourcefile(inspect.unwrap(vars(one)[name]))).is_relative_to(ROOT)
    }
    assert written <= OWN_REPRS


ROOT = Path(geotracs.__file__).parent
ALLOWED = {*TOKYO, 4326, 139.7, 3.03419, 0.965812, 4000}
"""Public numbers of four digits and more: region, CRS, start, the shares of epsilon 4, and how many stand-ins."""


@pytest.fixture
def made(monkeypatch):
    """All objects that the package makes from here on, but public ones."""
    objects = []

    def watched(own):
        def init(self, *args, **kwargs):
            own(self, *args, **kwargs)
            objects.append(self)

        return init

    for one in CLASSES:
        if "__init__" in vars(one) and not is_public(one) and not issubclass(one, (Exception, Warning)):
            monkeypatch.setattr(one, "__init__", watched(one.__init__))
    return objects


def check_reprs(objects, names):
    assert names <= {type(one).__name__ for one in objects}
    for one in [*objects, objects]:
        for text in (repr(one), str(one), f"{one}", repr(InputError(one))):
            numbers = re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", re.sub(r"0x[0-9a-f]+|#[0-9a-f]{6}|'/[^']*'", "", text))
            long = {float(number) for number in numbers if len(number.replace(".", "")) >= 4}
            assert long <= ALLOWED, type(one).__name__


METHODS = [
    ("tracs-d", {"start": [139.7, 35.7]}),
    ("joint", {"fit": "transport"}),
    ("nearest", {"round_to": geotracs.places.Grid(nx=9, ny=9)}),
    ("tracs-c", {"round_to": geotracs.places.Grid(nx=9, ny=9), "unit": "trajectory"}),
]


@pytest.mark.parametrize("domain", [TOKYO, None], ids=["given", "fitted"])
@pytest.mark.parametrize(("method", "options"), METHODS, ids=[name for name, _ in METHODS])
def test_objects_of_a_release(tracks, made, method, options, domain):
    with warnings.catch_warnings(action="ignore"):  # that the region is fitted
        tracks.tracs.perturb(
            4, method, domain=domain, outside="clip", trajectory="person", time="t", keep=[], **options
        )
    check_reprs(
        made,
        {"Tracks", "Request", "Region", "Plan", "Block"} | ({"Rounding", "Cells"} if "round_to" in options else set()),
    )


def test_objects_of_a_comparison_and_of_maps(tracks, made):
    private = tracks.tracs.perturb(4, domain=TOKYO, trajectory="person", time="t", keep=[])
    geotracs.compare(tracks, private, metrics=["hausdorff", "hotspots"])
    for view in ("overlay", "side-by-side", "time"):
        tracks.tracs.explore(private, view=view, pick=tracks.index[0])
    private.tracs.explore()
    notes = [one for one in made if isinstance(one, geotracs.views.maps.page.Note)]
    assert notes
    check_reprs(made, {"Pair", "Side", "Scene", "Notes"})


@pytest.mark.parametrize("ending", ["csv", "gpkg", "parquet", "gml"])
@pytest.mark.parametrize("sort", [False, True])
def test_objects_of_a_file(tracks, tmp_path, made, ending, sort):
    path, frame = tmp_path / f"tracks.{ending}", tracks.sort_values(["person", "t"]).drop(columns=["lat", "lon"])
    if ending == "parquet":  # whose metadata hold the extent of every geometry column
        frame["home"] = frame.geometry
    geotracs.files.write(frame, path)
    geotracs.perturb_file(
        path,
        tmp_path / "private.parquet",
        4,
        domain=TOKYO,
        trajectory="person",
        time="t",
        keep=[],
        sort=sort,
        batch_rows=20,
    )
    check_reprs(made, {"Plan", "Release", "Layout"})


@pytest.mark.parametrize("region", [(0.5, 0.5, 2.5, 2.5), None])
def test_a_region_that_was_given_is_shown_and_a_fitted_one_is_not(region):
    points = gpd.GeoSeries(gpd.points_from_xy([1.23456, 2.34567], [1.45678, 2.0]), crs=4326)
    with warnings.catch_warnings(action="ignore"):
        text = repr(geotracs.geo.region.resolve(region, Originals.of(points)))
    assert text == (
        "Region(record={'kind': 'rectangle', 'fitted': True})"
        if region is None
        else "Region(record={'kind': 'rectangle', 'fitted': False, 'bounds': [0.5, 0.5, 2.5, 2.5], 'crs': 'EPSG:4326'})"
    )


def test_counts_are_shown(tracks):
    assert repr(geotracs.geo.tracks.read(tracks, "person", "t")) == "<Tracks of 60 locations>"
    assert repr(geotracs.domains.Rectangle(0, 0, 1, np.pi)).startswith(
        "Rectangle(xmin=0.0, ymin=0.0, xmax=1.0, ymax=3.14"
    )
