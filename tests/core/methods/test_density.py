"""What a channel says of its releases is what it releases: projected, rounded, seen from references."""

import numpy as np
import pytest
import shapely
from scipy import stats

from geotracs import DomainError, InputError, methods
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle, Transport
from geotracs.core.mechanisms.named import NAMED
from geotracs.core.places import Points
from tests.helpers import small

FALSE_ALARM = 1e-6
EPS = 3.0
DRAWS, MANY = 200_000, 10**6
"""With 30 places 200,000 draws show a probability that is off by 3%. A million are drawn of one method here, and of all
methods and regions by ``python -m geotracs.experiments.channels``."""
FINE = 2**16
CORNER = Polygon(shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))
CAFES = Points(CORNER.spread(30))
SECRET = np.array([0.7, 0.4])
OVER_REGION = [name for name, method in methods.METHODS.items() if method.over == "region"]


def agrees(probability, counts):
    """Chi-squared test of counts against probabilities, rare labels together."""
    n, rare = counts.sum(), probability * counts.sum() < 10
    assert probability.sum() == pytest.approx(1, abs=1e-9)
    expected = np.append(probability[~rare], probability[rare].sum()) * n
    seen = np.append(counts[~rare], counts[rare].sum())
    keep = expected > 0
    assert seen[~keep].sum() == 0
    statistic = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
    assert stats.chi2.sf(statistic, max(keep.sum() - 1, 1)) > FALSE_ALARM, statistic / max(keep.sum() - 1, 1)


def drawn(channel, n=DRAWS, secret=SECRET):
    return channel.sample(np.tile(secret, (n, 1)), np.arange(n + 1), EPS, np.random.default_rng(7))


@pytest.mark.slow
@pytest.mark.parametrize("name", methods.METHODS)
def test_on_a_polygon_with_rounding(name):
    """200,000 draws, a million of one method; a false alarm has probability 1e-6."""
    channel = small(name).on(CORNER, CAFES, EPS)
    nodes = 8 * FINE if channel.method.leaves else FINE  # spread over all the plane
    [probability] = channel.density(np.arange(CAFES.count), SECRET[None], nodes=nodes)
    draws = drawn(channel, MANY if name == "joint" else DRAWS)
    agrees(probability, np.bincount(draws.which, minlength=CAFES.count))


REGIONS = {
    "rectangle": (Rectangle(0, 0, 2, 1), SECRET),
    "parallelogram": (Parallelogram((0, 0), (2, 0.5), (-0.3, 1)), SECRET),
    "polygon": (CORNER, SECRET),
    "transport": (Transport(CORNER), SECRET),
    "disc": (Disc((0.5, 0.5), 0.8), SECRET),
    "globe": (Globe(), np.array([170.0, 60.0])),
}


