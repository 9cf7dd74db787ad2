"""Figures of the paper that need no draw: they are computed from the mechanisms themselves."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import geotracs.core.methods as methods
import geotracs.core.randomness as randomness
from geotracs.core.budget import split
from geotracs.core.domains import Disc
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.experiments.setups import EPSILONS, UNIT_SQUARE, stream, with_published

TURN = 2 * math.pi
SECTORS = (3, 6, 12)


def direction_error(
    *, ks: Sequence[int] = SECTORS, draws: int = 200_000, published: str | Path | None = None
) -> pd.DataFrame:
    """Return the mean error of a direction in radians: TraCS-D, and k-RR over sectors and uniform inside (Figure 6).

    ``ours`` is exact. The column ``as_published`` is what the published measure makes of the published mechanisms, by
    drawing: it takes ``abs(2 pi - a - b)`` for the way around the circle instead of ``2 pi - abs(a - b)``, and its k-RR
    leaves the true sector with probability ``1 / (k - 1 + exp(eps))``, for one of k others where there are k - 1.
    """
    rows: list[dict[str, Any]] = []
    for label, k in [("tracs-d", None), *((f"strawman k={k}", k) for k in ks)]:
        for epsilon in EPSILONS:
            rng = stream("direction", label, epsilon)
            explained = _as_published(epsilon, k, draws, rng)
            ours = (
                TURN * float(Piecewise(epsilon, periodic=True).expected_error()) if k is None else _sector(epsilon, k)
            )
            rows.append({"experiment": "continuous-experiment_2", "space": "circle", "method": label})
            rows[-1] |= {"epsilon": epsilon, "ours": ours, "se": 0.0, "as_published": explained.mean()}
            rows[-1] |= {"published_se": explained.std() / math.sqrt(10_000)}
    frame = pd.DataFrame(rows)
    return with_published(frame, "continuous-experiment_2", published).assign(as_published=frame["as_published"])


def spent(epsilon: float, k: int) -> float:
    """Return the epsilon that the published k-RR really spends when it is given this one.

    Examples
    --------
    >>> round(spent(2, 6), 2)
    4.22
    """
    return math.log(k * (k - 2 + math.exp(epsilon)))


def sectors(*, ks: Sequence[int] = (6, 12), steps: int = 20) -> pd.DataFrame:
    """Return size and probability of the dominant sector of TraCS-D and the strawman (the paper's appendix).

    ``size`` is a part of the circle.
    """
    rows = []
    for epsilon in np.linspace(10 / steps, 10, steps).tolist():
        direction = Piecewise(epsilon, periodic=True)
        rows.append({"method": "tracs-d", "epsilon": epsilon, "size": direction.window / direction.cells})
        rows[-1] |= {"probability": direction.threshold / WORDS}
        for k in ks:
            rows.append({"method": f"strawman k={k}", "epsilon": epsilon, "size": 1 / k})
            rows[-1] |= {"probability": RandomizedResponse(epsilon, k).threshold / WORDS}
    return pd.DataFrame(rows).assign(experiment="sectors", space="circle")


def circular_area() -> pd.DataFrame:
    """Return the dominant area of TraCS-D on a disc for the direction pi and half the radius, at epsilon 5."""
    eps_direction, eps_distance = split(5.0, math.pi / (math.pi + 1))
    direction = Piecewise(eps_direction, periodic=True).interval(0.5)
    distance = Piecewise(eps_distance).interval(0.5)
    ours = [*(2 * np.array(direction)).tolist(), *np.array(distance).tolist()]
    names = ["direction / pi, from", "direction / pi, to", "distance, from", "distance, to"]
    frame = pd.DataFrame({"quantity": names, "published": [0.87, 1.13, 0.32, 0.67], "ours": ours})
    return frame.assign(experiment="circular-area", space="disc", method="tracs-d", epsilon=5.0)


def circular_samples(n: int = 50) -> np.ndarray:
    """Return reports of TraCS-D on the unit disc for the place in direction pi at half the radius, at epsilon 5."""
    xy = np.asfortranarray(np.tile([-0.5, 0.0], (n, 1)))
    channel = methods.make("tracs-d").on(Disc((0, 0), 1))
    return channel.sample(xy, np.array([0, n]), 5.0, stream("circular-area")).xy


def exponential_arrangement(*, epsilon: float = 4.0, sides: Sequence[int] = (4, 11)) -> pd.DataFrame:
    """Return what the exponential mechanism makes of a corner when the places of a square are more (the appendix).

    In its textbook form, which the paper has, and calibrated.
    """
    rows = []
    for calibration, side in itertools.product(("textbook", "exact"), sides):
        method = methods.Exponential(calibration)
        steps = np.linspace(0, 1, side)
        places = np.array(np.meshgrid(steps, steps)).reshape(2, -1).T
        pmf = method.pmf_of_one(0, None, epsilon, method.prepare(places, epsilon, UNIT_SQUARE))
        label = "exponential" if calibration == "textbook" else "exponential calibrated"
        rows.append({"space": f"{side} x {side}", "method": label, "own_place": pmf[0]})
        rows[-1]["mean_error"] = pmf @ np.hypot(*places.T)
    return pd.DataFrame(rows).assign(experiment="exponential-arrangement", epsilon=epsilon)


def _direction(epsilon: float) -> float:
    return TURN * float(Piecewise(epsilon, periodic=True).expected_error())


def _sector(epsilon: float, k: int) -> float:
    """Return the mean error of k-RR over sectors and uniform inside.

    Two directions of one sector are a third of it apart on average; any two are a quarter of the circle apart.
    """
    truth = float(RandomizedResponse(epsilon, k).threshold / WORDS)
    same = TURN / k / 3
    other = (k * TURN / 4 - same) / (k - 1)
    return truth * same + (1 - truth) * other


def _as_published(epsilon: float, k: int | None, draws: int, rng: randomness.Source) -> np.ndarray:
    """Return errors as the published script draws and measures them."""
    secret, inside, flip, sector = randomness.words(rng, 4 * draws, np.uint64).reshape(4, draws) / 2.0**64
    if k is None:
        direction = Piecewise(epsilon, periodic=True)
        report = direction.apply(secret, direction.draw(draws, rng))
    else:
        own = np.floor(secret * k)
        others = (own + 1 + np.floor(sector * k)) % (k + 1)
        flipped = flip < 1 / (k - 1 + math.exp(epsilon))
        report = (np.where(flipped, others, own) + inside) / k
    return TURN * np.minimum(np.abs(secret - report), np.abs(1 - secret - report))
