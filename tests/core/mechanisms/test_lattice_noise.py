"""Exact noise on a lattice: its law by enumeration, its limits, its ties, its draws."""

from decimal import Context, Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2, gamma

from geotracs.core.mechanisms import lattice_noise
from geotracs.core.mechanisms.lattice_noise import FAR, LatticeNoise, Sizes, Uniform, below, ceil_length, integer
from tests.core.mechanisms.exact import exp_bounds
from tests.helpers import FALSE_ALARM

PRECISE = Context(prec=70)
BITS = 256


class Words:
    """A generator that returns the same word again and again, or given ones in turn."""

    def __init__(self, *words):
        self.words = list(words)

    def integers(self, low, high, n, dtype, endpoint):
        word = self.words.pop(0) if len(self.words) > 1 else self.words[0]
        return np.full(n, word, dtype=np.uint64).astype(dtype)


def probability(bounds):
    """Return a probability to 70 digits."""
    low, high = bounds(BITS)
    assert 0 <= low < high <= low + 2**16
    return Fraction(low, 2**BITS)


def enumerated_law(noise, reach):
    """Return the probability of each vector up to ``reach``, times a constant, by enumeration of all coins."""
    sizes, last = Sizes(noise.steps), 230 * noise.steps
    survival = [probability(sizes.bounds(n)) if n else Fraction(1) for n in range(last + 2)]
    of_size = [survival[k] - survival[k + 1] for k in range(last + 1)]
    fractions = np.array(
        list(product(np.arange(2**noise.bits, dtype=np.uint32) << np.uint32(32 - noise.bits), repeat=2))
    )
    law = {}
    for cell in product(range(-reach, reach + 1), repeat=2):
        kept = sum(of_size[k] / (2 * k + 1) ** 2 for k in range(last + 1) if cell[0] ** 2 + cell[1] ** 2 <= k**2)
        vectors = noise._in_cell(np.array([cell] * len(fractions)).T, fractions.T.astype(np.uint32))
        for x, y in vectors.T.tolist():
            assert (x, y) not in law
            law[x, y] = kept / 4**noise.bits * probability(noise._bounds(x, y, ceil_length(*cell)))
    return law


def on_paper(noise, x, y):
    root = PRECISE.sqrt(Decimal(x * x + y * y))
    return Fraction(PRECISE.exp(PRECISE.divide(root, Decimal(-noise.scale))))


def close(a, b):
    return abs(a / b - 1) < Fraction(1, 10**50)


# The law


def test_a_cell_is_kept_for_every_size_that_reaches_it():
    """Steps 1 and 2 with a rational ratio: the weights add up to the power of the length, rounded up."""
    q, last = Fraction(2, 3), 40
    for i, j in product(range(-9, 10), repeat=2):
        weight = sum(q**k for k in range(last + 1) if abs(i) <= k and abs(j) <= k and i * i + j * j <= k * k)
        assert weight == (q ** ceil_length(i, j) - q ** (last + 1)) / (1 - q)


@pytest.mark.parametrize(("steps", "bits"), [(1, 0), (2, 1), (1, 2)])
def test_the_law_by_enumeration_of_the_coins(steps, bits):
    """Every size, cell, place in the cell and last coin, with their exact probabilities, to 50 digits."""
    noise = LatticeNoise(steps, bits)
    law = enumerated_law(noise, 4)
    for (x, y), weight in law.items():
        assert close(weight / law[0, 0], on_paper(noise, x, y))
        assert (-x, y) not in law or close(weight, law[-x, y])
        assert (y, x) not in law or close(weight, law[y, x])


def test_no_two_places_are_told_apart_by_more_than_their_distance():
    noise = LatticeNoise(2, 1)
    law = enumerated_law(noise, 4)
    places = list(product(range(-2, 2), repeat=2))
    for y in places:
        for a, b in product(places, repeat=2):
            at_a, at_b = (law[y[0] - place[0], y[1] - place[1]] for place in (a, b))
            most = 1 / on_paper(noise, a[0] - b[0], a[1] - b[1])
            assert at_a <= most * at_b * (1 + Fraction(1, 10**50))


# Sizes


