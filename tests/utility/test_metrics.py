import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist, directed_hausdorff, jensenshannon

from geotracs import InputError, metrics

BOUNDS = (0.0, 0.0, 100.0, 50.0)


@pytest.fixture
def pair():
    """Trajectories of 1 to 30 locations on an integer lattice, so that ties and borders occur, and their reports."""
    rng = np.random.default_rng(7)
    lengths = np.append(rng.integers(1, 31, 40), 1)
    offsets = np.append(0, np.cumsum(lengths))
    before, after = (rng.integers(0, 51, (offsets[-1], 2)) * [2.0, 1.0] for _ in range(2))
    return before, after, offsets


def trajectories(xy, offsets):
    return [xy[begin:end] for begin, end in itertools.pairwise(offsets)]


def frechet_by_definition(a, b):
    """The recursion of Eiter and Mannila, cell by cell."""
    leash = cdist(a, b)
    for i, j in itertools.product(range(len(a)), range(len(b))):
        before = [leash[k, m] for k, m in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if k >= 0 and m >= 0]
        leash[i, j] = max(leash[i, j], min(before, default=0))
    return leash[-1, -1]


def test_hausdorff_is_that_of_scipy(pair):
    before, after, offsets = pair
    expected = [
        max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])
        for a, b in zip(trajectories(before, offsets), trajectories(after, offsets), strict=True)
    ]
    np.testing.assert_array_equal(metrics.hausdorff(before, after, offsets), expected)


def test_hausdorff_keeps_trajectories_apart():
    """The nearest report of another trajectory is not looked at, even where all coordinates are the same."""
    xy = np.array([[0.0, 0.0], [8.0, 0.0]])
    assert metrics.hausdorff(xy, xy[::-1], np.array([0, 1, 2])).tolist() == [8, 8]
    assert metrics.hausdorff(xy, xy[::-1], np.array([0, 2])).tolist() == [0]
    still = np.zeros((3, 2))
    assert metrics.hausdorff(still, still, np.array([0, 1, 3])).tolist() == [0, 0]


def test_frechet_is_the_discrete_one(pair):
    before, after, offsets = pair
    expected = [
        frechet_by_definition(a, b)
        for a, b in zip(trajectories(before, offsets), trajectories(after, offsets), strict=True)
    ]
    np.testing.assert_allclose(metrics.frechet(before, after, offsets), expected, rtol=1e-15)


def test_order_of_the_distances(pair):
    """Hausdorff may pair locations as it likes, Frechet in order, and displacement only each with its report."""
    before, after, offsets = pair
    farthest = np.maximum.reduceat(np.hypot(*(after - before).T), offsets[:-1])
    hausdorff, frechet = (distance(before, after, offsets) for distance in (metrics.hausdorff, metrics.frechet))
    assert np.all(hausdorff <= frechet)
    assert np.all(frechet <= farthest)
    assert np.any(hausdorff < frechet)
    assert np.any(frechet < farthest)


def test_frechet_of_long_trajectories_is_refused():
    xy = np.zeros((5001, 2))
    with pytest.raises(InputError, match="up to 5,000 locations, got one of 5,001"):
        metrics.frechet(xy, xy, np.array([0, 5001]))


def test_hotspots():
    visits = np.repeat([40, 10, 30, 20, 50], [2, 5, 5, 1, 1])
    assert metrics.hotspots(visits).tolist() == [10]  # one fifth of five; 10 and 30 are visited equally
    assert metrics.hotspots(visits, 0.5).tolist() == [10, 30, 40]
    assert metrics.hotspots(visits, 1).tolist() == [10, 30, 40, 20, 50]
    assert metrics.hotspots(np.array([], dtype=int)).tolist() == []
    for share in (0, 1.1, "a"):
        with pytest.raises(InputError, match="`share` must be"):
            metrics.hotspots(visits, share)


def test_hotspot_count_difference_by_the_papers_formula():
    rng = np.random.default_rng(3)
    before, after = rng.integers(0, 10, (2, 60))
    offsets, spots = np.array([0, 1, 20, 60]), np.array([2, 3, 5])
    at, still = np.isin(before, spots), np.isin(before, spots) & np.isin(after, spots)
    expected = [at[a:b].sum() - still[a:b].sum() for a, b in itertools.pairwise(offsets)]
    assert metrics.hotspot_count_difference(before, after, offsets, spots).tolist() == expected
    assert metrics.hotspot_count_difference(before, before, offsets, spots).tolist() == [0, 0, 0]


