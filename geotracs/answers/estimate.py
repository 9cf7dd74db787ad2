"""Where locations were, by maximum likelihood: EM over states, stopped before it explains the noise.

EM is the map ``p -> p * A'(counts / Ap) / n``. Run to its end it fits every accident of the draw, so it is stopped:
reports are dealt into folds, EM runs on all folds but one, and the number of iterations is the smallest whose
likelihood of the reports left out is within one nat (a factor of e) of the best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geotracs.answers.operators import Dense, Observed
from geotracs.errors import InputError

FOLDS = 5
NATS = 1.0
"""Differences of log-likelihood up to this one are no evidence: of two estimates the simpler one is taken..."""
SURE = 5.0
"""...but a public prior is left only for what is better by this much, which chance alone does once in exp(5) times."""
MAX_ITERATIONS = 2000
WAIT = 32
"""EM ends this many iterations after twice the number that would be chosen: the likelihood left out has fallen."""
MIXING = 1000
"""Iterations for how much the prior and the region as a whole weigh in the start: two numbers only."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A density over states.

    Attributes
    ----------
    p : array
        The share of locations in each state.
    iterations : int
        How far EM went from where it started.
    weight : float, or None
        How much of the start was the public prior, the rest being spread over the region; None without a prior.
    """

    p: np.ndarray
    iterations: int
    weight: float | None = None


def estimate(observed: Sequence[Observed], base: np.ndarray, prior: np.ndarray | None = None) -> Estimate:
    """Return the density over states that explains reports best, as far as they can tell.

    Parameters
    ----------
    observed : sequence of Observed
        One for each epsilon.
    base : array
        The part of the region in each state: where EM starts without a prior.
    prior : array, optional
        How much of a public prior is in each state. EM starts from it; or from a mixture with ``base``, or ``base``
        alone, if that explains the reports left out better beyond doubt. With reports that say nothing the estimate is
        the prior.

    Examples
    --------
    >>> from geotracs.answers.operators import Dense
    >>> channel = Dense(np.array([[0.8, 0.2], [0.2, 0.8]]))
    >>> found = estimate([Observed(channel, np.array([650, 350]))], np.array([0.5, 0.5]))
    >>> found.p.round(1)
    array([0.7, 0.3])
    """
    base = base / base.sum()
    if prior is None:
        iterations = chosen(held_out(observed, base))
        return Estimate(run(observed, base, iterations), iterations)
    if not (np.all(prior >= 0) and 0 < prior.sum() < np.inf):
        raise InputError("`prior` has nothing inside the region.")
    prior = prior / prior.sum()
    weights = _weights(observed, base, prior)
    curves = [held_out(observed, weight * prior + (1 - weight) * base) for weight in weights]
    best = chosen(np.array([curve.max() for curve in curves]), SURE)
    start, curve = weights[best] * prior + (1 - weights[best]) * base, curves[best]
    iterations = chosen(curve) if curve.max() > curve[0] + SURE else 0
    return Estimate(run(observed, start, iterations), iterations, weights[best])


def run(observed: Sequence[Observed], start: np.ndarray, iterations: int) -> np.ndarray:
    """Return the density after a number of iterations of EM.

    Examples
    --------
    >>> from geotracs.answers.operators import Dense
    >>> channel = Dense(np.array([[0.8, 0.2], [0.2, 0.8]]))
    >>> run([Observed(channel, np.array([650, 350]))], np.array([0.5, 0.5]), 1000).round(3)
    array([0.75, 0.25])
    """
    counts = [seen.counts.astype(np.float64)[:, None] for seen in observed]
    p = start[:, None]
    for number, (density, _) in enumerate(path(observed, counts, p)):
        p = density
        if number == iterations:
            break
    return p[:, 0]


def path(
    observed: Sequence[Observed], counts: Sequence[np.ndarray], p: np.ndarray
) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Yield density after density, and what each predicts; one column for each of several sets of counts."""
    total = np.maximum(sum(own.sum(axis=0) for own in counts), 1)
    while True:
        predicted = [seen.operator.predict(p) for seen in observed]
        yield p, predicted
        ratios = [
            np.divide(own, q, out=np.zeros_like(q), where=q > 0) for own, q in zip(counts, predicted, strict=True)
        ]
        p = p * sum(seen.operator.adjoint(ratio) for seen, ratio in zip(observed, ratios, strict=True)) / total
        p = p / p.sum(axis=0)


def held_out(observed: Sequence[Observed], start: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of reports that EM was not run on, after each number of iterations.

    Dealing is pseudo-random with a fixed seed: the same reports always give the same estimate.
    """
    rng = np.random.default_rng(0)
    out = [rng.multinomial(np.asarray(seen.counts, dtype=np.int64), np.full(FOLDS, 1 / FOLDS)) for seen in observed]
    used = [own.sum(axis=1, keepdims=True) - own.astype(np.float64) for own in out]
    curve = np.empty(MAX_ITERATIONS + 1)
    for number, (_, predicted) in enumerate(path(observed, used, np.repeat(start[:, None], FOLDS, axis=1))):
        curve[number] = sum(_log_likelihood(own, q) for own, q in zip(out, predicted, strict=True))
        if number >= min(2 * chosen(curve[: number + 1]) + WAIT, MAX_ITERATIONS):
            break
    return curve[: number + 1]


def chosen(curve: np.ndarray, nats: float = NATS) -> int:
    """Return the smallest number of iterations that is as good as the best, but for some nats.

    >>> chosen(np.array([-90.0, -72.0, -70.5, -70.1, -71.0]))
    2
    """
    return int(np.argmax(curve >= curve.max() - nats))


def _log_likelihood(counts: np.ndarray, predicted: np.ndarray) -> float:
    seen = counts > 0
    return float((counts[seen] * np.log(np.maximum(predicted[seen], 1e-300))).sum())


def _weights(observed: Sequence[Observed], base: np.ndarray, prior: np.ndarray) -> list[float]:
    """Return how much of the prior starts have, from most to least: all, as much as is most likely, nothing."""
    likely = [
        Observed(Dense(np.column_stack([seen.operator.predict(part) for part in (prior, base)])), seen.counts)
        for seen in observed
    ]
    weight = float(run(likely, np.array([0.9, 0.1]), MIXING)[0])
    return sorted({1.0, weight, 0.0}, reverse=True)
