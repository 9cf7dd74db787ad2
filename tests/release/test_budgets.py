"""Epsilons of a column, and uneven shares of a trajectory's: in memory, in batches, on dask."""

import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
import geotracs.release.blocks as blocks
from geotracs import Guarantee, InputError, PrivacyWarning
from geotracs.core.budget import MAX_LEVELS
from geotracs.release.plan import Plan
from tests.golden import BOX, people
from tests.helpers import quiet

COLUMNS = {"trajectory": "person", "time": "t", "domain": BOX, "keep": []}
RNG = {"rng": 1}


@pytest.fixture
def city():
    """Return twelve people with an epsilon for each row, and one for each person."""
    frame = people(lines=False).copy()
    rng = np.random.default_rng(5)
    frame["row_eps"] = rng.choice([0.5, 1.0, 2.0, 8.0], len(frame))
    frame["own_eps"] = frame["person"].map(dict(zip(frame["person"].unique(), np.linspace(1, 12, 12), strict=True)))
    return frame


@pytest.fixture
def used(monkeypatch):
    """Return the epsilons with which locations were drawn, call by call."""
    calls = []
    reports = Plan.reports

    def spy(self, tracks, key, **arguments):
        lengths = arguments.get("lengths")
        lengths = tracks.lengths if lengths is None else lengths
        found = self.budgets.epsilons(tracks, arguments.get("own"), lengths, arguments.get("earlier"))
        calls.append(tracks.in_frame_order(found))
        return reports(self, tracks, key, **arguments)

    monkeypatch.setattr(Plan, "reports", spy)
    return calls


def same(one, other):
    """Whether two releases hold the same locations."""
    return np.array_equal(*(shapely.get_coordinates(np.asarray(frame.geometry.values)) for frame in (one, other)))


def in_batches(frame, folder, *arguments, **given):
    """Return the release of a file in batches, and its guarantee."""
    frame.to_parquet(folder / "in.parquet")
    paths = folder / "in.parquet", folder / "out.parquet"
    guarantee = quiet(geotracs.perturb_file, *paths, *arguments, overwrite=True, **given)
    return gpd.read_parquet(paths[1]), guarantee


@pytest.mark.parametrize("method", ["joint", "tracs-c", "tracs-d", "strawman", "planar-laplace"])
def test_equal_values_are_one_epsilon(city, method):
    city["same"] = 4.0
    for unit in ("location", "trajectory"):
        column = quiet(geotracs.perturb, city, "same", method, unit=unit, **COLUMNS, **RNG)
        number = quiet(geotracs.perturb, city, 4.0, method, unit=unit, **COLUMNS, **RNG)
        assert same(column, number)
        assert column.tracs.guarantee.epsilon == 4.0
    pd.testing.assert_series_equal(column["same"], city["same"])


def test_each_row_is_drawn_with_its_epsilon(city, used):
    shuffled = city.sample(frac=1, random_state=1)
    for method in ("joint", "tracs-d"):
        quiet(geotracs.perturb, shuffled, "row_eps", method, **COLUMNS, **RNG)
        np.testing.assert_array_equal(used.pop(), shuffled["row_eps"])
    quiet(geotracs.perturb, shuffled, "own_eps", "tracs-d", unit="trajectory", **COLUMNS, **RNG)
    counts = shuffled["person"].map(shuffled["person"].value_counts())
    np.testing.assert_allclose(used.pop(), shuffled["own_eps"] / counts, rtol=1e-12)


def test_lines_have_the_epsilon_of_their_row(used):
    lines = people(lines=True).assign(eps=np.linspace(1, 2, 12))
    private = quiet(geotracs.perturb, lines, "eps", "joint", domain=BOX, keep=[], **RNG)
    counts = shapely.get_num_coordinates(lines.geometry.values)
    np.testing.assert_array_equal(used.pop(), np.repeat(lines["eps"], counts))
    assert private.tracs.guarantee.per_trajectory == pytest.approx((lines["eps"] * counts).max())


