"""A published baseline that is not LDP, to show where its figures come from; nothing here can perturb anything."""

import math

import numpy as np
import pandas as pd

from geotracs.experiments.setups import EPSILONS, Setup

LABEL = "ngram as published, not LDP"
REACH = 0.75 * math.sqrt(2)
"""The published reach in the unit square: three quarters of its diagonal."""
AT_ONCE = 200


def ngram_as_published(experiment: str, setup: Setup) -> pd.DataFrame:
    """Return the exact mean error of the published NGram: candidates within reach of the *secret*.

    What can be reported depends on the secret, and so does the sensitivity by which its scores are divided; no epsilon
    bounds what that tells.
    """
    places, secret = np.unique(setup.public.nearest(setup.xy), return_inverse=True)
    parts = [_mean_errors(setup, places[first : first + AT_ONCE]) for first in range(0, len(places), AT_ONCE)]
    rows = []
    for epsilon, errors in zip(EPSILONS, np.concatenate(parts, axis=1), strict=True):
        rows.append({"experiment": experiment, "space": setup.space, "method": LABEL, "epsilon": epsilon})
        rows[-1] |= {"ours": setup.by_track(errors[secret]).mean(), "se": 0.0, "published_se": np.nan}
    return pd.DataFrame(rows)


def _mean_errors(setup: Setup, secrets: np.ndarray) -> np.ndarray:
    """Return the mean error of each secret place, a row for each epsilon."""
    xy = setup.public.xy
    x, y = (xy[secrets, axis, None] - xy[:, axis] for axis in (0, 1))
    away, error = np.hypot(x, y), np.hypot(x * setup.scale[0], y * setup.scale[1])
    reached = away <= REACH
    score = away / (2 * np.where(reached, away, 0).max(axis=1, keepdims=True))
    rows = []
    for epsilon in EPSILONS:
        weights = np.exp(-epsilon * score) * reached
        rows.append((weights * error).sum(axis=1) / weights.sum(axis=1))
    return np.array(rows)
