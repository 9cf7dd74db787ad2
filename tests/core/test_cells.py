import numpy as np
import pytest

from geotracs.core.cells import Cells


@pytest.mark.parametrize("cells", [Cells(200.0), Cells(0.01, in_degrees=True), Cells(7.0, in_degrees=True)])
def test_the_middle_of_a_cell_is_in_it(cells):
    rng = np.random.default_rng(0)
    xy = rng.uniform((-180, -90), (180, 90), (2000, 2)) * (1 if cells.in_degrees else 100)
    numbers = cells.numbers(xy)
    assert np.array_equal(cells.numbers(cells.middles(numbers)), numbers)


def test_a_cell_is_as_large_as_it_says():
    numbers = Cells(50.0).numbers(np.array([[0.0, 0.0], [49.9, 49.9], [50.0, 0.0], [-0.1, 0.0]]))
    assert numbers.tolist() == [[0, 0], [0, 0], [1, 0], [-1, 0]]


def test_cells_of_the_globe_are_about_square_and_close_around_it():
    cells = Cells(1.0, in_degrees=True)
    across = [
        len(np.unique(cells.numbers(np.column_stack([np.arange(0, 360, 0.1), np.full(3600, y)])), axis=0))
        for y in (0.5, 60.5, 89.5)
    ]
    assert across == [360, 177, 3]
    same = cells.numbers(np.array([[-180.0, 10.2], [180.0, 10.2], [540.0, 10.2]]))
    assert len(np.unique(same, axis=0)) == 1


def test_the_poles_are_in_a_cell():
    cells = Cells(0.7, in_degrees=True)
    middles = cells.middles(cells.numbers(np.array([[0.0, 90.0], [0.0, -90.0]])))
    assert np.all(np.abs(middles[:, 1]) <= 90)
