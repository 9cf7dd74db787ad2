import numpy as np
import shapely

from geotracs.answers.bins import Cells, Places
from geotracs.core.domains import Polygon, Rectangle
from geotracs.core.methods import Reports
from geotracs.core.methods.released import Release

CORNER = Polygon(shapely.Polygon([(0, 0), (20, 0), (20, 8), (8, 8), (8, 20), (0, 20)]))


def test_reports_on_a_border_have_bins_of_their_own_even_if_a_file_rounded_them():
    bins = Cells(Release(CORNER), (10, 10))
    inside, border = np.array([[5.0, 5.0], [19.0, 1.0]]), np.array([[20.0, 4.0], [14.0, 8.0 + 2e-5]])
    assert (bins.label(Reports(inside, None)) < 100).all()
    assert (bins.label(Reports(border, None)) >= 100).all()
    assert bins.label(Reports(border, None)).max() < bins.count


def test_a_rectangle_has_cells_only():
    assert Cells(Release(Rectangle(0, 0, 1, 1)), (10, 10)).count == 100


def test_places_are_their_own_bins():
    assert Places(4).label(Reports(np.zeros((2, 2)), np.array([3, 1]))).tolist() == [3, 1]


def test_bins_are_where_their_middles_are():
    """Each middle is in its own bin, those of pieces of the border as well."""
    release = Release(CORNER)
    bins = Cells(release, (6, 6))
    inside = np.flatnonzero(CORNER.contains(bins.xy) | (np.arange(bins.count) >= 36))
    assert np.array_equal(bins.label(release.known(bins.xy[inside])), inside)


def test_draws_outside_come_to_the_piece_where_they_are_projected():
    """All but a few between two pieces; corners, to which many are projected, have the same piece."""
    bins = Cells(Release(CORNER), (10, 10))
    xy = np.random.default_rng(0).uniform(-5, 25, (2000, 2))
    drawn, released = bins.label_drawn(xy), bins.label(bins.release(np.asfortranarray(xy.copy())))
    assert (drawn == released).mean() > 0.99
    corner = (xy > 20.1).any(axis=1) & (xy < -0.1).any(axis=1)
    assert corner.sum() > 50
    assert (drawn == released)[corner].all()
