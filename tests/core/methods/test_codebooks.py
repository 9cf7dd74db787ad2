import os
import pickle
import threading

import numpy as np
import pytest
import shapely

from geotracs.core import cache
from geotracs.core.domains import Disc, Globe, Polygon, Rectangle, Transport
from geotracs.core.domains.transport import SIDE
from geotracs.core.mechanisms.codebook import check_windows, is_private
from geotracs.core.methods import book_cache, codebooks
from geotracs.core.methods.book import BINS, Book, nearest
from geotracs.core.methods.optimal import Optimal, levels
from geotracs.core.methods.spaces import Space, squares
from geotracs.core.randomness import public_stream
from geotracs.errors import DomainError
from tests.core.domains.shapes import SHAPES

SQUARE = Rectangle(0, 0, 1000, 1000)


def only_here(column, row):
    weights = np.zeros((SIDE, SIDE))
    weights[column, row] = 1
    return Transport(SQUARE, weights)


REGIONS = {
    "square": SQUARE,
    "hair": Rectangle(0, 0, 1e6, 1),
    "tiny": Rectangle(139.7, 35.6, 139.7 + 1e-7, 35.6 + 1e-7),
    "disc": Disc((5, 5), 2),
    "holes": Polygon(SHAPES["square with holes"]),
    "two far islands": Polygon(SHAPES["two far islands"]),
    "thin ring": Polygon(SHAPES["thin ring"]),
    "globe": Globe(),
    "belt": Globe(-10, 80),
    "prior of a cell": only_here(3, 5),
}


@pytest.fixture
def own_cache(tmp_path, monkeypatch, quick):
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache"


def exact_error(book, domain, eps):
    """The mean error over fresh points, with the exact k nearest instead of the table's."""
    at, words = book.space.embed(domain.spread(3000)), book.space.embed(book.codewords)
    costs = book.space.lengths(squares(at, words)) * book.space.extent
    return book.mechanism(eps).expected_error(costs, nearest(at, words, book.k)).mean()


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("eps", [0.0625, 2.0, 8.0])
def test_every_region(quick, name, eps):
    domain = REGIONS[name]
    book = codebooks.fit(domain, eps)
    assert check_windows(book.windows, book.k, book.m)
    assert book.windows.dtype == np.int16
    assert len(book.windows) <= 256**2
    assert domain.contains(book.codewords).all()
    secrets = domain.spread(500)
    assert book.pmf(secrets[:5], eps).sum(axis=1) == pytest.approx(1, abs=1e-12)
    xy = secrets.copy(order="F")
    book.report(xy, eps, public_stream(1))
    assert {*map(tuple, xy.tolist())} <= {*map(tuple, book.codewords.tolist())}
    assert book.expected_error(secrets, eps).mean() <= 1.1 * exact_error(book, domain, eps)


def test_reports_are_drawn_from_the_pmf(quick):
    """At 5 locations, within 5 standard errors for each of the codewords: false alarm below 1 in 10,000."""
    book, n = codebooks.fit(SQUARE, 2.0), 50_000
    for secret in SQUARE.spread(5):
        xy = np.asfortranarray(np.tile(secret, (n, 1)))
        book.report(xy, 1.7, public_stream(9))
        pmf = book.pmf(secret[None], 1.7)[0]
        shares = (xy[:, None] == book.codewords).all(axis=2).mean(axis=0)
        assert np.all(np.abs(shares - pmf) < 5 * np.sqrt(pmf / n))


def test_locations_outside_the_table_go_to_its_border(quick):
    book = codebooks.fit(SQUARE, 2.0)
    far = np.array([[-1e9, -1e9], [1e9, 1e9], [0.0, 0.0], [1000.0, 1000.0]])
    assert book.rows(far)[:2].tolist() == book.rows(far)[2:].tolist()
    assert 0 <= book.rows(far).min() <= book.rows(far).max() < len(book.windows)