def test_the_record_of_a_column(city):
    private = quiet(geotracs.perturb, city, "row_eps", "joint", **COLUMNS)
    guarantee = private.tracs.guarantee
    sums = city.groupby("person")["row_eps"].sum()
    assert guarantee.epsilon == guarantee.per_location == 8.0
    assert guarantee.per_trajectory == pytest.approx(sums.max())
    assert guarantee.epsilons == {
        "column": "row_eps", "smallest": 0.5, "largest": 8.0, "levels": 4, "steps": None, "total": sums.max(),
    }  # fmt: skip
    assert guarantee.kept == ["row_eps"]
    assert "from 0.5 to 8 (the public column 'row_eps')" in str(guarantee)
    assert f"{sums.max():g} at most" in str(guarantee)
    shared = quiet(geotracs.perturb, city, "own_eps", "joint", unit="trajectory", **COLUMNS).tracs.guarantee
    assert shared.per_trajectory == shared.epsilon == 12.0
    assert "shared evenly" in str(shared)


def test_damaged_records_are_none(city):
    record = quiet(geotracs.perturb, city, "row_eps", "joint", **COLUMNS).attrs["tracs"]
    for wrong in (
        {"epsilons": {"column": "b"}},
        {"epsilons": {"column": 3}},
        {"allocation": [None]},
        {"allocation": "?"},
    ):
        with pytest.raises(InputError, match="no record"):
            Guarantee.from_attrs({"tracs": {**record, **wrong}})


def test_many_values_become_few_levels_and_never_more(city, used):
    many = pd.concat([city] * 30, ignore_index=True)
    many["row_eps"] = np.random.default_rng(2).uniform(0.5, 9, len(many))
    guarantee = quiet(geotracs.perturb, many, "row_eps", "joint", **COLUMNS, **RNG).tracs.guarantee
    (eps,) = used
    assert guarantee.epsilons["steps"] == 64
    assert guarantee.epsilons["levels"] == len(np.unique(eps)) <= MAX_LEVELS
    assert np.all(eps <= many["row_eps"])
    assert np.all(eps > many["row_eps"] / 2 ** (1 / 64) * (1 - 1e-12))
    assert "rounded down" in str(guarantee)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([None, 1.0], "1 missing"),
        ([-1.0, 0.0], "2 zero or negative"),
        ([700.0, np.inf], "2 700 or more"),
        ([np.nan, -np.inf], "1 missing, 1 zero or negative"),
        (["a", "b"], "must hold numbers"),
        ([True, False], "must hold numbers"),
        ([1j, 2j], "must hold numbers"),
    ],
)
def test_what_is_no_epsilon_is_counted(city, tmp_path, values, words):
    bad = city.assign(row_eps=1.0).astype({"row_eps": object})
    bad["row_eps"] = [*values, *[values[1] if isinstance(values[1], (str, bool, complex)) else 1.0] * (len(bad) - 2)]
    bad["row_eps"] = bad["row_eps"].infer_objects()
    with pytest.raises(InputError, match=words):
        quiet(geotracs.perturb, bad, "row_eps", **COLUMNS)
    ddf = dask_geopandas.from_geopandas(bad, npartitions=3)
    with pytest.raises(InputError, match=words):
        quiet(ddf.tracs.perturb, "row_eps", **COLUMNS)
    if bad["row_eps"].dtype.kind != "c":
        with pytest.raises(InputError, match=words):
            in_batches(bad, tmp_path, "row_eps", batch_rows=17, **COLUMNS)


def test_rows_without_a_location_need_no_epsilon(city):
    city.loc[3, "row_eps"] = np.nan
    city.loc[3, "geometry"] = None
    private = quiet(geotracs.perturb, city, "row_eps", **COLUMNS)
    assert private.geometry.isna().sum() == 1


