"""Exact planar Laplace noise on integer vectors: integers decide, no float ever does.

How a vector is drawn, with q = exp(-1 / steps):

1. A size k, with probability in proportion to (2k + 1)**2 * q**k. `Sizes` inverts its distribution: a uniform number
   is compared with P(size >= n), of which 64 bits are known; where they are equal more bits of both are made.
2. A cell (i, j), uniform in the square from -k to k, kept if i**2 + j**2 <= k**2. A cell c is kept for every size from
   ceil(abs(c)) on, each time with a weight of q**k, and the sum of these is q**ceil(abs(c)) / (1 - q).
3. A vector v, uniform in that cell, which has 2**bits vectors a side.
4. The vector is kept with probability exp(-(abs(v) / 2**bits - ceil(abs(c)) + 7/4) / steps), again decided by as many
   bits as it takes. The exponent is never above 0, since v is at most sqrt(1/2) of a cell away from c.

So the vector v is drawn with a probability in proportion to exp(-abs(v) / (steps * 2**bits)), exactly.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import cached_property, lru_cache
from math import isqrt

import numpy as np

from geotracs.core.mechanisms.lattice import LOW
from geotracs.core.randomness import Source, Streams, words

STEPS = 2**8
BITS = 32
FAR = 2**62
"""Vectors farther than this along an axis are moved there. Who adds a location clips the sum to less; see `draw`."""

CHUNK = 2**15
"""How many candidates are processed at a time: few enough for the processor's cache."""
SHARE = 1.31
"""How many candidates are drawn for each vector that is needed: 78% are kept."""
SHIFT = 7
"""Four times the 7/4 of step 4: more than 1 + sqrt(1/2)."""
REACH = 2.5
"""The exponent of step 4 is at most this, over `STEPS`: 7/4 + sqrt(1/2) is 2.46."""
MARGIN = 1e-9
"""What is nearer to its limit than this is decided by integers. Floats err by less than 1e-11 in step 4."""
TOP = np.uint64(48)
GUARD = 10
"""Decimal digits that may be wrong: powers lose as many as n has, differences as many as `STEPS` has."""

Bounds = Callable[[int], tuple[int, int]]
"""Takes a number of bits; returns the integers below and above a probability times two to the power of it."""


