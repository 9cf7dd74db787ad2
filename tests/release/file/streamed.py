"""What the tests of files in batches share."""

import geopandas as gpd
import numpy as np
import pytest
from geopandas.testing import assert_geodataframe_equal

import tests.helpers as helpers
from geotracs import InputError
from geotracs.release.file import perturb_file
from tests.conftest import TOKYO

COLUMNS = {"trajectory": "person", "time": "t"}
PLACES = gpd.GeoDataFrame(
    {"name": [f"poi {i}" for i in range(40)]},
    geometry=gpd.points_from_xy(*np.random.default_rng(3).uniform(TOKYO[:2], TOKYO[2:], (40, 2)).T),
    crs=4326,
)


def quiet(function, *arguments, **options):
    """Call `perturb` or `perturb_file` in Tokyo, reproducibly, and ignore all warnings."""
    return helpers.quiet(function, *arguments, **{"domain": TOKYO, "keep": [], "rng": 1} | options)


def same(a, b):
    assert_geodataframe_equal(a, b)
    assert a.attrs == b.attrs


def refused(tmp_path, match, name="in.parquet", out="out.parquet", error=InputError, **arguments):
    (tmp_path / out).write_text("the old file")
    with pytest.raises(error, match=match):
        quiet(perturb_file, tmp_path / name, tmp_path / out, 4, batch_rows=70, overwrite=True, **arguments)
    assert (tmp_path / out).read_text() == "the old file"
    assert not list(tmp_path.glob(".*"))