@pytest.mark.parametrize("steps", [1, 2, 8])
def test_the_limits_are_the_first_64_bits_of_the_survival_function(steps):
    """Against sums of the weights, in integers, with a ratio from its Taylor series: not as the library does."""
    low, high = exp_bounds(1 / steps)
    unit = 2**600
    sums = []
    for q in (1 / high, 1 / low):
        q = int(q * unit)
        power, weights = unit, []
        for k in range(260 * steps):
            weights.append((2 * k + 1) ** 2 * power)
            power = power * q // unit
        sums.append(np.cumsum(np.array(weights, dtype=object)[::-1])[::-1])
    limits = Sizes(steps).limits[::-1].tolist()
    for n, limit in enumerate(limits, 1):
        first, second = ((own[n] << 64) // own[0] for own in sums)
        assert first == second == limit
    assert limits[-1] == 0 < limits[-2]


def test_words_equal_to_a_limit_are_decided_by_more_bits():
    sizes = Sizes(4)
    for n in (1, 2, 9, len(sizes.limits) - 1):
        limit = int(sizes.limits[::-1][n - 1])
        low, high = sizes.bounds(n)(128)
        assert low >> 64 == limit
        assert high == low + 1
        rest = low % 2**64
        assert sizes.exactly(Uniform(limit, Words(rest - 1))) == n
        assert sizes.exactly(Uniform(limit, Words(rest + 1))) == n - 1
        # These 128 bits are those of the limit: the third word decides.
        assert sizes.exactly(Uniform(limit, Words(rest, 0))) == n
        assert sizes.exactly(Uniform(limit, Words(rest, 2**64 - 1))) == n - 1


def test_sizes_have_no_end():
    sizes = Sizes(4)
    beyond = [sizes.exactly(Uniform(0, Words(*[0] * zeros, 2**63))) for zeros in range(4)]
    assert len(sizes.limits) - 1 <= beyond[0] < beyond[1] < beyond[2] < beyond[3]


def test_a_guide_of_16_bits_says_what_the_words_say():
    sizes = Sizes(16)
    rng = np.random.default_rng(0)
    high = rng.integers(0, 2**16, 20_000, dtype=np.uint16)
    low = int(rng.integers(0, 2**48))
    size, tied = sizes.draw(20_000, Halves(high, low << 16))
    word = (high.astype(np.uint64) << np.uint64(48)) | np.uint64(low)
    assert not tied
    assert np.array_equal(size, [np.count_nonzero(sizes.limits > one) for one in word])


class Halves(Words):
    """A generator that returns given words of 16 bits, and always the same one of 64."""

    def __init__(self, high, low):
        self.high, self.low = high, low

    def integers(self, low, high, n, dtype, endpoint):
        return self.high if dtype is np.uint16 else np.full(n, self.low, dtype=dtype)


# Coins and integers


def test_below_is_exact():
    def third(bits):
        return 2**bits // 3, 2**bits // 3 + 1

    middle = 2**64 // 3
    assert below(Uniform(middle - 1, Words(0)), third)
    assert not below(Uniform(middle + 1, Words(0)), third)
    assert below(Uniform(middle, Words(middle, middle, middle - 1)), third)
    assert not below(Uniform(middle, Words(middle, middle, middle + 1)), third)


def test_integers_of_any_size():
    assert integer(1, Words(2**64 - 1)) == 0
    assert integer(2**64, Words(2**64 - 1)) == 2**64 - 1
    assert integer(5, Words(5 << 61, 6 << 61, 4 << 61)) == 4  # too large, twice
    assert integer(2**100, Words(2**64 - 1)) == 2**100 - 1


def test_lengths_are_rounded_up_by_integers():
    big = 26_417
    xs = np.array([0, 0, 3, 3, 1, big, big, -5], dtype=np.int64)
    ys = np.array([0, 1, 4, 5, 1, big, 0, 12], dtype=np.int64)
    wanted = [ceil_length(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
    assert wanted[:5] == [0, 1, 5, 6, 2]
    assert lattice_noise._ceil_lengths(xs, ys).tolist() == wanted


def test_uniform_integers_for_many_bounds():
    """Words that would make some results likelier are drawn again; false alarms as stated."""
    among = np.repeat(np.array([1, 3, 7, 25_001], dtype=np.int32), 50_000)
    drawn = lattice_noise._uniform(among, np.random.default_rng(0))
    for bound in (3, 7):
        counts = np.bincount(drawn[among == bound], minlength=bound)
        expected = 50_000 / bound
        assert np.sum((counts - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, bound - 1)
    assert (drawn[among == 1] == 0).all()
    assert drawn.max() < 25_001
    # The word 0 leaves a low half of 0, which is below the remainder 2**32 % 3 = 1: it is drawn again.
    assert lattice_noise._uniform(np.array([3], dtype=np.int32), Words(0, 2**31)).tolist() == [1]


# Draws


def chi_squared(counts, expected):
    return np.sum((counts - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, counts.size - 1)


@pytest.mark.parametrize(("steps", "bits"), [(1, 0), (2, 1), (3, 2)])
def test_a_million_draws_on_a_small_lattice(steps, bits):
    noise, n, reach = LatticeNoise(steps, bits), 1_000_000, 4 * steps << bits
    x, y = noise.draw(n, np.random.default_rng(steps))
    near = (np.abs(x) <= reach) & (np.abs(y) <= reach)
    side = 2 * reach + 1
    counts = np.bincount((x[near] + reach) * side + y[near] + reach, minlength=side**2)
    i = np.arange(-reach, reach + 1)
    expected = n * noise.pmf(np.hypot(i[:, None], i)).ravel()
    many = expected > 20
    rest = n - counts[many].sum()
    assert chi_squared(np.append(counts[many], rest), np.append(expected[many], n - expected[many].sum()))
    assert np.hypot(x, y).mean() == pytest.approx(noise.mean_length(), rel=0.005)


def test_a_million_draws_as_they_are_used():
    """Lengths follow a gamma distribution, directions are uniform and independent of them, in every symmetry."""
    n, bins, noise = 1_000_000, 16, LatticeNoise()
    x, y = noise.draw(n, np.random.default_rng(1)).astype(np.float64)
    part = gamma.cdf(np.hypot(x, y) / noise.scale, 2)
    turn = (np.arctan2(y, x) / (2 * np.pi)) % 1
    counts = np.histogram2d(part, turn, bins, [[0, 1], [0, 1]])[0]
    assert chi_squared(counts, np.full((bins, bins), n / bins**2))
    low = np.bincount(noise.draw(100_000, np.random.default_rng(2))[0] & 15, minlength=16)
    assert chi_squared(low, np.full(16, 100_000 / 16))


def test_one_by_one_with_integers_alone():
    """What a tie takes is the same law."""
    noise, n, rng = LatticeNoise(2, 0), 6_000, np.random.default_rng(3)
    drawn = [noise._one(int(word), rng) for word in rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True)]
    x, y = np.array([one for one in drawn if one is not None]).T
    near = (np.abs(x) <= 2) & (np.abs(y) <= 2)
    counts = np.bincount((x[near] + 2) * 5 + y[near] + 2, minlength=25)
    i = np.arange(-2, 3)
    expected = len(x) * noise.pmf(np.hypot(i[:, None], i)).ravel()
    assert chi_squared(np.append(counts, len(x) - counts.sum()), np.append(expected, len(x) - expected.sum()))


def test_floats_decide_nothing_that_integers_would_not(monkeypatch):
    noise = LatticeNoise(2, 3)
    quick = noise.draw(500, np.random.default_rng(4))
    monkeypatch.setattr(lattice_noise, "MARGIN", 2.0)
    assert np.array_equal(noise.draw(500, np.random.default_rng(4)), quick)


def test_ties_stay_in_their_rows_and_far_ones_are_moved_to_the_end(monkeypatch):
    noise = LatticeNoise(2, 3)
    plain, draw = noise._candidates(50, np.random.default_rng(5)), Sizes.draw
    size, _ = draw(Sizes(2), 50, np.random.default_rng(5))
    monkeypatch.setattr(Sizes, "draw", lambda self, n, rng: (draw(self, n, rng)[0], {0: 7, 49: 7}))
    monkeypatch.setattr(LatticeNoise, "_one", lambda self, word, rng: (2**70, -(2**90)))
    tied = noise._candidates(50, np.random.default_rng(5))
    assert tied[:, 0].tolist() == tied[:, -1].tolist() == [FAR, -FAR]
    monkeypatch.setattr(LatticeNoise, "_one", lambda self, word, rng: None)
    assert noise._candidates(50, np.random.default_rng(5)).shape[1] == tied.shape[1] - 2
    assert len(size) == 50 >= plain.shape[1]


def test_huge_sizes(monkeypatch):
    monkeypatch.setattr(Sizes, "exactly", lambda self, number: 2**80)
    found = [LatticeNoise()._one(1, np.random.default_rng(seed)) for seed in range(40)]
    lengths = [ceil_length(*one) >> 32 for one in found if one]
    assert 15 < len(lengths) < 40
    assert 2**74 < max(lengths) <= 2**80


def test_none_and_one():
    assert LatticeNoise().draw(0, np.random.default_rng(0)).shape == (2, 0)
    assert LatticeNoise().draw(1, np.random.default_rng(0)).dtype == np.int64
    assert repr(LatticeNoise(2, 1)) == "<LatticeNoise of scale 4>"
