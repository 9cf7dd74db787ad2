"""Where locations were, by maximum likelihood: EM over states, stopped before it explains the noise.

EM is the map ``p -> p * A'(counts / Ap) / n``. Run to its end it fits every accident of the draw, so it is stopped:
reports are dealt into folds, EM runs on all folds but one, and the number of iterations is the smallest whose
likelihood of the reports left out is within one nat (a factor of e) of the best.

Many iterations are made as one large step along the flow ``d log p / dt = log(A'(counts / Ap) / n)``, of which EM is
Euler's method with steps of 1. In log p its rates lie between 0 and 1, so that s(s + 1) / 2 iterations cost s of them
(Legendre's super-time-stepping: Meyer, Balsara, Aslam, J. Comput. Phys. 257, 2014), and the way is the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geotracs.answers.operators import Dense, Observed
from geotracs.errors import InputError

FOLDS = 5
NATS = 1.0
"""Differences of log-likelihood up to this one are no evidence: of two estimates the simpler one is taken..."""
SURE = 5.0
"""...but a public prior is left only for what is better by this much, which chance alone does once in exp(5) times."""
MAX_ITERATIONS = 4096
GROWTH = 4
"""Steps are this part of the iterations that are done..."""
STEEPEST = 50.0
"""...and change no share by more than exp(50)."""
WAIT = 32
"""EM ends this many iterations after twice the number that would be chosen: the likelihood left out has fallen."""
MIXING = 1000
"""Iterations for how much the prior and the region as a whole weigh in the start: two numbers only."""


@dataclass(frozen=True, eq=False, repr=False)
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
        done, curve = held_out(observed, base)
        iterations = int(done[chosen(curve)])
        return Estimate(run(observed, base, iterations), iterations)
    if not (np.all(prior >= 0) and 0 < prior.sum() < np.inf):
        raise InputError("`prior` has nothing inside the region.")
    prior = prior / prior.sum()
    weights = _weights(observed, base, prior)
    curves = [held_out(observed, weight * prior + (1 - weight) * base) for weight in weights]
    best = chosen(np.array([curve.max() for _, curve in curves]), SURE)
    start, (done, curve) = weights[best] * prior + (1 - weights[best]) * base, curves[best]
    iterations = int(done[chosen(curve)]) if curve.max() > curve[0] + SURE else 0
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
    *_, last = path(observed, counts, start[:, None], iterations)
    return last.p[:, 0]


class Step(NamedTuple):
    """A density on the way of EM, one column for each of several sets of counts."""

    iterations: int
    p: np.ndarray
    predicted: list[np.ndarray]
    """The probability of each bin, for each `Observed`."""


def path(
    observed: Sequence[Observed], counts: Sequence[np.ndarray], p: np.ndarray, most: int = MAX_ITERATIONS
) -> Iterator[Step]:
    """Yield densities after more and more iterations, up to some number."""
    total = np.maximum(sum(own.sum(axis=0) for own in counts), 1)
    done = 0
    while True:
        step = Step(done, p, [seen.operator.predict(p) for seen in observed])
        yield step
        if done >= most:
            return
        length = min(max(1, done // GROWTH), most - done)
        p, done = _advance(observed, counts, total, step, length), done + length


def _advance(
    observed: Sequence[Observed], counts: Sequence[np.ndarray], total: np.ndarray, step: Step, length: int
) -> np.ndarray:
    """Return the density some iterations later; see the module's docstring."""

    def slope(predicted: Sequence[np.ndarray]) -> np.ndarray:
        ratios = [
            np.divide(own, q, out=np.zeros_like(q), where=q > 0) for own, q in zip(counts, predicted, strict=True)
        ]
        back = sum(seen.operator.adjoint(ratio) for seen, ratio in zip(observed, ratios, strict=True))
        return np.log(np.maximum(back / total, 1e-300))

    def moved(log: np.ndarray) -> np.ndarray:
        p = step.p * np.exp(np.clip(log, -STEEPEST, STEEPEST))
        return p / p.sum(axis=0)

    stages = int(np.ceil((np.sqrt(1 + 8 * length) - 1) / 2))
    part = 2 * length / (stages * (stages + 1))
    before, now = np.zeros_like(step.p), part * slope(step.predicted)
    for stage in range(2, stages + 1):
        p, times = moved(now), (2 * stage - 1) / stage
        further = times * part * slope([seen.operator.predict(p) for seen in observed])
        before, now = now, times * now + (1 - times) * before + further
    return moved(now)


def held_out(observed: Sequence[Observed], start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of iterations, and the log-likelihood of reports that EM was not run on after each.

    Dealing is pseudo-random with a fixed seed: the same reports always give the same estimate.
    """
    rng = np.random.default_rng(0)
    out = [_dealt(seen, rng) for seen in observed]
    used = [own.sum(axis=1, keepdims=True) - own.astype(np.float64) for own in out]
    done, curve = [], []
    for step in path(observed, used, np.repeat(start[:, None], FOLDS, axis=1)):
        done.append(step.iterations)
        curve.append(sum(_log_likelihood(own, q) for own, q in zip(out, step.predicted, strict=True)))
        if step.iterations >= 2 * done[chosen(np.array(curve))] + WAIT:
            break
    return np.array(done), np.array(curve)


def _dealt(seen: Observed, rng: np.random.Generator) -> np.ndarray:
    if seen.folds is not None:
        return seen.folds
    return rng.multinomial(np.asarray(seen.counts, dtype=np.int64), np.full(FOLDS, 1 / FOLDS))


def chosen(curve: np.ndarray, nats: float = NATS) -> int:
    """Return the first entry that is as good as the best, but for some nats.

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