def cells(domain, side=12):
    """Return a label for what is released: the piece of the border, or the cell of a grid inside."""
    low, high = np.reshape(domain.outline.bounds, (2, 2))

    def label(channel):
        def of(reports):
            column, row = np.clip((reports.xy - low) / (high - low) * side, 0, side - 1).astype(int).T
            atoms = channel.release.atoms(reports)
            return np.where(atoms >= 0, atoms // 32 + side * side, column * side + row)

        return of

    return label, side * side + 16


def possible(name, domain):
    try:
        return small(name).on(domain, None, EPS)
    except DomainError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("kind", REGIONS)
@pytest.mark.parametrize("name", OVER_REGION)
def test_projected_and_inside(name, kind):
    """50,000 draws in cells and pieces of the border; a false alarm has probability 1e-6."""
    domain, secret = REGIONS[kind]
    channel = possible(name, domain)
    if channel is None:
        return
    label, count = cells(domain)
    nodes = 2 * FINE if channel.method.leaves else FINE
    [probability] = channel.probabilities(label(channel), count, secret[None], nodes=nodes)
    agrees(probability, np.bincount(label(channel)(drawn(channel, 50_000, secret)), minlength=count))


@pytest.mark.parametrize("kind", ["rectangle", "polygon", "transport", "disc"])
@pytest.mark.parametrize("name", OVER_REGION)
def test_density_is_probability_per_area_and_per_length(name, kind):
    """The integral over the inside, by points spread over it, and the pieces of the border add up to 1."""
    domain, secret = REGIONS[kind]
    channel = possible(name, domain)
    if channel is None:
        return
    if name == "optimal":  # whose reports are codewords
        codewords = channel.book(EPS).codewords
        assert channel.density(codewords, secret[None]).sum() == pytest.approx(1)
        assert channel.density(codewords + 1e-3, secret[None]).sum() == 0
        return
    xy = domain.spread(2**16) if kind != "transport" else CORNER.spread(2**16)
    inside = channel.density(xy, secret[None]).mean() * domain.outline.area
    border = 0.0
    if channel.release.border is not None:
        pieces = channel.probabilities(channel.release.atoms, channel.release.count, secret[None])
        border = pieces.sum()
        at = shapely.get_coordinates(channel.release.border.geometry.boundary)[0]
        piece = channel.release.atoms(channel.release.known(at[None]))
        per_length = channel.density(at[None], secret[None])
        assert per_length[0, 0] == pytest.approx(pieces[0, piece[0]] / channel.release.size())
    assert inside + border == pytest.approx(1, abs=0.02)


def test_many_secrets_and_reports_at_once():
    secrets, reports = CORNER.spread(5), CORNER.spread(7) + 1e-3
    for name in OVER_REGION:
        channel = small(name).on(CORNER, None, 2.0)
        together = channel.density(reports, secrets)
        assert together.shape == (5, 7)
        for i, secret in enumerate(secrets):
            assert np.array_equal(together[i], channel.density(reports, secret[None])[0])
        if channel.method.privacy["kind"] == "pure":
            assert (together.max(axis=0) <= np.exp(2.0) * together.min(axis=0) * (1 + 1e-9)).all()


WITH_ATOMS = ("pm", "sw")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tracs-c", "tracs-d"])
@pytest.mark.parametrize("window", NAMED)
def test_every_named_window(window, name):
    """100,000 draws in cells and pieces of the border; a false alarm has probability 1e-6.

    By turns on a polygon, and where an axis is periodic or a report needs no projection.
    """
    kind = ("polygon", {"tracs-c": "globe", "tracs-d": "disc"}[name])[
        (list(NAMED).index(window) + (name == "tracs-d")) % 2
    ]
    domain, secret = REGIONS[kind]
    channel = methods.make(name, {"window": window}).on(domain, None, EPS)
    label, count = cells(domain)
    [probability] = channel.probabilities(label(channel), count, secret[None], nodes=FINE)
    agrees(probability, np.bincount(label(channel)(drawn(channel, 100_000, secret)), minlength=count))


@pytest.mark.parametrize("window", NAMED)
@pytest.mark.parametrize("name", ["tracs-c", "tracs-d", "strawman"])
def test_density_of_named_windows(name, window):
    """The density integrates to 1, unless single points have a probability: then it says so, and rounding works."""
    domain, secret = REGIONS["rectangle"]
    channel = methods.make(name, {"window": window}).on(domain, None, EPS)
    if window in WITH_ATOMS:
        with pytest.raises(InputError, match="no density can say"):
            channel.density(domain.spread(5), secret[None])
    else:
        assert channel.density(domain.spread(2**16), secret[None]).mean() * 2 == pytest.approx(1, abs=0.02)
    rounded = methods.make(name, {"window": window}).on(CORNER, CAFES, EPS)
    assert rounded.density(np.arange(CAFES.count), SECRET[None]).sum() == pytest.approx(1)
    if name != "strawman":
        with pytest.raises(InputError, match="has no window inside the region"):
            channel.method.window_of(tuple(secret), EPS, domain)


@pytest.mark.parametrize("window", ["sw", "purkayastha"])
def test_named_windows_walk_along_what_is_released(window):
    """No report, and so no reference, leaves the polygon; projecting again changes nothing."""
    recipe, rng = methods.make("tracs-d", {"window": window}), np.random.default_rng(5)
    xy = CORNER.spread(40)
    whole = xy.copy(order="F")
    recipe.report(whole, np.array([0, 15, 40]), np.repeat([2.0, 5.0], 20), CORNER, rng)
    assert CORNER.contains(whole).all()
    again = whole.copy()
    CORNER.project_inside(again)
    assert np.array_equal(again, whole)


@pytest.mark.parametrize("name", ["tracs-d", "strawman"])
def test_seen_from_what_was_released_before(name):
    """100,000 draws of a second location, all from one released first one; a false alarm has probability 1e-6."""
    method, before, n = methods.make(name), np.array([1.0, 1.4]), 100_000  # on the border of the corner
    channel = method.on(CORNER, None, 4.0)
    assert channel.reference_is_known
    reports = np.tile(SECRET, (n, 1)).copy(order="F")
    rng = np.random.default_rng(3)
    start = methods.make(name, {"start": tuple(before)})
    start.report(reports, np.arange(n + 1), 4.0, CORNER, rng)
    label, count = cells(CORNER)
    [probability] = channel.probabilities(label(channel), count, SECRET[None], before=before, nodes=FINE)
    agrees(probability, np.bincount(label(channel)(channel.release(reports)), minlength=count))
    several = channel.density(CORNER.spread(3), SECRET[None], before=np.array([before, before, [0.2, 0.2]]))
    assert several[0, 0] == channel.density(CORNER.spread(3), SECRET[None], before=before)[0, 0]
    assert several[0, 2] == channel.density(CORNER.spread(3), SECRET[None], before=(0.2, 0.2))[0, 2]


def test_a_rounded_reference_is_not_known():
    rounded = methods.make("tracs-d").on(CORNER, CAFES, 3.0)
    assert not rounded.reference_is_known
    assert methods.make("tracs-d", {"reference": (0.5, 0.5)}).on(CORNER, CAFES, 3.0).reference_is_known
    assert not methods.make("tracs-d", {"start": "random"}).on(CORNER, None, 3.0).reference_is_known
    every = np.arange(CAFES.count)
    for before in (3, CAFES.sample(CAFES.count)[3]):
        assert rounded.density(every, SECRET[None], before=before, nodes=512).sum() == pytest.approx(1)
    first = rounded.density(every, SECRET[None], nodes=512)
    assert not np.allclose(first, rounded.density(every, SECRET[None], before=3, nodes=512))


def test_over_places_given_the_report_before():
    channel = methods.make("ngram", {"reach": 0.4}).on(CORNER, CAFES, 2.0)
    every = np.arange(CAFES.count)
    after = channel.density(every, SECRET[None], before=0)
    assert after.sum() == pytest.approx(1)
    assert (after == 0).any()
    assert (channel.density(every, SECRET[None]) > 0).all()
    each = channel.density(every[:2], SECRET[None], before=np.array([0, 5]))
    assert each[0, 0] == after[0, 0]


def test_what_is_refused():
    channel = methods.make("joint").on(CORNER, CAFES, np.array([1.0, 2.0]))
    with pytest.raises(InputError, match="several epsilons"):
        channel.density(np.array([0]), SECRET[None])
    assert channel.density(np.array([0]), SECRET[None], eps=1.0).shape == (1, 1)
    with pytest.raises(InputError, match="from 0 to 29"):
        channel.density(np.array([30]), SECRET[None], eps=1.0)
    with pytest.raises(InputError, match="rows"):
        channel.density(np.array([0.5, 0.5]), SECRET[None], eps=1.0)
    with pytest.raises(DomainError, match="outside the domain"):
        channel.density(np.array([0]), np.array([[5.0, 5.0]]), eps=1.0)
    with pytest.raises(InputError, match="one for each of 2"):
        methods.make("tracs-d").on(CORNER, None, 1.0).density(
            SECRET[[0, 1]][None].repeat(2, 0), SECRET[None], before=np.ones((3, 2))
        )
