"""What a release of a dask frame cost: counts of distances that add up, whatever the partitions."""

import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from tests.conftest import TOKYO
from tests.helpers import COLUMNS
from tests.lazy import four_hundred_rows, here, in_this_process, lazily, partitions, places_for  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_process")]

dask = pytest.importorskip("dask")
dask_geopandas = pytest.importorskip("dask_geopandas")
dd = pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("by", [None, "person", "trajectory"])
def test_compare_is_a_reduction(ddf, people, by):
    private = lazily(ddf, 4, **COLUMNS)
    found = ddf.tracs.compare(private, by=by, within=[700, 5000])
    expected = people.tracs.compare(here(private), by=by, within=[700, 5000])
    if by is not None:
        expected = expected.loc[found.index]
    exact = ["ae", "max", "rqp_700", "rqp_5000"]
    for name in exact:
        assert np.abs(found[name] - expected[name]).max() <= 1e-3, name
    for name in ("median", "p95"):
        assert np.abs(found[name] / expected[name] - 1).max() <= 2e-4, name
    with pytest.raises(InputError, match="On a dask frame `metrics` must be"):
        ddf.tracs.compare(private, metrics=["ae", "frechet"])
    with pytest.raises(InputError, match="4 and 2 partitions"):
        ddf.tracs.compare(lazily(ddf.repartition(npartitions=2), 4))


def test_compare_by_labels_that_are_missing(people):
    people["group"] = np.where(np.arange(len(people)) % 3 == 0, np.nan, 1.0)
    ddf = dask_geopandas.from_geopandas(people, npartitions=4)
    private = lazily(ddf, 4)
    found = ddf.tracs.compare(private, by="group", within=[700])
    expected = people.tracs.compare(here(private), by="group", within=[700])
    pd.testing.assert_frame_equal(found, expected.loc[found.index], rtol=2e-4)


def test_compare_after_a_shuffle_says_how(ddf):
    private = lazily(ddf, 4, "tracs-d", shuffle=True, **COLUMNS)
    with pytest.raises(InputError, match=r'ddf.shuffle\(on=TRAJECTORY, shuffle_method="tasks"\)'):
        ddf.tracs.compare(private)
    assert ddf.shuffle(on="person", shuffle_method="tasks").tracs.compare(private)["ae"] > 0


def test_a_sweep_checks_trajectories_once(people):
    reads = []

    def read(number):
        reads.append(number)
        return people[number * 100 : number * 100 + 100]

    parts = [dask.delayed(read, pure=False)(number) for number in range(4)]
    ddf = dd.from_delayed(parts, meta=people[:0], verify_meta=False)
    with dask.config.set(scheduler="synchronous"):
        ddf.tracs.sweep([2, 4], ["tracs-d"], 2, domain=TOKYO, shuffle=False, **COLUMNS)
    assert len(reads) == 1 + 4 * (1 + 4)  # one to look at its columns


def test_sweep(ddf, people):
    with dask.config.set(scheduler="threads"):
        table = ddf.tracs.sweep([2, 600], ["tracs-c", "tracs-d"], 2, domain=TOKYO, shuffle=True, **COLUMNS)
    assert table.shape == (8, 12)
    assert (table.loc[table["epsilon"] == 2, "ae"] > 5000).all()
    assert (table.loc[table["epsilon"] == 600, "ae"] < 1).all()
    with pytest.raises(InputError, match="`domain` must be given"):
        ddf.tracs.sweep([2])
