"""Colours of trajectories, the same on maps and plots."""

from collections.abc import Sequence

from geotracs.errors import InputError, MissingExtraError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""The palette of Okabe and Ito, told apart by the colour-blind."""


def colours(n: int, color: str | None = None, cmap: str | Sequence[str] | None = None) -> list[str]:
    """Return a colour for each of n trajectories.

    Parameters
    ----------
    color : str, optional
        One for all.
    cmap : list of colours, or name of a matplotlib colour map, optional
        A list is cycled; a map is spread over the trajectories.

    Examples
    --------
    >>> colours(3, cmap=["red", "blue"])
    ['red', 'blue', 'red']
    """
    if color is not None and cmap is not None:
        raise InputError("Give `color` for one colour or `cmap` for several, not both.")
    if isinstance(cmap, str):
        return _from_matplotlib(cmap, n)
    palette = [color] if color is not None else list(COLOURS if cmap is None else cmap)
    if not palette or not all(isinstance(colour, str) for colour in palette):
        raise InputError("`color` and the entries of `cmap` must be colours such as '#0072b2' or 'navy'.")
    return [palette[number % len(palette)] for number in range(n)]


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
