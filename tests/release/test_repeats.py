"""Memoised reports: one for each person and cell, with the law of the mechanism, in whatever way rows are cut."""

import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from scipy.stats import chi2

import geotracs
from geotracs import InputError
from geotracs.answers.reader import Reader
from geotracs.cli import main
from geotracs.core.methods import METHODS
from geotracs.core.notions import PURE
from geotracs.core.randomness import Key
from geotracs.geo.people import text
from geotracs.release.repeats import Whose
from tests.helpers import FALSE_ALARM, quiet

SQUARE = (0.0, 0.0, 20_000.0, 20_000.0)
PLACES = gpd.GeoSeries(gpd.points_from_xy(*np.random.default_rng(3).uniform(0, 20_000, (30, 2)).T), crs=32654)
ABLE = [name for name, kind in METHODS.items() if not kind.sequential and kind().privacy["kind"] == PURE]
COLUMNS = {"trajectory": "person", "time": "t"}


def frame(n=400, people=4, cells=5, seed=0):
    """People who are at few places, within some metres, again and again."""
    rng = np.random.default_rng(seed)
    middles = 1000 * rng.integers(1, 1 + cells, (n, 2)) + 100.0
    xy = middles + rng.uniform(-90, 90, (n, 2))
    columns = {"person": rng.integers(0, people, n), "t": np.arange(n), "at": middles[:, 0] * 1e6 + middles[:, 1]}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=32654)


def repeated(tracks, eps=4, method="joint", **arguments):
    """A reproducible release with repeated reports, without its warnings."""
    given = {"domain": SQUARE, "keep": [], "rng": 0, "repeat": "same", **COLUMNS} | arguments
    if METHODS[method].over == "places":
        given = {"round_to": PLACES} | given
    return quiet(geotracs.perturb, tracks, eps, method, **given)


def assert_one_report_each(private, tracks):
    """Each person has one report in each place."""
    keys = pd.DataFrame({"person": tracks["person"], "at": tracks["at"]})
    both = keys.assign(report=private.geometry.to_wkb().to_numpy()).drop_duplicates()
    assert len(both) == len(keys.drop_duplicates())


def same_locations(one, other):
    return np.array_equal(one.geometry.x, other.geometry.x) and np.array_equal(one.geometry.y, other.geometry.y)


@pytest.mark.parametrize("method", ABLE)
def test_a_person_has_one_report_in_a_cell_whatever_else_is_released(method):
    tracks = frame(120, people=3, cells=3)
    private = repeated(tracks, method=method)
    assert_one_report_each(private, tracks)
    alone = [repeated(tracks.iloc[[row]], method=method) for row in (0, 7, 50)]
    assert same_locations(pd.concat(alone), private.iloc[[0, 7, 50]])
    backwards = repeated(tracks.iloc[::-1], method=method, workers=1)
    assert same_locations(backwards.iloc[::-1], private)


def test_distinct_people_and_cells_have_distinct_reports():
    tracks = frame()
    private = repeated(tracks)
    assert private.geometry.to_wkb().nunique() == len(tracks[["person", "at"]].drop_duplicates())


def chi_squared(counts, expected):
    """Raise if counts do not have these means; it fails on correct code once in `FALSE_ALARM` seeds."""
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(FALSE_ALARM, counts.size - 1)


