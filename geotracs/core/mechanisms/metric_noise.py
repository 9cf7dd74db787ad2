"""Metric privacy in the plane: exact noise on a public lattice, as far as the distance between two locations tells."""

from functools import lru_cache

import numpy as np

from geotracs.core.budget import LARGEST
from geotracs.core.mechanisms.lattice import blocks, take_or_scalar
from geotracs.core.mechanisms.lattice_noise import BITS, FAR, STEPS, LatticeNoise
from geotracs.core.randomness import Source, of_rows
from geotracs.errors import InputError

PARTS = 512
"""Two locations nearer than the radius / `PARTS` count as that far apart: they may be rounded to neighbours."""
MAX_EXTENT = 2.0**30
"""A region may be at most this many times larger than the radius."""
SPAN = 49
"""The region is at most 2**SPAN lattice steps from the origin to its end, so that floats know each step of it."""
ROUNDING = 2
"""Rounding both locations to the lattice adds less than this many steps to their distance.

Each coordinate is off by half a step and, since three floating operations of relative error 2**-53 are made on at most
2**49 steps, by three sixteenths: 2 * sqrt(2) * 11 / 16 is 1.95."""


class MetricNoise:
    """Add noise so that two locations are told apart by a factor of at most exp(eps * distance / radius), exactly.

    For any two locations x and x' that are d apart, and every report y:
    **P(y | x) <= exp(eps * max(d, radius / parts) / radius) * P(y | x')**.

    Locations are rounded to a public lattice of step s, and `LatticeNoise` adds v with a probability in proportion to
    exp(-abs(v) / t), t a power of two. On the lattice the locations are at most d / s + 2 steps apart, so that their
    probabilities differ by a factor of at most exp((d / s + 2) / t). With s = radius / (eps * t - 2 * parts), rounded
    up, the exponent is eps / parts at d = radius / parts and grows by less than eps * d / radius from there. An epsilon
    for which the step would be more than twice radius / (eps * t) gets no location at all: the noise alone is reported.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter for two locations that are ``radius`` apart.
    radius : float
        In the unit of the coordinates.
    extent : float
        No location is farther than this from the origin. One that is counts as one at the end, along each axis.
    origin : (float, float)
        A public point.
    parts : int
        How many times nearer than the radius two locations are told apart less. With 1 every two locations within the
        radius are told apart by at most exp(eps): over a region of that diameter this is eps-LDP.

    Examples
    --------
    >>> noise = MetricNoise(np.log(2), 200.0, extent=50_000.0)
    >>> round(float(noise.expected_error()), 1)
    577.1
    >>> from geotracs.core.randomness import source
    >>> bool((noise.apply(np.zeros((3, 2)), noise.draw(3, source())) != 0).all())
    True
    """

    def __init__(
        self,
        eps: float | np.ndarray,
        radius: float,
        extent: float,
        origin: tuple[float, float] = (0.0, 0.0),
        parts: int = PARTS,
    ) -> None:
        self.origin = origin
        eps = np.asarray(eps, dtype=np.float64)
        if not np.all((eps > 0) & (eps < LARGEST)):
            raise InputError(f"`eps` must be greater than 0 and less than {LARGEST:g}.")
        if not (0 < radius < np.inf and 0 < extent < np.inf and extent <= MAX_EXTENT * radius):
            raise InputError(
                "`radius` and `extent` must be greater than 0 and finite, and `extent` at most 2**30 times the radius."
            )
        exponent = np.frexp(eps * (extent / radius))[1]
        self.bits = BITS - np.clip(exponent + BITS + STEPS.bit_length() - 1 - SPAN, 0, BITS)
        self.step, self._steps_per_unit = _step(eps, radius, self.bits, parts)

    def expected_error(self, x: np.ndarray | None = None) -> float | np.ndarray:
        """Return the mean length of the noise, the same for all: twice its scale; see `LatticeNoise.mean_length`."""
        return (self.step * np.ldexp(2.0 * STEPS, self.bits))[()]

    def density(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the probability density of reporting ``y`` when the secret is ``x``, row by row, for one epsilon.

        That of the point of the lattice next to ``y``, over the area for which it stands.
        """
        away = [np.rint((y[:, axis] - self.origin[axis]) / self.step) - self._lattice(x, axis) for axis in (0, 1)]
        return _noise(int(self.bits)).pmf(np.hypot(*away)) / self.step**2

    def densities(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the density of each of ``y`` for each of ``x``, one row per secret; see `density`."""
        across, up = (
            np.rint((y[:, axis] - self.origin[axis]) / self.step) - self._lattice(x, axis)[:, None] for axis in (0, 1)
        )
        return _noise(int(self.bits)).pmf(np.hypot(across, up)) / self.step**2

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations: vectors of the lattice, one per column."""
        return np.concatenate(
            [np.empty((2, 0), dtype=np.int64), *(self._draw(part, of_rows(rng, part)) for part in blocks(n))], axis=1
        )

    def apply(self, x: np.ndarray, draws: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Turn secrets, an array of shape (n, 2), and draws into reports; nothing here is random."""
        reports = np.empty((2, len(x))).T if out is None else out
        for axis in (0, 1):
            # Whatever is farther than 2**61 steps is reported there; see `LatticeNoise.draw`.
            steps = draws[axis] + self._lattice(x, axis).astype(np.int64)
            np.clip(steps, -FAR // 2, FAR // 2, out=steps)
            reports[:, axis] = steps * self.step + self.origin[axis]
        return reports

    def _lattice(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Return the nearest column or row of the lattice, a public rule that looks at one location at a time."""
        steps = x[:, axis] - self.origin[axis]
        steps *= self._steps_per_unit
        np.clip(steps, -(2.0**SPAN), 2.0**SPAN, out=steps)
        return np.rint(steps, out=steps)

    def _draw(self, part: slice, rng: Source) -> np.ndarray:
        bits, n = take_or_scalar(self.bits, part), part.stop - part.start
        if bits.min() == bits.max():
            return _noise(int(bits.flat[0])).draw(n, rng)
        noise = np.empty((2, n), dtype=np.int64)
        for each in range(bits.min(), bits.max() + 1):
            rows = np.flatnonzero(bits == each)
            own = _noise(each).draw(len(rows), of_rows(rng, rows))
            for axis in (0, 1):
                noise[axis][rows] = own[axis]
        return noise


def _step(eps: np.ndarray, radius: float, bits: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lattice step, rounded up, and how many of them a unit of distance is; 0 if that would be too few."""
    slack = float(ROUNDING * parts)
    room = np.nextafter(np.ldexp(eps * STEPS, bits) - slack, 0)
    enough = room >= slack
    step = np.nextafter(radius / np.where(enough, room, slack), np.inf)
    return step, np.where(enough, 1 / step, 0.0)


@lru_cache(maxsize=BITS + 1)
def _noise(bits: int) -> LatticeNoise:
    return LatticeNoise(STEPS, bits)
