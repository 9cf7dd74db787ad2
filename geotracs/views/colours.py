"""Colours of trajectories and of shares, the same on maps and plots."""

import colorsys
import re
from collections.abc import Sequence

import numpy as np

from geotracs.errors import InputError, MissingExtraError

GOLDEN = 0.618033988749895
"""The golden section: hues that are so far apart of a circle come near each other as late as possible."""
HEX = re.compile(r"#[0-9a-fA-F]{6}")
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
    "#0000ff", "#5a2d00", "#6969ff", "#2d00a5", "#00004b",
)  # fmt: skip
"""The palette of Okabe and Ito, and five more: every two of them are told apart by the colour-blind."""
SCALE = ("#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58")
"""From little to much: YlGnBu of ColorBrewer, told apart by the colour-blind, too."""

DIVERGING = ("#08519c", "#4a98c9", "#a6cde3", "#f7f7f7", "#fdc28c", "#ef7d22", "#a63603")
"""From less to more, by way of neither: blues and oranges, told apart by the colour-blind."""


def colours(n: int, color: str | None = None, cmap: str | Sequence[str] | None = None) -> list[str]:
    """Return a colour for each of n trajectories.

    Parameters
    ----------
    color : str, optional
        One for all.
    cmap : list of colours, or name of a matplotlib colour map, optional
        A list is cycled; a map is spread over the trajectories. By default no colour comes twice: beyond the twelve of
        the palette they are told apart by names rather than by colours.

    Examples
    --------
    >>> colours(3, cmap=["red", "blue"])
    ['red', 'blue', 'red']
    """
    if color is not None and cmap is not None:
        raise InputError("Give `color` for one colour or `cmap` for several, not both.")
    if isinstance(cmap, str):
        return _from_matplotlib(cmap, n)
    palette = [color] if color is not None else _many(n) if cmap is None else list(cmap)
    if not palette or not all(isinstance(colour, str) for colour in palette):
        raise InputError("`color` and the entries of `cmap` must be colours such as '#0072b2' or 'navy'.")
    return [palette[number % len(palette)] for number in range(n)]


def stops(cmap: str | Sequence[str] | None = None) -> list[str]:
    """Return the colours of a scale from little to much, as #rrggbb.

    Parameters
    ----------
    cmap : list of such colours, or name of a matplotlib colour map, optional
        By default `SCALE`.
    """
    if isinstance(cmap, str):
        return _from_matplotlib(cmap, 9)
    found = list(SCALE if cmap is None else cmap)
    if len(found) < 2 or not all(isinstance(colour, str) and HEX.fullmatch(colour) for colour in found):
        raise InputError("`cmap` of shares must be a matplotlib colour map, or two or more colours such as '#0072b2'.")
    return found


def on_scale(shares: np.ndarray, top: float, cmap: str | Sequence[str] | None = None) -> list[str]:
    """Return the colour of each share on a scale from 0 to ``top`` that shows small ones, too: by square roots.

    Examples
    --------
    >>> on_scale(np.array([0.0, 0.1, 0.4]), 0.4, ["#000000", "#ffffff"])
    ['#000000', '#808080', '#ffffff']
    """
    return _mixed(np.sqrt(np.clip(shares / (top or 1.0), 0, 1)), stops(cmap))


def diverging(values: np.ndarray, top: float) -> list[str]:
    """Return the colour of each value on a scale from -``top`` by way of 0 to ``top``, by square roots as `on_scale`.

    Examples
    --------
    >>> diverging(np.array([-2.0, 0.0, 2.0]), 2.0)
    ['#08519c', '#f7f7f7', '#a63603']
    """
    part = np.clip(values / (top or 1.0), -1, 1)
    return _mixed((1 + np.sign(part) * np.sqrt(np.abs(part))) / 2, DIVERGING)


def _mixed(part: np.ndarray, scale: Sequence[str]) -> list[str]:
    """Return the colour at each part, 0 to 1, of a scale."""
    ends = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in scale])
    where = part * (len(ends) - 1)
    mixed = np.array([np.interp(where, np.arange(len(ends)), part) for part in ends.T]).T
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in np.rint(mixed).astype(int).tolist()]


def _many(n: int) -> list[str]:
    """Return the palette and, beyond it, hues that are spread evenly, at three levels of lightness."""
    more = [
        colorsys.hls_to_rgb((number * GOLDEN) % 1.0, (0.32, 0.42, 0.5)[number % 3], 0.75)
        for number in range(max(n - len(COLOURS), 0))
    ]
    mixed = [f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}" for red, green, blue in more]
    return [*COLOURS, *mixed]


def _from_matplotlib(name: str, n: int) -> list[str]:
    try:
        import matplotlib
        from matplotlib.colors import to_hex
    except ImportError as error:
        raise MissingExtraError("A named `cmap` needs matplotlib; install geotracs[plot].") from error
    if name not in matplotlib.colormaps:
        raise InputError(f"`cmap` must be a list of colours or a matplotlib colour map, got {name!r}.")
    scale = matplotlib.colormaps[name]
    return [to_hex(scale(number / max(n - 1, 1))) for number in range(n)]