def test_around_the_globe_longitudes_are_one(quick):
    book = codebooks.fit(Globe(), 4.0)
    at = np.array([[179.5, 10.0], [-180.5, 10.0], [539.5, 10.0]])
    assert len({*book.rows(at).tolist()}) == 1


def test_the_fit_is_the_same_every_time(quick):
    for domain, eps in [(SQUARE, 2.0), (Polygon(SHAPES["L"]), 8.0), (Globe(), 8.0)]:
        one, two = (codebooks.fit(domain, eps) for _ in range(2))
        assert one.codewords.tobytes() == two.codewords.tobytes()
        assert one.windows.tobytes() == two.windows.tobytes()
        assert one.digest == two.digest != codebooks.fit(domain, eps - 0.25).digest


def test_rounding_of_another_platform_does_not_change_the_fit(quick, monkeypatch):
    """As if square roots were wrong in the last bit."""
    before = codebooks.fit(SQUARE, 2.0).digest
    lengths = Space.lengths
    monkeypatch.setattr(Space, "lengths", lambda self, square: np.nextafter(lengths(self, square), 1))
    assert codebooks.fit(SQUARE, 2.0).digest == before


def test_the_error_falls():
    given = codebooks.stand_ins(SQUARE, 3.0)
    space = Space.of(SQUARE, given.points)
    fitting = codebooks._Fitting.of(SQUARE, space, space.embed(given.points), np.expm1(3.0), lambda _: None)
    state, errors = fitting.start(given.codewords, 40), []
    for _ in range(4):
        state = fitting.improve(state, 1)
        errors.append(state.error)
    assert np.all(np.diff(errors) < 0)


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "bound"), [(0.5, 0.382), (2, 0.302), (4, 0.184), (6, 0.102), (8, 0.0543)])
def test_mean_errors_on_the_unit_square(eps, bound):
    """The optimum over all mechanisms is .3757 .2968 .1808 .1001 up to epsilon 6."""
    domain = Rectangle(0, 0, 1, 1)
    assert codebooks.fit(domain, float(eps)).expected_error(domain.spread(4000)[2000:], float(eps)).mean() < bound


def test_two_islands_are_told_apart():
    """Fits that start with as many codewords on each island as locations are stuck there."""
    islands = Polygon(shapely.union_all([shapely.Point(0, 0).buffer(3), shapely.Point(200, 50).buffer(2)]))
    error = codebooks.fit(islands, 2.0).expected_error(islands.spread(4000), 2.0).mean()
    told_apart = 1 / (1 + np.exp(2.0)) * np.hypot(200, 50)  # by randomized response
    assert error < 1.1 * told_apart


class Points:
    """A region of some points, for bad cases."""

    in_degrees = False

    def __init__(self, *xy):
        self.xy = np.array(xy, dtype=float).reshape(-1, 2)

    def spread(self, n):
        return np.resize(self.xy, (min(n, 4 * len(self.xy)), 2)) if len(self.xy) > 1 else self.xy

    def contains(self, xy):
        return np.isfinite(xy).all(axis=1)

    def project_inside(self, xy):
        pass


def test_one_point_and_two_points():
    one = codebooks.fit(Points((3.0, 4.0)), 2.0)
    assert (one.m, one.k) == (1, 1)
    xy = np.array([[3.0, 4.0], [9.0, 9.0]], order="F")
    one.report(xy, 600.0, public_stream())
    assert xy.tolist() == [[3.0, 4.0], [3.0, 4.0]]
    two = codebooks.fit(Points((0.0, 0.0), (10.0, 0.0)), 2.0)
    assert check_windows(two.windows, two.k, two.m)
    # Randomized response is the best for two.
    assert two.expected_error(np.array([[0.0, 0.0], [10.0, 0.0]]), 2.0).mean() <= 10 / (1 + np.exp(2)) * 1.05


def test_a_region_without_points():
    with pytest.raises(DomainError, match="The region has no point to fit a codebook to"):
        codebooks.fit(Points(), 2.0)
    with pytest.raises(DomainError, match="The region has no point"):
        codebooks.fit(Points((np.nan, 1.0)), 2.0)