def test_a_trajectory_has_one_epsilon(city, tmp_path):
    with pytest.raises(InputError, match=r"\d+ trajectories have several values in the epsilon column 'row_eps'"):
        quiet(geotracs.perturb, city, "row_eps", unit="trajectory", **COLUMNS)
    with pytest.raises(InputError, match=r"\d+ trajectories have several values"):
        in_batches(city, tmp_path, "row_eps", unit="trajectory", batch_rows=5, **COLUMNS)
    ddf = dask_geopandas.from_geopandas(city, npartitions=1)
    with pytest.raises(InputError, match="several values"):
        quiet(ddf.tracs.perturb("row_eps", unit="trajectory", shuffle=True, **COLUMNS).compute)


def test_unknown_and_empty_columns(city):
    with pytest.raises(InputError, match="There is no column 'budget'"):
        quiet(geotracs.perturb, city, "budget", **COLUMNS)
    with pytest.raises(InputError, match="there is no location"):
        quiet(geotracs.perturb, city.iloc[:0], "row_eps", **COLUMNS)
    with pytest.raises(InputError, match="unit="):
        quiet(geotracs.perturb, city, 4, allocation="ends", **COLUMNS)
    for wrong in ("endz", (1,), (1, -1), (1, "a"), 3, (1, np.inf)):
        with pytest.raises(InputError, match="`allocation` must be"):
            quiet(geotracs.perturb, city, 4, unit="trajectory", allocation=wrong, **COLUMNS)


def test_a_column_that_tells_where_rows_are_warns(city, recwarn):
    geotracs.perturb(city, "row_eps", **COLUMNS)
    assert not [warning for warning in recwarn if "original locations" in str(warning.message)]
    city["row_eps"] = city.geometry.x / 100
    with pytest.warns(PrivacyWarning, match="'row_eps' holds the original locations"):
        geotracs.perturb(city, "row_eps", **COLUMNS)


CASES = [
    ("row_eps", {}),
    ("own_eps", {"unit": "trajectory"}),
    ("own_eps", {"unit": "trajectory", "allocation": "ends"}),
    (6.0, {"unit": "trajectory", "allocation": "water-filling"}),
    (6.0, {"unit": "trajectory", "allocation": (3, 1, 2)}),
]


@pytest.mark.parametrize("method", ["joint", "tracs-d", "atp", "nearest"])
@pytest.mark.parametrize(("eps", "arguments"), CASES)
def test_batches_make_the_same_release(city, tmp_path, method, eps, arguments):
    given = {**COLUMNS, **RNG, **arguments}
    if method in ("atp", "nearest"):
        given["round_to"] = geotracs.places.Grid(cell=8000)
    whole = quiet(geotracs.perturb, city, eps, method, **given)
    pieces, guarantee = in_batches(city, tmp_path, eps, method, batch_rows=13, **given)
    assert same(whole, pieces)
    assert guarantee == whole.tracs.guarantee
    assert list(pieces.columns) == list(whole.columns)


def test_many_levels_in_batches(city, tmp_path):
    many = pd.concat([city] * 10, ignore_index=True)
    many["row_eps"] = np.random.default_rng(2).uniform(0.5, 9, len(many))
    whole = quiet(geotracs.perturb, many, "row_eps", **COLUMNS, **RNG)
    assert same(whole, in_batches(many, tmp_path, "row_eps", batch_rows=100, **COLUMNS, **RNG)[0])
    assert whole.tracs.guarantee.epsilons["steps"] == 64


def test_uneven_shares_need_rows_in_order(city, tmp_path, used):
    shuffled = city.sample(frac=1, random_state=1)
    given = {**COLUMNS, "unit": "trajectory", "allocation": "ends"}
    with pytest.raises(InputError, match="An uneven allocation looks along a trajectory"):
        in_batches(shuffled, tmp_path, 4.0, batch_rows=13, **given)
    used.clear()
    in_batches(shuffled, tmp_path, 4.0, batch_rows=13, sort=True, **given)
    total = np.concatenate(used).sum()
    assert total == pytest.approx(4.0 * shuffled["person"].nunique())
    quiet(geotracs.perturb, shuffled, 4.0, **given)
    frame = shuffled.assign(used=used[-1]).sort_values("t")
    for _, own in frame.groupby("person"):
        assert own["used"].sum() == pytest.approx(4.0)
        if len(own) > 2:
            assert own["used"].iloc[[0, -1]].min() == pytest.approx(4 * own["used"].iloc[1])


