"""dask frames on two worker processes: one release, whatever happens to them."""

import os
import pickle
import re
import signal
import time

import geopandas as gpd
import pandas as pd
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import InputError
from geotracs.core import randomness
from tests.helpers import COLUMNS
from tests.lazy import four_hundred_rows, here, lazily, partitions, places_for  # noqa: F401  (fixtures)

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask")
dask_geopandas = pytest.importorskip("dask_geopandas")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def cluster():
    patience = {"distributed.comm.timeouts.connect": "3s"}
    with (
        dask.config.set(patience),  # with those that are killed
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
    ):
        yield two


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as one:
        one.wait_for_workers(2)
        yield one


def test_same_release_whatever_computes_it(ddf, client):
    private = lazily(ddf, 4, "tracs-d", shuffle=False, **COLUMNS)
    one = here(private)
    assert_geodataframe_equal(private.compute(scheduler="threads", num_workers=4), one)
    assert_geodataframe_equal(private.compute(), one)
    assert_geodataframe_equal(private.partitions[2].compute(), one[200:300])
    assert ddf.tracs.compare(private)["max"] == pytest.approx(here(ddf).tracs.compare(one)["max"], abs=1e-3)
    again = here(lazily(ddf, 4, "tracs-d", shuffle=False, **COLUMNS))
    assert not again.geometry.geom_equals(one.geometry).any()  # another call is another release


def kill_a_worker(client):
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)


def test_head_compute_and_compute_after_a_worker_was_killed(ddf, client):
    releases = [lazily(ddf, 4, "tracs-d", shuffle=shuffle, **COLUMNS) for shuffle in (True, False)]
    before = [(private.head(20), private.compute()) for private in releases]
    kill_a_worker(client)
    for private, (head, first) in zip(releases, before, strict=True):
        assert_geodataframe_equal(first, private.compute())
        assert_geodataframe_equal(head, first.head(20))


def slowly(part):
    time.sleep(1)
    return part


def test_a_worker_killed_in_the_middle(ddf, client, tmp_path):
    """After a partition was drawn, and before the release is complete: the draw is lost and made again."""
    private = lazily(ddf, 4, "tracs-c", **COLUMNS)
    future = client.compute(private.map_partitions(slowly, meta=private._meta), optimize_graph=False)

    def drawn(dask_scheduler):
        tasks = [t for key, t in dask_scheduler.tasks.items() if re.search(r"tracs-perturb-\w{32}-\d+", str(key))]
        return [worker.address for task in tasks for worker in task.who_has or ()]

    deadline = time.monotonic() + 60
    while not (holders := client.run_on_scheduler(drawn)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not future.done()
    os.kill(client.run(os.getpid, workers=holders[:1])[holders[0]], signal.SIGKILL)
    assert_geodataframe_equal(future.result(timeout=60), here(private))
    private.to_parquet(tmp_path / "out")
    back = pd.concat([gpd.read_parquet(part) for part in sorted((tmp_path / "out").glob("*.parquet"))])
    assert back.geometry.geom_equals(here(private).geometry).sum() == 398
    assert back.tracs.guarantee == private.tracs.guarantee
    with pytest.raises(InputError, match="dask drops it when it reads files again"):
        _ = dask_geopandas.read_parquet(tmp_path / "out").tracs.guarantee


def arguments_of(task):
    """All that a task was given that is a key, however deep dask has put it."""
    found, waiting = [], [task]
    while waiting:
        one = waiting.pop()
        if isinstance(one, randomness.Key):
            found.append(one)
        waiting += [*getattr(one, "args", ()), *getattr(one, "kwargs", {}).values()]
        waiting += (
            list(one) if isinstance(one, (list, tuple)) else [getattr(one, "value", None)] * hasattr(one, "value")
        )
    return found


def failing(part):
    raise ValueError("a task that fails is logged with its arguments")


def test_the_key_is_in_the_graph_and_never_shown(ddf, client, monkeypatch, caplog):
    bits = []
    fresh = randomness.Key.fresh

    def remember(rng):
        key = fresh(rng)
        bits.append(pickle.loads(pickle.dumps(key))._bits)
        return key

    monkeypatch.setattr(randomness.Key, "fresh", remember)
    private = lazily(ddf, 4, "tracs-c", **COLUMNS)
    secrets = [bits[0], fresh(randomness.Keystream(bits[0], 2**63))._bits]
    shown = [repr(private), str(private), private._repr_html_(), private.expr.tree_repr(), repr(private.expr)]
    graph = private.dask
    shown += [repr(graph), repr(list(graph)), *(repr(task) + str(task) for task in dict(graph).values())]
    shown += [repr(private._meta.attrs), repr(here(private).attrs), str(private.tracs.guarantee)]
    with pytest.raises(ValueError, match="a task that fails"):
        private.map_partitions(failing, meta=private._meta).compute()
    wrong = lazily(
        dd.from_delayed(ddf.to_delayed(), meta=ddf._meta.drop(columns="speed"), verify_meta=False), 4, "tracs-c"
    )
    with pytest.raises(InputError, match=r"Partition \d has the columns"):
        wrong.compute()
    secrets += [bits[-1]]
    shown += [caplog.text, repr(client.get_worker_logs()), repr(client.get_scheduler_logs())]
    assert "Compute Failed" in repr(client.get_worker_logs())  # which quotes the arguments
    assert not any(isinstance(getattr(task, "value", task), randomness.Key) for task in dict(graph).values())
    assert bits[0] in pickle.dumps([argument for task in dict(graph).values() for argument in arguments_of(task)])
    for secret in secrets:
        for text in shown:
            assert secret.hex() not in text
            assert repr(secret)[2:-1] not in text
            assert str(int.from_bytes(secret, "little")) not in text


def test_trajectories_are_brought_together(people, client):
    mixed = people.sample(frac=1, random_state=0)
    ddf = dask_geopandas.from_geopandas(mixed, npartitions=4, sort=False)
    private = lazily(ddf, 4, "tracs-d", shuffle=True, **COLUMNS)
    parts = dask.compute(*private.to_delayed())
    assert sum(len(part) for part in parts) == 400
    homes = [set(part["person"]) for part in parts]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 20
    assert_geodataframe_equal(here(private), private.compute())
    shared = lazily(ddf, 600, "tracs-c", unit="trajectory", shuffle=True, **COLUMNS).compute()
    near = geotracs.displacement(mixed.sort_index(), shared.sort_index())
    # 30 each is close; 600 each would be within a metre, and one or two partitions' share in between.
    assert 5 < near.median() < 500
    assert "shared evenly over the locations of each" in str(shared.tracs.guarantee)
