import importlib

import geopandas as gpd
import pandas as pd
import pytest

import geotracs
from geotracs.geo.collections import as_frame
from tests.conftest import TOKYO
from tests.helpers import quiet

ARGUMENTS = {"domain": TOKYO, "keep": [], "rng": 0}


@pytest.fixture
def points(tracks):
    return tracks[["person", "t", "geometry"]].sort_values(["person", "t"])


@pytest.fixture
def movingpandas():
    return quiet(importlib.import_module, "movingpandas")  # which warns of what it misses


def test_a_collection_of_movingpandas(points, movingpandas):
    own = points.assign(x=points.geometry.x, y=points.geometry.y).drop(columns="geometry")
    collection = movingpandas.TrajectoryCollection(pd.DataFrame(own), "person", t="t", x="x", y="y", crs="EPSG:4326")
    private = quiet(geotracs.perturb, collection, 4, "tracs-d", **ARGUMENTS)
    expected = quiet(geotracs.perturb, points, 4, "tracs-d", trajectory="person", time="t", **ARGUMENTS)
    assert private.attrs["tracs"]["trajectory"] == "person"
    assert private.attrs["tracs"]["time"] == "t"
    assert private.geometry.geom_equals(expected.geometry.reset_index(drop=True)).all()
    assert geotracs.compare(collection, private)["ae"] == geotracs.compare(points, expected)["ae"]
    one = quiet(geotracs.perturb, collection.trajectories[0], 4, **ARGUMENTS)
    assert len(one) == 20


@pytest.mark.parametrize("index", ["t", ["person", "t"]])
def test_columns_in_the_index(points, index):
    frame = points.set_index(index)
    private = quiet(frame.tracs.perturb, 4, trajectory="person", time="t", **ARGUMENTS)
    expected = quiet(points.tracs.perturb, 4, trajectory="person", time="t", **ARGUMENTS)
    assert {"person", "t"} <= set(private.columns)
    assert private.geometry.geom_equals(expected.geometry.reset_index(drop=True)).all()
    assert frame.tracs.compare(private)["ae"] == points.tracs.compare(expected)["ae"]
    assert index == "t" or list(frame.index.names) == index


def test_what_is_in_no_index_stays(points):
    assert as_frame(points, "person", "t")[0] is points
    assert as_frame(42) == (42, None, None)
    unnamed = gpd.GeoDataFrame(geometry=points.geometry.to_numpy(), crs=4326, index=points["t"].rename(None))
    assert as_frame(unnamed, None, "t")[0] is unnamed
