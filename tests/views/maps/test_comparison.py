import re

import folium
import numpy as np
import pytest
import shapely
from scipy.spatial import cKDTree

from geotracs.views.maps.page import FIGURES, UNKNOWN
from tests.conftest import TOKYO
from tests.views import toys
from tests.views.maps.test_answers import features, groups
from tests.views.maps.test_explore import LOADS, html_of, layer_names

pytestmark = pytest.mark.slow
LAYERS = ["original", "released", "estimated", "difference"]


@pytest.fixture
def many(tracks):
    """The tracks twice, so that there are enough reports for an estimate."""
    return tracks.iloc[np.resize(np.arange(len(tracks)), 120)].reset_index(drop=True)


@pytest.fixture
def private(many):
    return toys.released(many, TOKYO)


def nearest(page, frame):
    """How near any two numbers of a page that follow each other come to a location, in degrees."""
    numbers = np.array([float(number) for number in re.findall(r"-?\d+\.\d+", page)])
    pairs = np.column_stack([numbers[:-1], numbers[1:]])
    return cKDTree(pairs).query(shapely.get_coordinates(frame.geometry.values))[0].min()


def test_layers_on_one_scale_of_which_one_is_shown(many, private):
    map_ = many.tracs.explore(private, view="density", cells=8000)
    assert layer_names(map_) == [*LAYERS, "region"]
    own = groups(map_)
    assert [own[name].show for name in LAYERS] == [False, False, True, False]
    assert not any(own[name].overlay for name in LAYERS)
    page = html_of(map_)
    assert FIGURES in page
    assert not LOADS.search(page)
    assert "mean error" in page
    tips = [feature["properties"]["tip"] for feature in features(own["estimated"]) if "tip" in feature["properties"]]
    assert len(tips[0]) == 5
    assert " to " in tips[0][-1]


def test_small_counts_are_hidden(many, private):
    own = groups(many.tracs.explore(private, view="density", cells=8000, at_least=4))
    drawn = [f for f in features(own["original"]) if "tip" in f["properties"]]
    hidden = [f for f in drawn if f["properties"].get("looks")]
    assert 0 < len(hidden) < len(drawn)
    assert {f["properties"]["tip"][1] for f in hidden} == {"fewer than 4"}
    assert len({f["properties"]["colour"] for f in hidden}) == 1


def test_a_release_alone_holds_no_original(many, private):
    page = html_of(private.tracs.explore(offline=True))
    assert groups(private.tracs.explore()).keys() == {"released", "estimated", "region"}
    assert not LOADS.search(page)
    for caption in (FIGURES, UNKNOWN, "confidential"):
        assert caption not in page
    assert nearest(page, many) > 1e-5, "of a degree: 1 m"
    assert nearest(html_of(many.tracs.explore(private, view="overlay")), many) < 1e-6, "the scan finds what is there"


def test_side_by_side_and_on_a_map_of_the_users_own(many, private):
    row = many.tracs.explore(private, view="density side-by-side")
    assert [next(name for name in groups(map_) if name in LAYERS) for map_ in row.maps] == LAYERS
    own = folium.Map(tiles=None)
    assert many.tracs.explore(private, view="density", m=own) is own
    assert groups(own)["original"].overlay


def test_what_auto_takes(tracks, many, private):
    few = toys.released(tracks, TOKYO)
    assert "perturbed" in layer_names(tracks.tracs.explore(few)), "three people are tracks"
    assert layer_names(few.tracs.explore()) == ["region", "perturbed"], "60 reports are not enough for a density"
    crowd = many.assign(person=np.arange(len(many)) % 20)
    assert "difference" in layer_names(crowd.tracs.explore(toys.released(crowd, TOKYO)))
    assert layer_names(crowd.drop(columns="t").tracs.explore(trajectory="person")) == ["original"]
    assert "difference" in layer_names(many.tracs.explore(private, at_least=2))
    assert "perturbed" in layer_names(many.tracs.explore(private, pick=5))


def test_cells_end_where_the_region_does(many, private):
    own = groups(many.tracs.explore(private, view="density", cells=9000))["released"]
    parts = [shapely.geometry.shape(f["geometry"]) for f in features(own)]
    assert shapely.union_all(parts).symmetric_difference(shapely.box(*TOKYO)).area < 1e-5
