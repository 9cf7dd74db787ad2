import pytest

import geotracs
from geotracs import InputError, files
from tests.conftest import TOKYO
from tests.helpers import quiet


@pytest.fixture
def private(tracks):
    return quiet(geotracs.perturb, tracks, 4, domain=TOKYO, trajectory="person", time="t", keep=[], rng=1)


@pytest.mark.parametrize("form", ["frame", "guarantee", "attrs", "file"])
def test_a_record_is_given_back(private, form, tmp_path):
    files.write(private, tmp_path / "private.csv")
    forms = {"frame": private, "guarantee": private.tracs.guarantee, "attrs": private.attrs["tracs"]}
    lost = private.copy()
    lost.attrs.clear()
    found = geotracs.with_record(lost.iloc[::2], forms.get(form, tmp_path / "private.csv"))
    assert found.tracs.guarantee == private.tracs.guarantee
    assert lost.attrs == {}


def test_what_is_no_record_of_these_locations(private, tracks):
    other = quiet(geotracs.perturb, tracks, 4, domain=TOKYO, keep=[], rng=2)
    with pytest.raises(InputError, match="are not those of this record"):
        geotracs.with_record(other, private)
    with pytest.raises(InputError, match="carries no record"):
        geotracs.with_record(private, tracks)
    with pytest.raises(InputError, match="`record` must be a release"):
        geotracs.with_record(private, 4)


def test_estimates_say_how_a_record_is_given_back(private):
    private.attrs.clear()
    with pytest.raises(InputError, match=r"geotracs.with_record\(frame, record\) gives it back"):
        private.tracs.density(geotracs.places.Grid(nx=2, ny=2))
