"""Small multiples: the density of the same zones before, as released and as estimated, at several epsilons."""

from collections.abc import Sequence
from typing import Any

import geopandas as gpd
import numpy as np

import geotracs.geo.region as regions
import geotracs.geo.tracks as frames
from geotracs.core.places import Grid
from geotracs.errors import InputError, sealed
from geotracs.views.compared import ESTIMATED, Asked, Compared, compared
from geotracs.views.plots.answers import draw_zones, scale_of
from geotracs.views.plots.canvas import FIGURES, pyplot, record_of


@sealed
def densities(
    releases: Sequence[gpd.GeoDataFrame],
    truth: gpd.GeoDataFrame | None = None,
    *,
    domain: Any = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    cells: Any = None,
    zones: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    cmap: Any = None,
) -> np.ndarray:
    """Draw the densities of several releases of the same tracks: reports above, estimates below, all on one scale.

    Parameters
    ----------
    releases : list of GeoDataFrame
        What `perturb` returned, at several epsilons. Each of them spends its own: this is for made-up data, or for
        choosing an epsilon where no release is published.
    truth : GeoDataFrame, optional
        The original tracks, which are drawn first: the drawing is then confidential, and says so.
    domain, places
        As for `plot`.
    cells, zones : optional
        As for `GeoDataFrame.tracs.explore`: hexagons so many metres wide, a grid, or areas.
    cmap : list of colours such as "#ffffd9", or name of a matplotlib colour map, optional
        From little to much.

    Returns
    -------
    array of matplotlib Axes, of shape (2, releases), or with one column more for the originals

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> box = tuple(city.boundary.total_bounds)
    >>> private = [city.tracks.tracs.perturb(eps, domain=box, keep=[]) for eps in (4, 8)]
    >>> axes = densities(private, city.tracks, cells=3000)
    >>> [ax.get_title() for ax in axes[0]]
    ['original', 'joint, epsilon 4', 'joint, epsilon 8']
    """
    plt = pyplot()
    found = _compared(list(releases), truth, Asked(cells, zones, 0.0, places), domain)
    top = max(one.top for one in found)
    scale = scale_of(top or 1.0, cmap)
    first = 0 if truth is None else 1
    region = regions.recorded(record_of(releases[0]), releases[0].crs, domain)
    outline = None if region is None else region.outline()
    parts = [one.zones if outline is None else one.zones.set_geometry(one.zones.intersection(outline)) for one in found]
    columns = len(found) + first
    size = {"figsize": (3.1 * columns + 0.9, 6.2), "layout": "constrained"}
    figure, axes = plt.subplots(2, columns, squeeze=False, sharex=True, sharey=True, **size)
    if truth is not None:
        draw_zones(axes[0, 0], parts[0], found[0].shares["original"], scale, region, None)
        axes[0, 0].set_title("original")
        axes[1, 0].set_axis_off()
    for column, (one, own, release) in enumerate(zip(found, parts, releases, strict=True), first):
        for row, name in enumerate(("released", ESTIMATED)):
            if name in one.shares:
                draw_zones(axes[row, column], own, one.shares[name], scale, region, None)
            else:
                axes[row, column].text(0.5, 0.5, "not estimated", transform=axes[row, column].transAxes, ha="center")
        record = record_of(release)
        axes[0, column].set_title(f"{record['method']}, epsilon {record['epsilon']:g}")
    for ax in np.ravel(axes):
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    for row, name in enumerate(("released", ESTIMATED)):
        axes[row, first].set_ylabel(name, fontsize="large")
    bar = figure.colorbar(scale, ax=axes.ravel().tolist(), shrink=0.8, label="share of the locations")
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
    if truth is not None:
        figure.suptitle(FIGURES, fontsize="small")
    return np.asarray(axes)


def _compared(
    releases: list[gpd.GeoDataFrame], truth: gpd.GeoDataFrame | None, asked: Asked, domain: Any
) -> list[Compared]:
    """Return the shares of all releases in the zones of the first."""
    if not releases:
        raise InputError("`releases` must hold what perturb() returned, at least once.")
    found: list[Compared] = []
    for release in releases:
        frames.check(release, "release")
        record = record_of(release)
        if not record:
            raise InputError("`releases` must hold what perturb() returned; one of them carries no record.")
        region = regions.recorded(record, release.crs, domain)
        same = found and asked.zones is None and not isinstance(asked.cells, Grid)
        own = Asked(None, found[0].zones[["geometry"]], 0.0, asked.round_to) if same else asked
        found.append(compared(truth, release, own, region, domain))
    return found
