import numpy as np
import pytest

from geotracs import InputError
from geotracs.views.colours import SCALE, colours, on_scale, stops


def test_trajectories_cycle_through_the_palette():
    assert colours(9)[:2] == colours(9)[7:]
    assert colours(2, "red") == ["red", "red"]
    with pytest.raises(InputError, match="not both"):
        colours(2, "red", ["blue"])


def test_shares_lie_on_the_scale():
    assert stops() == list(SCALE)
    assert on_scale(np.array([0.0, 0.5, 0.7]), 0.5) == [SCALE[0], SCALE[-1], SCALE[-1]]
    assert on_scale(np.array([0.125]), 0.5) == [SCALE[4]], "a quarter is half of it"
    assert on_scale(np.zeros(2), 0.0) == [SCALE[0]] * 2, "where nothing is"
    assert on_scale(np.zeros(0), 0.0) == []
    assert len(stops("viridis")) == 9


@pytest.mark.parametrize("bad", [["red", "blue"], ["#ffffff"], [1, 2], ["#ff</script>", "#ffffff"]])
def test_a_scale_needs_colours_that_can_be_mixed(bad):
    with pytest.raises(InputError, match="`cmap` of shares"):
        stops(bad)
