"""Records of what is computed from a release."""

import geopandas as gpd
import shapely

from geotracs import Guarantee
from geotracs.answers.carried import carried


def test_the_guarantee_and_what_was_done():
    frame = gpd.GeoDataFrame(geometry=[shapely.Point(1, 2)], crs=4326)
    guarantee = Guarantee(method="joint", epsilon=2.0, locations=1, longest=1, domain={"kind": "rectangle"})
    found = carried(frame, guarantee, kind="toy", words="A toy.", speed=3.0)
    read = found.tracs.guarantee
    assert read.epsilon == 2
    assert read.answer == {"kind": "toy", "words": "A toy.", "speed": 3.0}
    assert str(read).endswith("A toy.")
    assert "answer" not in guarantee.to_attrs()
