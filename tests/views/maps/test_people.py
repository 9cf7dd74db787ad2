import json
import re

import numpy as np
import pytest

from geotracs import InputError
from geotracs.views.maps.page import CAPTION, UNKNOWN
from tests.conftest import TOKYO
from tests.views import toys
from tests.views.maps.test_comparison import nearest
from tests.views.maps.test_explore import HOSTILE, LOADS, TEMPLATES, html_of

pytestmark = pytest.mark.slow


def data_of(page):
    """What the script of a page is given."""
    found = re.search(r"tracs\.people\(map_\w+, (\{.*\})\);", page)
    return json.loads(found.group(1))


@pytest.fixture
def private(tracks):
    return toys.released(tracks, TOKYO)


def test_each_person_has_their_own_part(tracks, private):
    page = html_of(tracks.tracs.explore(private, view="person"))
    assert CAPTION in page
    assert not LOADS.search(page)
    data = data_of(page)
    assert data["names"] == tracks.person.unique().tolist()
    assert data["roles"] == ["original", "perturbed"]
    own = tracks[tracks.person == "bob"].sort_values("t").geometry
    first, last = data["sides"][0]["at"][data["names"].index("bob") :][:2]
    assert np.allclose(data["sides"][0]["xy"][first:last], np.column_stack([own.y, own.x]), atol=1e-5)
    assert data["times"][first] == tracks[tracks.person == "bob"].t.min().value / 1e6


def test_a_release_alone_holds_no_original(tracks, private):
    page = html_of(private.tracs.explore(view="person", offline=True))
    assert UNKNOWN not in page
    assert nearest(page, tracks.set_geometry(tracks.geometry.map(lambda p: type(p)(p.y, p.x)))) > 1e-5


def test_what_an_attacker_finds_with_its_radius(tracks, private):
    found = toys.reconstructed(tracks, private)
    data = data_of(html_of(found.tracs.explore(private, truth=tracks, view="person")))
    assert data["roles"] == ["reconstructed", "perturbed", "original"]
    assert data["radius"] == [500] * len(tracks)


def test_names_are_text(tracks):
    frame = tracks.assign(person=np.resize([*HOSTILE, *TEMPLATES, "x" * 99], len(tracks)))
    page = html_of(frame.tracs.explore(toys.released(frame, TOKYO), view="person"))
    assert "<script>alert" not in page
    assert "22962963" not in page
    assert {text if len(text) <= 40 else f"{text[:40]}…" for text in TEMPLATES} < set(data_of(page)["names"])
    assert max(map(len, data_of(page)["names"])) == 41


def test_without_people_times_or_locations(tracks, private):
    bare = tracks[["geometry"]]
    data = data_of(html_of(bare.tracs.explore(view="person")))
    assert data["names"] == ["1"]
    assert "times" not in data
    with pytest.raises(InputError, match="there are none"):
        tracks.iloc[:0].tracs.explore(view="person")