def test_pieces_inside_one_trajectory(city, tmp_path, monkeypatch):
    """Blocks of a few locations, so that trajectories are cut: positions go on from piece to piece."""
    monkeypatch.setattr(blocks, "BLOCK", 4)
    for method in ("joint", "tracs-d"):
        given = {**COLUMNS, **RNG, "unit": "trajectory", "allocation": (3, 1, 2)}
        whole = quiet(geotracs.perturb, city, "own_eps", method, **given)
        assert same(whole, in_batches(city, tmp_path, "own_eps", method, batch_rows=5, **given)[0])


@pytest.mark.parametrize(("eps", "arguments"), CASES)
def test_dask_draws_with_the_same_epsilons(city, used, eps, arguments):
    ddf = dask_geopandas.from_geopandas(city, npartitions=1)
    private = quiet(ddf.tracs.perturb, eps, shuffle=False, **COLUMNS, **RNG, **arguments)
    guarantee = Guarantee.from_attrs(private._meta.attrs)
    used.clear()
    quiet(private.compute, scheduler="synchronous")
    (found,) = used
    used.clear()
    quiet(geotracs.perturb, ddf.compute(), eps, **COLUMNS, **RNG, **arguments)
    if arguments:
        assert guarantee.epsilons["steps"] == 64
        assert guarantee.per_trajectory == guarantee.epsilon
        assert np.all((found <= used[0]) & (found > used[0] * 0.98))
    else:
        assert guarantee.per_trajectory is None
        np.testing.assert_array_equal(found, used[0])
    assert guarantee.epsilon == {"row_eps": 8.0, "own_eps": 12.0}.get(eps, eps)


@pytest.mark.parametrize(
    ("allocation", "words"),
    [("ends", "four times as much"), ("water-filling", "by water-filling"), ((3, 1, 3), "by the weights (3, 1, 3)")],
)
def test_the_record_of_an_allocation(city, allocation, words):
    guarantee = quiet(geotracs.perturb, city, 4.0, unit="trajectory", allocation=allocation, **COLUMNS).tracs.guarantee
    assert guarantee.allocation == (list(allocation) if isinstance(allocation, tuple) else allocation)
    assert words in str(guarantee)
    assert "at most all of it" in str(guarantee)
    assert guarantee.per_trajectory == 4.0


def test_sweeps_take_an_allocation(city):
    given = {**COLUMNS, "unit": "trajectory", "allocation": "ends"}
    table = quiet(geotracs.sweep, city, [2, 4], ["joint"], 1, **given)
    assert len(table) == 2


def test_the_best_share_is_recorded_as_a_number(city, tmp_path):
    given = {**COLUMNS, **RNG, "direction_share": "best"}
    for more in ({}, {"fit": "best"}, {"start": "places", "round_to": geotracs.places.Grid(cell=8000)}):
        private = quiet(geotracs.perturb, city, 2.0, "tracs-d", **given, **more)
        guarantee = private.tracs.guarantee
        share = guarantee.options["direction_share"]
        assert 0 < share < 1
        assert guarantee.shares["direction"] == share
    private = quiet(geotracs.perturb, city, "row_eps", "tracs-d", **given)
    share = private.tracs.guarantee.shares["direction"]
    assert same(private, quiet(geotracs.perturb, city, "row_eps", "tracs-d", **{**given, "direction_share": share}))
    assert same(private, in_batches(city, tmp_path, "row_eps", "tracs-d", batch_rows=13, **given)[0])
