import numpy as np
import pytest

from geotracs import InputError
from geotracs.views.colours import COLOURS, DIVERGING, SCALE, colours, diverging, on_scale, stops


def test_no_colour_comes_twice():
    for n in (7, 12, 300):
        assert len(set(colours(n))) == n
    assert colours(3, cmap=["red", "blue"])[2] == "red", "a list of the user's is cycled"
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


VISIONS = {
    "all colours": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}
"""Machado, Oliveira and Fernandes 2009: what dichromats see, in linear light."""
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]


def linear(hexes):
    levels = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in hexes])
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def lab(hexes, vision):
    """CIE Lab of colours as somebody sees them."""
    xyz = np.clip(linear(hexes) @ np.transpose(VISIONS[vision]), 0, 1) @ np.transpose(TO_XYZ) / (0.95047, 1, 1.08883)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("palette", "distance"), [(COLOURS, 17), (DIVERGING, 20), (SCALE, 11)])
def test_every_two_colours_are_told_apart(palette, distance, vision):
    """At least so far apart in CIE Lab; 2.3 is what one just notices beside each other."""
    seen = lab(palette, vision)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(len(palette), 1)]
    assert apart.min() >= distance


@pytest.mark.parametrize("vision", VISIONS)
def test_scales_are_in_order_of_lightness(vision):
    assert (np.diff(lab(SCALE, vision)[:, 0]) < 0).all()
    halves = lab(DIVERGING, vision)[:, 0]
    assert (np.diff(halves[:4]) > 0).all()
    assert (np.diff(halves[3:]) < 0).all()


def test_less_and_more_are_two_colours():
    assert diverging(np.array([-1.0, 0, 1.0]), 1) == [DIVERGING[0], DIVERGING[3], DIVERGING[6]]
    assert diverging(np.zeros(2), 0.0) == [DIVERGING[3]] * 2