@pytest.mark.parametrize("method", ["joint", "tracs-c", "optimal", "nearest", "k-rr", "exponential"])
def test_reports_have_the_law_of_the_mechanism_seen_from_the_middle_of_the_cell(method):
    """Everybody is in one cell: over people the reports are independent draws of the mechanism."""
    n, side, middle = 20_000, 6, np.array([[8100.0, 9100.0]])
    points = gpd.points_from_xy([8010.0] * n, [9190.0] * n)
    tracks = gpd.GeoDataFrame({"person": np.arange(n)}, geometry=points, crs=32654)
    private = repeated(tracks, 4, method, time=None, embed=True)
    reader = Reader.of(private)
    if reader.channel.over == "places":
        label, size = reader.channel.release.atoms, len(PLACES)
    else:
        label, size = (
            (lambda some: np.clip(some.xy // (SQUARE[2] / side), 0, side - 1).astype(int) @ [side, 1]),
            side**2,
        )
    expected = reader.channel.probabilities(label, size, middle, nodes=2**16)[0] * n
    counts = np.bincount(label(reader.reports), minlength=size)
    rare = expected < 5
    chi_squared(counts[~rare], expected[~rare])
    assert counts[rare].sum() <= expected[rare].sum() + 8 * np.sqrt(expected[rare].sum() + 1)


def test_two_people_in_one_cell_and_two_cells_of_one_person_are_independent():
    """All pairs of reported places are as likely as the product says."""
    n, k = 30_000, 5
    places = PLACES.iloc[:k]
    xy = np.where(np.arange(n) % 2, 3000.0, 15_000.0)
    two_cells = gpd.GeoDataFrame({"person": np.arange(n) // 2}, geometry=gpd.points_from_xy(xy, xy), crs=32654)
    one_cell = two_cells.assign(person=np.arange(n)).set_geometry(np.repeat(two_cells.geometry.iloc[:1].values, n))
    for own in (two_cells, one_cell):
        private = repeated(own, 1.0, "k-rr", time=None, round_to=places)
        which = private["place"].to_numpy()
        table = np.zeros((k, k))
        np.add.at(table, (which[::2], which[1::2]), 1)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        assert ((table - expected) ** 2 / expected).sum() < chi2.isf(FALSE_ALARM, (k - 1) ** 2)


def in_file(tracks, folder, ending="parquet", **arguments):
    source, target = folder / f"in.{ending}", folder / f"out.{ending}"
    geotracs.files.write(tracks, source, overwrite=True)
    given = {"domain": SQUARE, "keep": [], "rng": 0, "repeat": "same", "overwrite": True, **COLUMNS} | arguments
    quiet(geotracs.perturb_file, source, target, 4, batch_rows=37, **given)
    return geotracs.files.read(target)


def on_dask(tracks, partitions=3, **arguments):
    given = {"domain": SQUARE, "keep": [], "rng": 0, "repeat": "same", **COLUMNS} | arguments
    return quiet(
        dask_geopandas.from_geopandas(tracks, npartitions=partitions, sort=False).tracs.perturb, 4, **given
    ).compute()


LABELS = {
    "integers": lambda codes: codes,
    "floats": lambda codes: codes.astype(float),
    "nullable": lambda codes: codes.astype("Int64"),
    "texts of numbers": lambda codes: codes.astype(str),
    "categories": lambda codes: codes.astype(str).astype("category"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_memory_batches_and_dask_give_one_result_for_labels_of_any_type(tmp_path, kind):
    tracks = frame(150)
    expected = repeated(tracks)
    tracks["person"] = LABELS[kind](tracks["person"])
    assert same_locations(repeated(tracks), expected)
    assert same_locations(in_file(tracks, tmp_path), expected)
    assert same_locations(on_dask(tracks), expected)


@pytest.mark.parametrize("ending", ["gpkg", "csv"])
def test_other_files_give_the_same_result(tmp_path, ending):
    tracks = frame(90)
    read = {"x": "x", "y": "y", "input_crs": 32654} if ending == "csv" else {}
    expected = repeated(tracks)
    if ending == "csv":
        tracks["x"], tracks["y"] = tracks.geometry.x, tracks.geometry.y
        tracks.drop(columns="geometry").to_csv(tmp_path / "in.csv", index=False)
        quiet(
            geotracs.perturb_file,
            tmp_path / "in.csv",
            tmp_path / "out.csv",
            4,
            domain=SQUARE,
            keep=[],
            rng=0,
            repeat="same",
            batch_rows=20,
            **COLUMNS,
            **read,
        )
        found = pd.read_csv(tmp_path / "out.csv")
        assert np.allclose(found[["x", "y"]], expected.geometry.get_coordinates(), rtol=0, atol=1e-6)
    else:
        assert same_locations(in_file(tracks, tmp_path, ending), expected)


def test_without_rng_a_release_is_one_release_on_dask_and_in_batches(tmp_path):
    tracks = frame(200, people=2)
    for private in (in_file(tracks, tmp_path, rng=None), on_dask(tracks, rng=None), repeated(tracks, rng=None)):
        assert_one_report_each(private, tracks)
    assert not same_locations(repeated(tracks, rng=None), repeated(tracks, rng=None))


def test_whose_rows_they_are_may_be_another_column_than_the_trajectory():
    tracks = frame(200).assign(trip=np.arange(200) // 10)
    by_person = repeated(tracks, trajectory="trip", person="person")
    assert same_locations(by_person, repeated(tracks))
    assert not same_locations(repeated(tracks, trajectory="trip"), by_person)
    assert "person" not in by_person.columns
    one = repeated(tracks, trajectory=None)
    assert one.geometry.to_wkb().nunique() == tracks["at"].nunique()


def test_lines_hold_repeated_locations():
    tracks = frame(60, people=2).sort_values(["person", "t"], kind="stable")
    lines = tracks.groupby("person").geometry.apply(lambda own: shapely.LineString(own.tolist()))
    lines = gpd.GeoDataFrame({"person": lines.index}, geometry=lines.to_numpy(), crs=32654)
    found = repeated(lines, time=None).geometry.get_coordinates().to_numpy()
    assert np.array_equal(found, repeated(tracks).geometry.get_coordinates().to_numpy())
    with pytest.raises(InputError, match="whose lines these are"):
        repeated(lines, trajectory=None, time=None)


def test_rows_with_another_epsilon_are_drawn_independently():
    tracks = frame(100, people=1).assign(eps=np.tile([2.0, 5.0], 50))
    private = repeated(tracks, "eps")
    assert private.geometry.to_wkb().nunique() == len(tracks[["at", "eps"]].drop_duplicates())


def test_degrees_the_globe_and_a_polygon():
    tracks = frame(60, people=2).to_crs(4326)
    for domain in ((136.4, -0.2, 136.7, 0.2), geotracs.domains.Globe()):
        private = repeated(tracks, domain=domain, cell=300)
        assert 2 <= private.geometry.to_wkb().nunique() < 60
    town = shapely.Point(3000, 3000).buffer(4000)
    private = repeated(frame(60, people=2), domain=town, outside="clip")
    assert private.geometry.within(town.buffer(1e-6)).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"repeat": "once"}, '`repeat` must be "same"'),
        ({"cell": 0}, "`cell` must be a number of metres"),
        ({"cell": "wide"}, "`cell` must be a number of metres"),
        ({"cell": 100, "repeat": None}, "`cell` is for repeated reports"),
        ({"unit": "trajectory"}, 'Use unit="location"'),
        ({"method": "tracs-d"}, "from the report before it"),
        ({"method": "geo-ind"}, "promises less"),
        ({"person": "nobody"}, "no column 'nobody'"),
        ({"person": "person", "repeat": None}, "`person` is for a ledger"),
    ],
)
def test_errors(arguments, words):
    with pytest.raises(InputError, match=words):
        repeated(frame(20), **arguments)


def test_a_row_without_a_person_is_an_error():
    tracks = frame(20).assign(who=[None, *range(19)])
    with pytest.raises(InputError, match=r"1 row\(s\) have no value in the column 'who'"):
        repeated(tracks, person="who")


def test_auto_takes_a_method_that_looks_at_each_location_by_itself():
    assert repeated(frame(20), 0.5, method="joint").attrs["tracs"]["method"] == "joint"
    given = {"domain": SQUARE, "keep": [], "repeat": "same", **COLUMNS}
    assert quiet(geotracs.perturb, frame(20), 0.5, "auto", **given).attrs["tracs"]["method"] != "tracs-d"


def test_the_record_and_its_sentences():
    guarantee = repeated(frame(20), cell=250).tracs.guarantee
    assert guarantee.repeat == {"cell": 250.0, "person": "person"}
    words = str(guarantee)
    assert "Each distinct cell of a person was reported by joint under pure 4-local" in words
    assert "cell of 250 m share one report" in words
    assert "which rows of a person are at the same place" in words
    assert "A person in n distinct cells has epsilon n times 4 as a whole" in words
    assert "repeat" not in repeated(frame(20), repeat=None).attrs["tracs"]


def test_a_ledger_charges_every_row(tmp_path):
    """How many distinct cells there are is private before the draw; the number of rows is the public bound."""
    tracks, ledger = frame(30, people=2), geotracs.Ledger(tmp_path / "ledger.db", budget=1000)
    repeated(tracks, 0.5, rng=None, ledger=ledger, data="walks")
    assert [ledger.spent(one) for one in (0, 1)] == (0.5 * tracks["person"].value_counts().sort_index()).tolist()


def test_pairs_are_told_apart_by_person_cell_and_epsilon():
    whose = Whose(Key(bytes(32)), Key(bytes(32)).names(["a", "b"]), np.array([0, 1, 0, 0, 0]))
    cells = np.array([[5, 7], [5, 7], [5, 7], [7, 5], [5, 7]])
    first, which = whose.pairs(cells, 1.0)
    assert (first.tolist(), which.tolist()) == ([0, 1, 3], [0, 1, 0, 2, 0])
    first, which = whose.pairs(cells, np.array([1.0, 1.0, 1.0, 1.0, 2.0]))
    assert (first.tolist(), which.tolist()) == ([0, 1, 3, 4], [0, 1, 0, 2, 3])


def test_texts_of_labels():
    assert text(np.float32(7)) == text(np.int8(7)) == text("7")
    assert text("e\u0301") == text("\xe9")
    assert text(True) != text(1)


def test_the_command_line(tmp_path, capsys):
    geotracs.files.write(frame(50), tmp_path / "in.gpkg")
    command = ["perturb", tmp_path / "in.gpkg", tmp_path / "out.gpkg", "--eps", 4, "--domain=0,0,20000,20000"]
    command += ["--trajectory", "person", "--time", "t", "--keep", "none", "--repeat", "same"]
    with pytest.raises(SystemExit) as end:
        main([str(part) for part in (*command, "--cell", 1000)])
    assert end.value.code == 0
    assert "cell of 1000 m share one report" in capsys.readouterr().out
    assert_one_report_each(geotracs.files.read(tmp_path / "out.gpkg"), frame(50))
    with pytest.raises(SystemExit):
        main([str(part) for part in (*command, "--overwrite", "--unit", "trajectory")])
    assert "--repeat same spends epsilon for each distinct cell" in capsys.readouterr().err