class LatticeNoise:
    """Draw integer vectors v with a probability in proportion to exp(-abs(v) / scale), exactly.

    For any two places a and b of the lattice, and every report y, it follows from the triangle inequality that
    P(y | a) <= exp(abs(a - b) / scale) * P(y | b). Nothing is cut off: every vector is possible.

    Parameters
    ----------
    steps : int
        The scale, in cells: from 1 to 512.
    bits : int
        From 0 to 32; a cell has 2**bits vectors a side, so that the scale is steps * 2**bits.

    Examples
    --------
    >>> noise = LatticeNoise()
    >>> noise.scale == 2**40
    True
    >>> from geotracs.core.randomness import source
    >>> noise.draw(3, source()).shape
    (2, 3)

    References
    ----------
    Andrés, Bordenabe, Chatzikokolakis and Palamidessi (2013) for the noise, Canonne, Kamath and Steinke (2020) for
    exact draws of exponential probabilities.
    """

    def __init__(self, steps: int = STEPS, bits: int = BITS) -> None:
        self.steps, self.bits, self.scale = steps, bits, steps << bits
        # Below this the first 16 bits of a uniform number keep the vector, whatever it is.
        self._surely = int(2**16 * np.exp(-REACH / steps) * (1 - MARGIN))

    def __repr__(self) -> str:
        return f"<LatticeNoise of scale {self.scale}>"

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Return n vectors, an array of int64 of shape (2, n).

        Beyond `FAR`, which is 2**22 times the default scale, coordinates are moved to it. That is exact for whoever
        adds a location of less than ``FAR / 2`` and clips the sum to ``FAR / 2``, which is post-processing.
        """
        if isinstance(rng, Streams):
            return np.concatenate([np.empty((2, 0), np.int64), *(self.draw(1, one) for one in rng.each())], axis=1)
        noise = np.empty((2, n), dtype=np.int64)
        done = 0
        while done < n:
            # Candidates are independent and alike, so that the first ones that are kept are as good as any.
            kept = self._candidates(min(CHUNK, int(SHARE * (n - done)) + 16), rng)[:, : n - done]
            noise[:, done : done + kept.shape[1]] = kept
            done += kept.shape[1]
        return noise

    def mean_length(self) -> float:
        """Return the mean length of a vector: 2 * scale, from a scale of 2**6 on to six digits.

        >>> LatticeNoise(256, 32).mean_length() == 2**41
        True
        """
        if self.scale >= 2**6:
            return 2.0 * self.scale
        return float((np.exp(-self._lengths / self.scale) * self._lengths).sum() / self._total)

    def pmf(self, length: np.ndarray) -> np.ndarray:
        """Return the probability of one vector of each length.

        >>> float(LatticeNoise(1, 0).pmf(0))
        0.153...
        """
        return np.exp(-np.asarray(length) / self.scale) / self._total

    @cached_property
    def _total(self) -> float:
        """The sum of exp(-abs(v) / scale) over all vectors; from a scale of 2**6 on an integral, to six digits."""
        if self.scale >= 2**6:
            return 2 * np.pi * float(self.scale) ** 2
        return float(np.exp(-self._lengths / self.scale).sum())

    @property
    def _lengths(self) -> np.ndarray:
        """All lengths up to 40 times the scale, beyond which nothing is left for a float."""
        i = np.arange(-40 * self.scale, 40 * self.scale + 1)
        return np.hypot(i[:, None], i)

    def _candidates(self, n: int, rng: Source) -> np.ndarray:
        """Return those of n vectors that are kept, in the order in which they were drawn."""
        size, tied = _sizes(self.steps).draw(n, rng)
        cell = np.empty((2, n), dtype=np.int32)
        for axis in (0, 1):
            np.subtract(_uniform(2 * size + 1, rng), size, out=cell[axis])
        inside = cell[0] * cell[0] + cell[1] * cell[1] <= size * size
        inside[list(tied)] = True
        cell = cell.compress(inside, axis=1)
        vector = self._in_cell(cell, words(rng, cell.size, np.uint32).reshape(2, -1))
        keep = self._keep(cell, vector, rng)
        for row, word in tied.items():
            at, one = np.count_nonzero(inside[:row]), self._one(word, rng)
            keep[at] = one is not None
            vector[:, at] = [max(-FAR, min(c, FAR)) for c in one or (0, 0)]
        return vector.compress(keep, axis=1)

    def _in_cell(self, cell: np.ndarray, fraction: np.ndarray) -> np.ndarray:
        vector = cell.astype(np.int64) << self.bits
        vector += fraction >> np.uint32(32 - self.bits) if self.bits else 0
        vector -= (1 << self.bits) >> 1
        return vector

    def _keep(self, cell: np.ndarray, vector: np.ndarray, rng: Source) -> np.ndarray:
        """Return which vectors are kept, by step 4."""
        high = words(rng, cell.shape[1], np.uint16)
        keep = high < self._surely
        rows = np.flatnonzero(~keep)
        word = (high[rows].astype(np.uint64) << TOP) | (words(rng, len(rows), np.uint64) >> np.uint64(16))
        outer = _ceil_lengths(*cell.take(rows, axis=1).astype(np.int64))
        length = np.hypot(*vector.take(rows, axis=1).astype(np.float64)) / 2.0**self.bits
        ahead = np.exp(-(length - outer + SHIFT / 4) / self.steps) - word / 2.0**64
        keep[rows] = ahead > 0
        for at in np.flatnonzero(np.abs(ahead) < MARGIN).tolist():
            x, y = (int(coordinate[rows[at]]) for coordinate in vector)
            exact = self._bounds(x, y, int(outer[at]))
            keep[rows[at]] = below(Uniform(int(word[at]), rng), exact)
        return keep

    def _one(self, word: int, rng: Source) -> tuple[int, int] | None:
        """Return one vector, or None if it is not kept, from the first bits of the number that gives its size."""
        size = _sizes(self.steps).exactly(Uniform(word, rng))
        cell = [integer(2 * size + 1, rng) - size for _ in range(2)]
        if cell[0] ** 2 + cell[1] ** 2 > size**2:
            return None
        x, y = (((c << self.bits) + integer(1 << self.bits, rng) - ((1 << self.bits) >> 1)) for c in cell)
        exact = self._bounds(x, y, ceil_length(*cell))
        return (x, y) if below(Uniform(integer(2**64, rng), rng), exact) else None

    def _bounds(self, x: int, y: int, outer: int) -> Bounds:
        """Return the bounds of the probability of step 4 for a vector and ceil(abs(c)) of its cell."""

        def bounds(bits: int) -> tuple[int, int]:
            # abs(v) in 2**-fine of a vector, so that what is cut off is below 2**-bits of the exponent.
            fine = bits + 8
            square = (x * x + y * y) << (2 * fine)
            whole = isqrt(square)
            more = whole + (whole * whole < square)
            shift = ((SHIFT << self.bits) - (outer << (self.bits + 2))) << fine
            unit = self.scale << (fine + 2)
            return _exp(4 * more + shift, unit, bits)[0], _exp(4 * whole + shift, unit, bits)[1]

        return bounds


class Uniform:
    """A uniform number in [0, 1), of which the first 64 bits are given and others are drawn as they are needed."""

    def __init__(self, word: int, rng: Source) -> None:
        self.value, self.bits, self._rng = word, 64, rng

    def extend(self) -> None:
        """Draw 64 bits more."""
        self.value, self.bits = (self.value << 64) | integer(2**64, self._rng), self.bits + 64


def below(number: Uniform, bounds: Bounds) -> bool:
    """Return whether a uniform number is below a probability, exactly: more bits are drawn until that is certain."""
    while True:
        low, high = bounds(number.bits)
        if number.value < low:
            return True
        if number.value >= high:
            return False
        number.extend()


class Sizes:
    """Draw sizes k >= 0 with a probability in proportion to (2k + 1)**2 * exp(-k / steps), exactly.

    ``limits`` holds the first 64 bits of P(size >= n), in ascending order: for n from the first where they are 0 down
    to 1. A uniform number whose first 64 bits are below those is below the probability, one whose bits are above is
    above it; only where they are equal more bits of both decide.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.limits = np.array(self._limits(), dtype=np.uint64)
        top = self.limits >> TOP
        ends = np.searchsorted(top, np.arange(2**16, dtype=np.uint64), side="right")
        starts = np.searchsorted(top, np.arange(2**16, dtype=np.uint64), side="left")
        # What the first 16 bits say already; -1 where they do not.
        self._guide = np.where(starts == ends, len(top) - ends, -1).astype(np.int32)

    def draw(self, n: int, rng: Source) -> tuple[np.ndarray, dict[int, int]]:
        """Return n sizes, and the 64-bit words of the rows that they cannot decide, whose size here is 0."""
        high = words(rng, n, np.uint16)
        size = self._guide.take(high)
        rows = np.flatnonzero(size < 0)
        word = (high[rows].astype(np.uint64) << TOP) | (words(rng, len(rows), np.uint64) >> np.uint64(16))
        above = np.searchsorted(self.limits, word, side="right")
        size[rows] = len(self.limits) - above
        equal = np.flatnonzero(self.limits[above - 1] == word)
        size[rows[equal]] = 0
        return size, dict(zip(rows[equal].tolist(), word[equal].tolist(), strict=True))

    def exactly(self, number: Uniform) -> int:
        """Return the size for a uniform number, with as many bits as it takes."""
        size = len(self.limits) - int(np.searchsorted(self.limits, np.uint64(number.value), side="right"))
        while below(number, self.bounds(size + 1)):
            size += 1
        return size

    def bounds(self, n: int) -> Bounds:
        """Return the bounds of P(size >= n)."""

        def bounds(bits: int) -> tuple[int, int]:
            context = _context(bits + n.bit_length())
            power = context.power(_ratio(self.steps, context.prec), n)
            return _around(self._survival(n, power, context), bits, context)

        return bounds

    def _limits(self) -> list[int]:
        """Return the first 64 bits of P(size >= n), from the first n where they are 0 down to 1."""
        context, power, limits = _context(128), Decimal(1), [1]
        while limits[-1]:
            n = len(limits)
            power = context.multiply(power, _ratio(self.steps, context.prec))
            low, high = _around(self._survival(n, power, context), 64, context)
            if low + 1 < high:  # so near to an integer that all digits are needed to know on which side
                low = self._first_bits(n)
            limits.append(low)
        return limits[:0:-1]

    def _first_bits(self, n: int) -> int:
        bits = 128
        while True:
            low, high = (bound >> (bits - 64) for bound in self.bounds(n)(bits))
            if low == high:
                return low
            bits *= 2

    def _survival(self, n: int, power: Decimal, context: Context) -> Decimal:
        """Return P(size >= n), by the sums of geometric series; ``power`` is exp(-n / steps)."""
        q = _ratio(self.steps, context.prec)
        add, times = context.add, context.multiply
        gap = context.subtract(Decimal(1), q)
        one = add(add(Decimal(1), times(Decimal(6), q)), times(q, q))
        rest = times(times(Decimal(4 * n), gap), add(add(Decimal(1), q), times(Decimal(n), gap)))
        return times(power, add(Decimal(1), context.divide(rest, one)))


