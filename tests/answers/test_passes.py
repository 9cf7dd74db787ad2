import geopandas as gpd
import numpy as np
import pytest
from geotracs.places import Grid

import geotracs
from geotracs.answers.passes import Pass, read
from geotracs.errors import InputError
from tests.helpers import quiet

dask_geopandas = pytest.importorskip("dask_geopandas")
BOX = (0.0, 0.0, 20_000.0, 10_000.0)
RNG = np.random.default_rng(3)
TRACKS = gpd.GeoDataFrame(
    {"person": np.arange(900) // 30}, geometry=gpd.points_from_xy(*(RNG.random((900, 2)) * BOX[2:]).T), crs=32633
)


def release(**arguments):
    return quiet(TRACKS.tracs.perturb, 4, domain=BOX, trajectory="person", keep=[], rng=1, **arguments)


@pytest.mark.parametrize("arguments", [{}, {"round_to": Grid(cell=1000)}], ids=["plain", "rounded"])
@pytest.mark.parametrize("kind", ["r.parquet", "r.gpkg", "folder", "dask"])
def test_a_pass_counts_as_memory_does(tmp_path, kind, arguments):
    private = release(**arguments)
    if kind == "dask":
        data = dask_geopandas.from_geopandas(private, npartitions=3)
        data._meta.attrs = private.attrs
    elif kind == "folder":
        private.to_parquet(tmp_path / "in.parquet")
        data = tmp_path / "in.parquet"
    else:
        data = geotracs.files.write(private, tmp_path / kind)
    memory, passed = read(private), read(data)
    assert isinstance(passed, Pass)
    assert passed.total == memory.total == 900
    states = memory.states()
    assert states.shape == passed.states().shape
    (expected,), (found,) = memory.observed(states), passed.observed(states)
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_what_counts_cannot_tell_is_refused(tmp_path):
    path = geotracs.files.write(release(method="tracs-d"), tmp_path / "d.parquet")
    with pytest.raises(InputError, match="looks back"):
        read(path)
    path = geotracs.files.write(release(unit="trajectory"), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="epsilons of their own"):
        read(path)
    path = geotracs.files.write(TRACKS, tmp_path / "o.parquet")
    with pytest.raises(InputError, match="no record"):
        read(path)
