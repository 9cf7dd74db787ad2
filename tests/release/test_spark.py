"""Spark frames, on a real local Spark: one release, whenever it is computed."""

import os
import sys

import numpy as np
import pyarrow as pa
import pytest
import shapely

import geotracs
from geotracs import DomainError, InputError
from tests.conftest import TOKYO
from tests.helpers import quiet

sql = pytest.importorskip("pyspark.sql")
pytestmark = pytest.mark.slow
ROWS = 600


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    one = (
        sql.SparkSession.builder.master("local[2,3]")  # a task may fail twice
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "70")
        .getOrCreate()
    )
    one.sparkContext.setLogLevel("OFF")
    yield one
    one.stop()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    xy = rng.uniform((139.6, 35.6), (139.8, 35.8), (ROWS, 2))
    points = shapely.to_wkb(shapely.points(xy)).tolist()
    points[7] = None
    person = rng.integers(0, 30, ROWS)
    return pa.table({"person": person, "t": np.arange(ROWS), "v": rng.random(ROWS), "geometry": points})


@pytest.fixture(scope="module")
def fixes(session, table, tmp_path_factory):
    """The rows in Parquet files, as Spark wrote them."""
    path = str(tmp_path_factory.mktemp("spark") / "fixes")
    session.createDataFrame(table).repartition(2).write.parquet(path)
    return session.read.parquet(path)


def released(fixes, eps=4, method="joint", **arguments):
    arguments = {"domain": TOKYO, "trajectory": "person", "time": "t", "keep": [], **arguments}
    return quiet(geotracs.spark.perturb, fixes, eps, method, **arguments)


def by_time(frame):
    return frame.toArrow().sort_by("t")


@pytest.mark.parametrize(("method", "arguments"), [
    ("joint", {"keep": ["v"]}),
    ("tracs-d", {}),
])  # fmt: skip
def test_one_release(fixes, table, tmp_path, method, arguments):
    private = released(fixes, method=method, **arguments)
    first, again = by_time(private), by_time(private)
    assert first.equals(again)
    assert first.column_names == ["person", "t", *arguments.get("keep", []), "geometry"]
    for name in set(first.column_names) - {"geometry"}:
        assert first[name].to_pylist() == table[name].to_pylist()
    reports, originals = (np.array(one["geometry"].to_pylist(), dtype=object) for one in (first, table))
    assert (reports == None).tolist() == (originals == None).tolist()  # noqa: E711
    xy = shapely.get_coordinates(shapely.from_wkb(reports))
    assert len(np.unique(xy, axis=0)) == ROWS - 1
    assert not np.isin(xy, shapely.get_coordinates(shapely.from_wkb(originals))).any()
    private.write.parquet(str(tmp_path / "private"))
    back = fixes.sparkSession.read.parquet(str(tmp_path / "private"))
    assert by_time(back).equals(first)
    assert geotracs.spark.guarantee(back).method == method
    other = by_time(released(fixes, method=method, **arguments))
    assert not first.equals(other)  # another call is another release


def test_a_task_that_fails_after_it_drew_gives_the_same_rows(fixes, tmp_path):
    private, marker = released(fixes, rng=1), str(tmp_path / "failed")

    def fail_once(batches):
        for number, batch in enumerate(batches):
            yield batch
            if number == 0 and not os.path.exists(marker):
                open(marker, "w").close()
                raise RuntimeError("lost")

    again = private.mapInArrow(fail_once, private.schema)
    assert by_time(again).equals(by_time(private))
    assert os.path.exists(marker)


def test_what_is_refused(fixes):
    with pytest.raises(InputError, match=r"must be a pyspark\.sql\.DataFrame"):
        geotracs.spark.perturb(fixes.toArrow(), 4, domain=TOKYO)
    with pytest.raises(InputError, match="no column 'geom'"):
        released(fixes, geometry="geom")
    with pytest.raises(InputError, match="ST_AsBinary"):
        released(fixes, geometry="v")
    with pytest.raises(InputError, match="`domain` must be given for a Spark frame"):
        released(fixes, domain=None)
    with pytest.raises(InputError, match="are not there for this call"):
        released(fixes, every="5min")
    with pytest.raises(InputError, match="On Spark `eps` is one number"):
        released(fixes, "v")
    with pytest.raises(InputError, match="give the column `trajectory`"):
        released(fixes, method="tracs-d", trajectory=None)
    with pytest.raises(InputError, match="no record of a release"):
        geotracs.spark.guarantee(fixes)
    with pytest.raises(Exception, match=DomainError.__name__):
        released(fixes, domain=(0, 0, 1, 1)).count()