def ceil_length(x: int, y: int) -> int:
    """Return the length of a vector, rounded up.

    >>> ceil_length(3, 4), ceil_length(3, 5)
    (5, 6)
    """
    square = x * x + y * y
    return isqrt(square - 1) + 1 if square else 0


def integer(among: int, rng: Source) -> int:
    """Return an integer uniform in ``0 .. among - 1``, however large: words that are too large are drawn again."""
    count = max(1, -(-(among - 1).bit_length() // 64))
    surplus = 64 * count - (among - 1).bit_length()
    while True:
        value = int.from_bytes(words(rng, count, np.uint64).astype("<u8").tobytes(), "little") >> surplus
        if value < among:
            return value


@lru_cache(maxsize=16)
def _ratio(steps: int, digits: int) -> Decimal:
    context = _context(3 * digits)
    return context.exp(context.divide(Decimal(-1), Decimal(steps)))


@lru_cache(maxsize=16)
def _sizes(steps: int) -> Sizes:
    return Sizes(steps)


def _ceil_lengths(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return lengths rounded up, by integers: the floating root is at most one off, since squares are below 2**52."""
    square = x * x + y * y
    length = np.ceil(np.sqrt(square)).astype(np.int64)
    length += length * length < square
    length -= (length > 0) & ((length - 1) * (length - 1) >= square)
    return length


def _uniform(among: np.ndarray, rng: Source) -> np.ndarray:
    """Return one integer uniform in ``0 .. among - 1`` for each of the bounds.

    As `lattice.uniform`, with the remainder of a division only where it may matter.
    """
    product = np.multiply(words(rng, len(among), np.uint32), among, dtype=np.uint64, casting="unsafe")
    low, high = product.view(np.uint32)[LOW::2], product.view(np.int32)[1 - LOW :: 2]
    again = np.flatnonzero(low < among)
    again = again[low[again] < 2**32 % among[again].astype(np.int64)]
    while len(again):
        product[again] = words(rng, len(again), np.uint32) * among[again].astype(np.uint64)
        again = again[low[again] < 2**32 % among[again].astype(np.int64)]
    return high


def _context(bits: int) -> Context:
    return Context(prec=bits // 3 + 2 * GUARD, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


def _exp(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """Return the integers below and above exp(-numerator / denominator) * 2**bits."""
    context = _context(bits)
    return _around(context.exp(context.divide(Decimal(-numerator), Decimal(denominator))), bits, context)


def _around(probability: Decimal, bits: int, context: Context) -> tuple[int, int]:
    """Return the integers below and above a probability times 2**bits; its last `GUARD` digits may be wrong."""
    error = Decimal((0, (1,), GUARD - context.prec))
    product = context.multiply(probability, Decimal(2**bits))
    low = context.multiply(product, context.subtract(Decimal(1), error))
    high = context.multiply(product, context.add(Decimal(1), error))
    return int(low), int(high) + 1