def test_boxes_are_public_and_inside():
    boxes = metrics.public_boxes(BOUNDS)
    np.testing.assert_array_equal(boxes, metrics.public_boxes(BOUNDS))
    assert boxes.shape == (500, 4)
    assert np.all(boxes[:, :2] >= BOUNDS[:2])
    assert np.all(boxes[:, 2:] <= BOUNDS[2:])
    sides = (boxes[:, 2:] - boxes[:, :2]) / [100, 50]
    assert sides.min() == pytest.approx(0.05, abs=0.01)
    assert sides.max() == pytest.approx(0.5, abs=0.01)
    np.testing.assert_array_equal(boxes[:9], metrics.public_boxes(BOUNDS, count=9))


def test_the_first_box_follows_from_the_published_key_stream():
    """ChaCha20 with a key and a nonce of zeros, RFC 8439 appendix A.1: so that numbers of two papers compare."""
    stream = bytes.fromhex("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    wide, high, left, low = (int.from_bytes(stream[i : i + 8], "little") / 2**64 for i in range(0, 32, 8))
    width, height = 100 * (0.05 + 0.45 * wide), 50 * (0.05 + 0.45 * high)
    x, y = left * (100 - width), low * (50 - height)
    assert metrics.public_boxes(BOUNDS, count=1)[0].tolist() == pytest.approx([x, y, x + width, y + height])


def test_range_query_error_by_counting(pair):
    before, after, _ = pair
    rng = np.random.default_rng(2)
    low = rng.integers(0, 40, (200, 2)) * [2.0, 1.0]
    boxes = np.column_stack([low, low + rng.integers(1, 12, (200, 2)) * [2.0, 1.0]])  # borders on the lattice too

    def count(xy):
        return np.array([np.sum(np.all((xy >= box[:2]) & (xy < box[2:]), axis=1)) for box in boxes])

    true = count(before)
    assert 0 < np.sum(true == 0) < 200
    expected = np.mean(np.abs(count(after) - true) / np.maximum(true, len(before) / 1000))
    assert metrics.range_query_error(before, after, boxes) == pytest.approx(expected, rel=1e-12)
    assert metrics.range_query_error(before, before, boxes) == 0


def test_grid_divergence_is_that_of_scipy(pair):
    before, after, _ = pair
    counts = [np.histogram2d(*xy.T, bins=(8, 8), range=((0, 100), (0, 50)))[0].ravel() for xy in (before, after)]
    assert metrics.grid_divergence(before, after, BOUNDS, cells=8) == pytest.approx(jensenshannon(*counts, base=2) ** 2)
    assert metrics.grid_divergence(before, before[::-1], BOUNDS) == 0


def test_divergences_of_trips_by_hand():
    corners = np.array([[1.0, 1.0], [99.0, 49.0]])
    before, after = np.tile(corners, (2, 1)), np.concatenate([corners, corners[::-1]])
    offsets = np.array([0, 2, 4])
    half = jensenshannon([1, 0], [0.5, 0.5], base=2) ** 2
    assert metrics.origin_destination_divergence(before, after, offsets, BOUNDS) == pytest.approx(half)
    assert metrics.trip_length_divergence(before, after, offsets) == 0
    # Of the first trajectory only the last step, of the second nothing but the step between the two.
    after = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [99.0, 49.0]])
    assert metrics.trip_length_divergence(before, after, offsets) == pytest.approx(half)
    assert metrics.trip_length_divergence(before, before + 3, offsets) == 0
    alone = np.array([0, 1, 2, 3, 4])
    assert metrics.trip_length_divergence(before, after, alone) == 0  # one location is no way


def test_nothing_and_no_extent():
    none, at = np.zeros((0, 2)), np.array([0])
    assert metrics.hausdorff(none, none, at).tolist() == []
    assert metrics.frechet(none, none, at).tolist() == []
    assert np.isnan(metrics.range_query_error(none, none, metrics.public_boxes(BOUNDS)))
    assert np.isnan(metrics.grid_divergence(none, none, BOUNDS))
    assert np.isnan(metrics.origin_destination_divergence(none, none, at, BOUNDS))
    assert np.isnan(metrics.trip_length_divergence(none, none, at))
    same = np.full((3, 2), 5.0)
    assert metrics.grid_divergence(same, same, (5, 5, 5, 5)) == 0


def test_whatever_is_outside_counts_for_the_nearest_cell():
    xy = np.array([[-10.0, -10.0], [500.0, 10.0], [100.0, 50.0]])
    assert metrics.grid_cells(xy, BOUNDS, cells=2).tolist() == [0, 1, 3]
