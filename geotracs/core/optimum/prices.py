"""Good prices: the dual solved on few cells, by Newton's method on a logarithmic barrier.

Nothing here has to be right for a bound to be valid; it only makes it tight.
"""

import numpy as np

GAP = 5e-4
"""How far from the optimum the solver stops, as a share of it."""
FASTER = 8.0
"""How much more the mean price counts from one round to the next."""
ROUNDS = 40
"""The most Newton steps of a round."""


def solve(
    distances: np.ndarray,
    weights: np.ndarray,
    odds: float,
    blur: np.ndarray,
    *,
    offset: np.ndarray | float = 0.0,
    start: np.ndarray | None = None,
    gap: float = GAP,
) -> np.ndarray:
    """Return prices with a large mean that meet the constraint of each report.

    Parameters
    ----------
    distances : array of shape (reports, secrets)
    weights : array of shape (secrets,)
        The prior.
    odds : float
        exp(eps) - 1.
    blur : array of shape (secrets,)
        Distances are spread evenly by up to this much, as those from within a cell are.
    offset : array of shape (reports,), optional
        What each constraint is known to be wrong by.
    start : array of shape (secrets,), optional
        Prices that are nearly right.

    Examples
    --------
    >>> solve(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5]), 3.0, np.full(2, 1e-3)).round(2)
    array([0.2, 0.2])
    """
    unit = float((distances @ weights).min())
    unit = unit if unit > 0 else float(distances.max()) or 1.0
    barrier = _Barrier(distances / unit, weights, odds, np.maximum(blur / unit, 1e-9), np.asarray(offset / unit))
    prices = barrier.start(None if start is None else start / unit)
    stress = len(distances) / max(abs(float(weights @ prices)), 1e-9) * (1 if start is None else 30)
    for _ in range(30):
        prices = barrier.centre(prices, stress)
        if len(distances) / stress < gap * abs(float(weights @ prices)):
            break
        stress *= FASTER
    return prices * unit


class _Barrier:
    """Maximise stress * mean price + sum of log(-constraint)."""

    def __init__(
        self, distances: np.ndarray, weights: np.ndarray, odds: float, blur: np.ndarray, offset: np.ndarray
    ) -> None:
        self.distances, self.weights, self.odds, self.blur, self.offset = distances, weights, odds, blur, offset

    def shares(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which share of each cell is in each report's window, and the constraints."""
        gap = prices - self.distances
        share = np.clip((gap + self.blur) / (2 * self.blur), 0, 1)
        plus = np.where(gap > self.blur, gap, self.blur * share * share)
        return share, self.offset + gap @ self.weights + self.odds * (plus @ self.weights)

    def start(self, prices: np.ndarray | None) -> np.ndarray:
        """Return prices, lowered until they meet all constraints with some room to spare; all equal without any."""
        least = float(self.distances.max())
        prices = np.full(len(self.weights), least) if prices is None else prices
        lower = least * 1e-6
        while (self.shares(prices - lower)[1] >= 0).any():
            lower *= 1.5
        return prices - 1.2 * lower

    def centre(self, prices: np.ndarray, stress: float) -> np.ndarray:
        """Go to where this stress is balanced."""
        for _ in range(ROUNDS):
            share, values = self.shares(prices)
            pull = -1 / values
            slopes = (1 + self.odds * share) * self.weights
            gradient = pull @ slopes - stress * self.weights
            slopes *= pull[:, None]
            curvature = slopes.T @ slopes
            edges = pull @ ((share > 0) & (share < 1))
            diagonal = np.einsum("ii->i", curvature)
            diagonal += edges * self.odds / (2 * self.blur) * self.weights + 1e-9 * diagonal.mean()
            step = -np.linalg.solve(curvature, gradient)
            gain = -float(gradient @ step)
            if not gain > 0.1:
                break
            length = self._length(prices, step, values, stress, gain)
            if not length:
                break
            prices = prices + length * step
        return prices

    def _length(self, prices: np.ndarray, step: np.ndarray, values: np.ndarray, stress: float, gain: float) -> float:
        """Return how much of a step to go so that constraints hold and the objective grows; 0 if nothing helps."""
        before, length = np.log(-values).sum(), 1.0
        while length > 1e-8:
            after = self.shares(prices + length * step)[1]
            if (after < 0).all():
                grown = stress * length * float(self.weights @ step) + np.log(-after).sum() - before
                if grown >= 0.1 * length * gain:
                    return length
            length /= 2
        return 0.0
