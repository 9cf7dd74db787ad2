"""A folder on two worker processes: one release, whatever happens to them."""

import os

import geopandas as gpd
import numpy as np
import pyarrow.parquet as pq
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import InputError, files
from geotracs.core import digest
from tests.release.file.streamed import COLUMNS, quiet

distributed = pytest.importorskip("distributed")
cluster = pytest.importorskip("geotracs.release.file.cluster")

pytestmark = pytest.mark.slow
SMALL = 100
"""How many rows a part has here."""


def prepare():
    import geotracs.release.file.cluster as there

    there.PART = SMALL


@pytest.fixture(scope="module")
def client():
    before, cluster.PART = cluster.PART, SMALL
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        distributed.Client(two, set_as_default=False) as one,
    ):
        one.register_plugin(Prepared())
        yield one
    cluster.PART = before


class Prepared(distributed.WorkerPlugin):
    """Makes parts small on every worker, also on one that replaces another."""

    def setup(self, worker):
        prepare()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same people, whole within files (`whole`) and all over them (`mixed`)."""
    folder, rng, n = tmp_path_factory.mktemp("cluster"), np.random.default_rng(4), 400
    frame = gpd.GeoDataFrame(
        {"person": np.arange(n) // 20, "t": np.tile(np.arange(20), n // 20), "number": np.arange(n)},
        geometry=gpd.points_from_xy(rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n)),
        crs=4326,
    )
    frame.loc[[5, 333], "geometry"] = None
    for name, rows in (("whole", frame), ("mixed", frame.sample(frac=1, random_state=3))):
        (folder / name).mkdir()
        for number in range(4):
            path = folder / name / f"{number}.parquet"
            rows[number * SMALL : (number + 1) * SMALL].to_parquet(path, row_group_size=60)
    return folder


def released(client, src, dst, eps=4, method="tracs-c", **arguments):
    arguments = {"keep": ["number"], **COLUMNS, **arguments}
    guarantee = quiet(geotracs.perturb_file, src, dst, eps, method, client=client, **arguments)
    assert {path.name for path in dst.parent.glob(f".{dst.name}*")} == set()
    return guarantee, files.read(dst)


@pytest.mark.parametrize(("src", "method", "arguments"), [
    ("mixed", "joint", {"unit": "trajectory"}),
    ("whole", "tracs-d", {"encoding": "geoarrow"}),
    ("mixed", "tracs-d", {}),
])  # fmt: skip
def test_one_release_that_is_the_same_again(client, folder, tmp_path, src, method, arguments):
    guarantee, private = released(client, folder / src, tmp_path / "out", 4, method, **arguments)
    _, again = released(client, folder / src, tmp_path / "again", 4, method, **arguments)
    assert_geodataframe_equal(private, again)
    assert guarantee.locations == 398
    assert guarantee.longest == 20
    assert private.attrs["tracs"] == guarantee.to_attrs() == files.record(tmp_path / "out")
    present = private[private.geometry.notna()]
    xy = np.column_stack([present.geometry.x, present.geometry.y])
    assert digest.compare(guarantee.to_attrs()["digest"], xy) == "same"
    original = files.read(folder / src).sort_values("number")
    private = private.sort_values("number")
    assert private[["person", "t", "number"]].equals(original[["person", "t", "number"]].set_axis(private.index))
    assert (private.geometry.isna().to_numpy() == original.geometry.isna().to_numpy()).all()
    assert not private.geometry.geom_equals(original.geometry.set_axis(private.index)).any()
    if method == "tracs-d":  # every file holds whole trajectories
        parts = [set(pq.read_table(path)["person"].to_pylist()) for path in (tmp_path / "out").glob("part*")]
        assert sum(map(len, parts)) == 20


def lose_one_worker(marker):
    """Make the first worker that has written a part stop at once; runs on a worker."""
    import geotracs.release.file.cluster as there

    class Lost:
        @staticmethod
        def replace(before, after):
            os.replace(before, after)
            if not os.path.exists(marker):
                open(marker, "w").close()
                os._exit(1)

    there.os = Lost


def test_a_worker_that_is_killed_after_it_wrote(client, folder, tmp_path):
    _, expected = released(client, folder / "mixed", tmp_path / "expected")
    client.run(lose_one_worker, str(tmp_path / "lost"))
    _, private = released(client, folder / "mixed", tmp_path / "out")
    assert (tmp_path / "lost").exists()
    assert_geodataframe_equal(private, expected)
    client.wait_for_workers(2)


def fill_the_disk(there):
    import geotracs.release.file.cluster as module

    class Full:
        @staticmethod
        def replace(before, after):
            raise OSError(28, "No space left on device")

    module.os = Full if there else os


def test_a_full_disk_leaves_nothing(client, folder, tmp_path):
    one = next(iter(client.scheduler_info()["workers"]))
    client.run(fill_the_disk, True, workers=[one])
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        released(client, folder / "mixed", tmp_path / "out")
    client.run(fill_the_disk, False)
    assert list(tmp_path.iterdir()) == []


def pretend(version):
    geotracs.__version__ = version


def test_what_a_cluster_refuses(client, folder, tmp_path, monkeypatch):
    src, version = folder / "mixed", geotracs.__version__
    one = next(iter(client.scheduler_info()["workers"]))
    client.run(pretend, "0.0.1", workers=[one])
    with pytest.raises(InputError, match=r"A worker runs geotracs 0\.0\.1"):
        released(client, src, tmp_path / "out")
    client.run(pretend, version, workers=[one])
    with pytest.raises(InputError, match="without a trajectory column all points are one"):
        released(client, src, tmp_path / "out", 4, "tracs-d", trajectory=None)
    with pytest.raises(InputError, match="a name without an ending"):
        released(client, src, tmp_path / "out.parquet")
    with pytest.raises(InputError, match="`sort` has no meaning on a cluster"):
        released(client, src, tmp_path / "out", sort=True)
    with pytest.raises(InputError, match=r"`client` must be a distributed\.Client"):
        released("tcp://10.0.0.1:8786", src, tmp_path / "out")
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with pytest.raises(InputError, match="There is no dask scheduler at"), cluster.connected("tcp://127.0.0.1:9"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_files_that_differ_and_a_file_that_is_replaced(client, folder, tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(2):
        frame = files.read(folder / "mixed" / f"{number}.parquet")
        frame["number"] = ["n" * number] * len(frame) if number else frame["number"]
        frame.to_parquet(tmp_path / "in" / f"{number}.parquet")
    with pytest.raises(InputError, match="columns that do not fit"):
        released(client, tmp_path / "in", tmp_path / "out")
    source = files.open_source(folder / "mixed")
    part = source.split(SMALL)[0]
    os.utime(folder / "mixed" / "0.parquet", ns=(1, 1))
    for one in (source, part):
        with pytest.raises(InputError, match="changed while it was read"):
            list(one.tables(SMALL))


def test_a_ledger_is_charged_once(client, folder, tmp_path):
    ledger = geotracs.Ledger(tmp_path / "ledger.db", budget=100)
    arguments = {"ledger": ledger, "data": "d", "unit": "trajectory", "rng": None}
    _, private = released(client, folder / "whole", tmp_path / "out", 4, "tracs-c", **arguments)
    assert ledger.spent(7) == 4
    assert len(private) == 400
    with pytest.raises(InputError, match="With a ledger, rows are not shuffled"):
        released(client, folder / "mixed", tmp_path / "again", 4, "tracs-c", **arguments)
    assert ledger.spent(7) == 4


def test_reports_are_repeated_over_all_parts_as_in_memory(client, folder, tmp_path):
    given = {"repeat": "same", "cell": 5000, "rng": 0, "trajectory": "person"}
    _, private = released(client, folder / "mixed", tmp_path / "out", **given)
    given |= {"keep": ["number"], "time": "t"}
    whole = quiet(geotracs.perturb, files.read(folder / "mixed"), 4, "tracs-c", **given)
    assert private.geometry.to_wkb().duplicated().sum() > 100
    assert_geodataframe_equal(private.sort_values("number"), whole.sort_values("number"), check_like=True)
