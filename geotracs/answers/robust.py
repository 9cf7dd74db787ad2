"""Reports that somebody made up: which share of them is reckoned with, and what can be seen of them."""

from typing import Any, cast

import numpy as np
from pandas.arrays import BooleanArray
from scipy.sparse import csr_array

import geotracs.answers.speeds as speeds
from geotracs.answers.bins import Bins, Cells
from geotracs.answers.conspicuous import FALSE_ALARM, conspicuous
from geotracs.answers.intervals import owners
from geotracs.answers.operators import Observed, Operator
from geotracs.answers.reader import Reader
from geotracs.answers.states import CellStates, States
from geotracs.errors import InputError, quoted, warn

USUAL = 0.01
"""The share of malicious reports that is reckoned with unless another one is stated..."""
MAX = 0.5
"""...and less than this: if most are malicious, nothing can be said."""
MAX_STATES = 2**14
"""Where a channel is no product of small tables, states are halved only if they are fewer than this."""


def share(robust: Any) -> float:
    """Return the share of reports that may be malicious.

    >>> share(False), share(True), share(0.05)
    (0.0, 0.01, 0.05)
    """
    if isinstance(robust, (bool, np.bool_)):
        return USUAL if robust else 0.0
    if not isinstance(robust, (int, float, np.number)) or not 0 <= robust < MAX:
        raise InputError(
            f"`robust` must be True, False or the share of malicious reports, from 0 to {MAX}, got {quoted(robust)}."
        )
    return float(robust)


def flags(reader: Reader, states: States, observed: list[Observed], zones: csr_array) -> BooleanArray:
    """Return which zones have reports that no density can explain; missing where a method looks back.

    Warns if there are any.
    """
    if reader.channel.method.sequential:
        return BooleanArray(np.zeros(zones.shape[0], dtype=bool), np.ones(zones.shape[0], dtype=bool))
    bins = reader.bins(states)
    xy = _middles(reader, bins)
    found = conspicuous(observed, _finer(reader, states, bins, observed), xy)
    owner = owners(zones)[states.label(xy)]
    counted = np.array([seen.counts > 0 for seen in observed]) & found.bins
    bad = np.unique(owner[counted.any(axis=0) & (owner >= 0)])
    if found.boxes:
        warn(
            f"There are more reports in {found.boxes} place(s) than any density explains; honest reports have such a "
            f"place in at most {FALSE_ALARM:.0%} of releases. Somebody may have made reports up, or another channel "
            "was used: see the column `suspicious`."
        )
    return BooleanArray(np.isin(np.arange(zones.shape[0]), bad), np.zeros(zones.shape[0], dtype=bool))


def too_fast(reader: Reader, speed: Any) -> dict[str, Any]:
    """Return how many pairs of successive reports are too far apart for this speed; warn if there are any."""
    speeds.check(speed)
    found = speeds.impossible(reader, float(speed)) | {"speed": float(speed), "false_alarm": speeds.FALSE_ALARM}
    if found["impossible"]:
        warn(
            f"{found['far']:,} of {found['pairs']:,} pairs of successive reports are farther apart than people of "
            f"{speed:g} m/s and the noise of the channel explain in {found['honest']:,.0f} cases. At least "
            f"{found['impossible']:,} pairs look impossible. Any single one is possible, so nobody can tell which."
        )
    return found


def _middles(reader: Reader, bins: Bins) -> np.ndarray:
    if isinstance(bins, Cells):
        return bins.xy
    return cast(Any, reader.channel.release.places).sample(bins.count)


def _finer(reader: Reader, states: States, bins: Bins, observed: list[Observed]) -> list[Operator]:
    """Return the channels over states half as wide, if these are not too many."""
    own = [seen.operator for seen in observed]
    if not isinstance(states, CellStates):
        return own
    product = reader.channel.factors(float(reader.levels[-1])) is not None
    if not product and 4 * states.count > MAX_STATES:
        return own
    return reader.operators(CellStates(states.domain, (2 * states.shape[0], 2 * states.shape[1])), bins)
