import json

import geopandas as gpd
import numpy as np
import pytest
import shapely
from geotracs.domains import Disc, Globe, Parallelogram
from geotracs.places import Grid

import geotracs.release.again as again
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError
from tests.helpers import quiet

BOX = (13.0, 52.0, 13.4, 52.3)
CITY = shapely.Polygon([(13.0, 52.0), (13.4, 52.0), (13.4, 52.1), (13.1, 52.1), (13.1, 52.3), (13.0, 52.3)])
POINTS = gpd.GeoDataFrame(geometry=gpd.GeoSeries.from_xy([13.05, 13.02, 13.3], [52.2, 52.05, 52.05], crs=4326))
PLACES = gpd.GeoDataFrame(geometry=gpd.GeoSeries.from_xy([13.05, 13.2, 13.35], [52.25, 52.05, 52.02], crs=4326))
CASES = {
    "box": {"domain": BOX},
    "polygon": {"domain": CITY},
    "oriented": {"domain": CITY, "fit": "oriented"},
    "transport": {"domain": CITY, "fit": "transport"},
    "prior": {"domain": CITY, "prior": PLACES},
    "best": {"domain": CITY, "fit": "best"},
    "slanted": {"domain": Parallelogram((13.0, 52.0), (0.4, 0.05), (0.0, 0.3)), "outside": "clip"},
    "disc": {"domain": Disc((13.2, 52.15), 30000.0), "method": "tracs-d"},
    "globe": {"domain": Globe(), "method": "tracs-c"},
    "rounded": {"domain": CITY, "round_to": PLACES},
    "grid": {"domain": CITY, "round_to": Grid(cell=2000)},
    "nearest": {"domain": CITY, "round_to": PLACES, "method": "nearest"},
    "optimal": {"domain": BOX, "method": "optimal"},
    "start": {"domain": BOX, "method": "tracs-d", "start": (13.1, 52.1)},
    "geo-ind": {"domain": BOX, "method": "geo-ind", "radius": 500.0},
    "remapped": {"domain": BOX, "method": "tracs-c", "remap": True},
}
NEEDED = ("domain", "round_to", "prior")


def release(**arguments):
    return quiet(POINTS.tracs.perturb, 2.0, keep=[], rng=1, **arguments)


def rebuilt(private, **given):
    guarantee = Guarantee.from_attrs({"tracs": json.loads(json.dumps(private.attrs["tracs"]))})
    found = quiet(again.setting, guarantee, private.crs, np.array([2.0]), **given)
    return found, quiet(getattr, found, "channel")


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_channel_is_built_again(case, embed):
    arguments = CASES[case]
    given = {} if embed else {name: arguments[name] for name in NEEDED if name in arguments}
    found, channel = rebuilt(release(embed=embed, **arguments), **given)
    assert channel.method.record() == found.recipe.record()
    assert found.guarantee.domain.get("axis") == (found.region.transport.first if found.region.transport else None)
    assert (found.rounding is None) == ("round_to" not in arguments)


def test_a_layer_that_is_missing_is_asked_for():
    with pytest.raises(InputError, match="bounds only; give the one that it was made with as `domain`"):
        rebuilt(release(domain=CITY))
    with pytest.raises(InputError, match="with `round_to`"):
        rebuilt(release(domain=BOX, round_to=PLACES))
    with pytest.raises(InputError, match="with `prior`"):
        rebuilt(release(domain=CITY, prior=PLACES), domain=CITY)


def test_another_layer_raises():
    other = shapely.Polygon([(13.0, 52.0), (13.4, 52.0), (13.4, 52.3)])
    with pytest.raises(InputError, match="`domain` is not the region"):
        rebuilt(release(domain=CITY), domain=other)
    with pytest.raises(InputError, match="`domain` is not the region"):
        rebuilt(release(domain=Disc((13.2, 52.15), 30000.0), method="tracs-d"), domain=Disc((13.2, 52.15), 31000.0))
    with pytest.raises(InputError, match="`round_to` is not the layer"):
        rebuilt(release(domain=BOX, round_to=PLACES), round_to=PLACES.iloc[:2])


def test_a_region_fitted_to_private_data_is_not_on_record():
    private = release()
    record = private.attrs["tracs"]
    assert record["recipe"] == {}
    assert "domain" not in record["layers"]
    with pytest.raises(InputError, match="fitted to private data"):
        rebuilt(private)
    rebuilt(private, domain=tuple(POINTS.total_bounds))


def test_atp_cannot_be_inverted():
    with pytest.raises(InputError, match="both directions"):
        rebuilt(release(domain=CITY, method="atp", round_to=PLACES), domain=CITY, round_to=PLACES)