def test_all_codewords_in_a_window():
    words = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    cuts = (np.array([0, BINS // 2]), np.array([0, 5, 9]))
    book = Book(1.0, 3, words, Space((0.0, 0.0), 2.0), (0.0, 0.0), (2.0, 1.0), cuts)
    assert check_windows(book.windows, 3, 3)
    assert book.pmf(np.array([[1.0, 1.0]]), 3.0)[0] == pytest.approx([1 / 3] * 3)


def test_levels():
    eps = np.concatenate([np.geomspace(1e-9, 10, 500), [0.5, 1, 2, 4, 8, 10]])
    at = codebooks.level(eps)
    assert np.array_equal(codebooks.level(at), at)
    assert np.all(np.abs(at - eps)[eps >= 1] <= 0.125)
    assert at[-6:].tolist() == [0.5, 1, 2, 4, 8, 10]
    assert len(np.unique(at)) < 60
    assert levels([600.0]) == []
    assert Optimal().rounds([1.0, 2.0, 2.01, 11.0]) == 2 * codebooks.MAX_ROUNDS


def test_each_epsilon_keeps_its_own_promise(quick):
    book = codebooks.fit(SQUARE, 2.0)
    eps = np.array([1.9, 2.0, 2.12])
    for value, t in zip(eps.tolist(), book.mechanism(eps).threshold.tolist(), strict=True):
        assert is_private(t, value, book.k, book.m)
        assert not is_private(t + 1, value, book.k, book.m)


def test_pickles_are_small(quick):
    book = codebooks.fit(SQUARE, 8.0)
    before = len(pickle.dumps(book))
    assert book.windows.nbytes > before
    again = pickle.loads(pickle.dumps(book))
    assert len(pickle.dumps(book)) == before < 16 * book.m + 10_000
    assert again.digest == book.digest
    assert np.array_equal(again.windows, book.windows)


def test_a_fit_is_kept_in_memory_and_on_disk(own_cache, monkeypatch):
    told = []
    one = book_cache.book(SQUARE, 2.1, told.append)
    assert sum(told) == codebooks.MAX_ROUNDS
    assert one.level == 2.0
    assert len(list(own_cache.iterdir())) == 1
    monkeypatch.setattr(codebooks, "make", None)
    assert book_cache.book(SQUARE, 2.0) is one
    assert book_cache.book(Rectangle(0, 0, 1000, 1000), 2.0, told.append) is one
    assert sum(told) == 2 * codebooks.MAX_ROUNDS
    book_cache.forget()
    again = book_cache.book(SQUARE, 2.0)
    assert again is not one
    assert again.digest == one.digest
    assert again.codewords.tobytes() == one.codewords.tobytes()
    assert np.array_equal(again.windows, one.windows)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "text", "other key", "pickle", "folder"])
def test_a_damaged_file_is_fitted_again(own_cache, damage):
    one = book_cache.book(SQUARE, 2.0)
    (file,) = own_cache.iterdir()
    whole = file.read_bytes()
    other = codebooks.fit(Rectangle(5e6, 5e6, 6e6, 6e6), 2.0)
    flipped = bytearray(whole)
    flipped[-5] ^= 1
    damaged = {
        "cut": whole[:-7], "flipped": bytes(flipped), "empty": b"", "text": b"hello\n" * 50,
        "foreign": book_cache.pack(other, file.stem), "other key": book_cache.pack(one, "another"),
        "pickle": pickle.dumps(one), "folder": b"",
    }  # fmt: skip
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(damaged[damage])
    book_cache.forget()
    assert book_cache.book(SQUARE, 2.0).digest == one.digest
    if damage != "folder":
        assert file.read_bytes() == whole
    assert len(list(own_cache.iterdir())) == 1


def test_what_a_file_says_is_checked(quick):
    book = codebooks.fit(SQUARE, 2.0)
    assert book_cache.unpack(book_cache.pack(book)).digest == book.digest
    for changed in (
        {"k": 0}, {"k": book.m + 1},
        {"cuts": (np.array([1]), np.array([0]))}, {"cuts": (np.array([0, 0]), np.array([0]))},
        {"cuts": (np.array([0, BINS]), np.array([0]))}, {"size": (0.0, 1.0)}, {"codewords": book.codewords * np.nan},
    ):  # fmt: skip
        wrong = Book(**{name: getattr(book, name) for name in Book.__dataclass_fields__} | changed)
        assert book_cache.unpack(book_cache.pack(wrong)) is None, changed


def test_without_a_cache_and_where_it_cannot_be_written(own_cache, monkeypatch, tmp_path):
    monkeypatch.setenv(cache.FOLDER, "")
    assert cache.folder() is None
    one = book_cache.book(SQUARE, 2.0)
    assert not own_cache.exists()
    (tmp_path / "file").write_text("not a folder")
    for place in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nowhere"):
        monkeypatch.setenv(cache.FOLDER, str(place))
        book_cache.forget()
        assert book_cache.book(SQUARE, 2.0).digest == one.digest


def test_a_write_that_fails_leaves_nothing_behind(own_cache, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    book_cache.book(SQUARE, 2.0)
    assert list(own_cache.iterdir()) == []


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv(cache.FOLDER)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "geotracs"


def test_threads_share_one_fit(quick, monkeypatch):
    calls, fitted = [], codebooks.make
    monkeypatch.setattr(codebooks, "make", lambda *args: calls.append(1) or fitted(*args))
    threads = [threading.Thread(target=book_cache.book, args=(SQUARE, 3.0)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [1]


@pytest.mark.parametrize("name", ["square", "disc", "two far islands", "globe", "prior of a cell"])
def test_the_method_reports_every_epsilon(quick, name):
    domain = REGIONS[name]
    xy = domain.spread(300)
    eps = np.tile([1e-9, 0.3, 2.0, 4.0, 10.5, 600.0], 50)[: len(xy)]
    told = []
    channel = Optimal().on(domain, None, eps, told.append)
    assert sum(told) == Optimal().rounds(eps)
    assert sorted(channel.books) == [0.0625, pytest.approx(2**-1.75), 2.0, 4.0]
    reports = channel.sample(xy, np.array([0, len(xy)]), eps, public_stream(4)).xy
    assert domain.contains(reports).all()
    extent = channel.book(2.0).space.extent
    assert domain.distance(xy, reports)[eps == 600].max() < 1e-3 * extent
    direct = np.asfortranarray(xy).copy(order="F")
    Optimal().report(direct, np.array([0, len(xy)]), eps, domain, public_stream(4))
    again = np.asfortranarray(xy).copy(order="F")
    pickle.loads(pickle.dumps(channel)).report(again, np.array([0, len(xy)]), eps, public_stream(4))
    assert np.array_equal(direct, again)


@pytest.mark.parametrize("eps", [1e-9, 4.0, 600.0])
def test_one_epsilon(quick, eps):
    xy = SQUARE.spread(100)
    channel = Optimal().on(SQUARE, None, eps)
    for same in (eps, np.full(100, eps)):
        reports = xy.copy(order="F")
        channel.report(reports, np.array([0, 100]), same, public_stream(4))
        assert np.array_equal(reports, channel_reports(channel, xy, eps))
    window, probability = Optimal().window_of((500.0, 500.0), eps, SQUARE)
    assert window.area > 0
    assert 0 < probability <= 1


def channel_reports(channel, xy, eps):
    reports = xy.copy(order="F")
    channel.report(reports, np.array([0, len(xy)]), eps, public_stream(4))
    return reports


def test_nothing_to_report(quick):
    channel = Optimal().on(SQUARE, None, 2.0)
    empty = np.empty((0, 2), order="F")
    channel.report(empty, np.array([0]), 2.0, public_stream())
    channel.report(empty, np.array([0]), np.empty(0), public_stream())
