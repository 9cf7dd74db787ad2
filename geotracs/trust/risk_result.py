"""The result of attacks on a release: a table, a sentence, and whether it was made from private data."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from geotracs.errors import InputError, quoted
from geotracs.trust.risk_found import LEVEL, METRES, QUANTILES, Found
from geotracs.views.plots.risks import attacks as draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONFIDENTIAL = "Computed from original locations: keep confidential."
PUBLIC = "Of made-up people on the public region; no private location was looked at."
NAMES = {
    "report": "one report, taken as it is",
    "averaging": "averaging: the median of the 101 reports around it",
    "stay, median": "averaging a stay: the median of its reports",
    "stay, posterior": "averaging a stay: where all reports may come from",
    "tracking": "tracking with a model of motion",
    "home": "home, by the nights",
    "work": "place of work, by the days",
    "two releases": "linkage of two releases",
    "known points": "linkage with {known} known points",
    "within, report": "guess within {within:,.0f} m, by one report",
    "within, tracking": "guess within {within:,.0f} m, by tracking",
}
"""The attacks by their names, and in words."""


@dataclass(frozen=True, eq=False, repr=False)
class Risk:
    """What attacks on a release find, each beside its baseline: what can be guessed without the release.

    ``risk["tracking"]`` is the figure of one attack, ``print(risk)`` shows all, `table` is a frame, `to_dict` has plain
    values, and `plot` draws them.

    - "report": how far a report is from the truth. No attack, but what the others are compared with.
    - "averaging": the median of the 101 reports around a location.
    - "stay, median" and "stay, posterior": where somebody stayed, by the median of 10 or more reports within 100 m,
      and by the posterior for the known channel, which is much better: it lies where all windows overlap.
    - "tracking": `geotracs.reconstruct`, with a public model of motion.
    - "home" and "work": where somebody is at night and by day, by the posterior. Of times that are dates.
    - "two releases": how often a person of the first half of a release is found in the second one, by places alone.
    - "known points": how often the track of a person is found by some places and times that somebody knows.
    - "within, report" and "within, tracking": how often a guess is near.

    Baselines of errors are those of the best guess that is the same for everybody: the geometric median of the truth.
    Those of linkage are one in the number of people, and those of being near the share of the best circle.

    Attributes
    ----------
    found : tuple of Found
    setting : dict
        What was attacked: method, epsilon, number of people, ...
    private : bool
        Whether it was computed from original locations, which the guarantee does not cover.
    """

    found: tuple[Found, ...]
    setting: dict[str, Any]
    private: bool

    @classmethod
    def of(cls, found: Iterable[Found], setting: dict[str, Any], *, private: bool) -> "Risk":
        """Return the result of some attacks."""
        return cls(tuple(found), setting, private)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each attack: a mean with its interval, the median, the baseline, and quantiles of people."""
        rows = [
            {
                "attack": one.attack,
                "measure": one.measure,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "typical": one.typical,
                "baseline": one.baseline,
                **{f"p{100 * share:.0f}": value for share, value in zip(QUANTILES, one.quantiles, strict=True)},
                "people": one.people,
            }
            for one in self.found
        ]
        frame = pd.DataFrame(rows).set_index("attack")
        frame.attrs = {"release": self.setting.get("release", ""), "private": self.private, "note": self.note}
        return frame

    @property
    def note(self) -> str:
        """What the figures were computed from."""
        return CONFIDENTIAL if self.private else PUBLIC

    @property
    def words(self) -> str:
        """The most important figures in a sentence."""
        return (
            f"A report is {self['report']:,.0f} m off on average; whoever follows a person finds them to "
            f"{self['tracking']:,.0f} m; a guess without the release is {self._one('report').baseline:,.0f} m off."
        )

    def __getitem__(self, attack: str) -> float:
        return self._one(attack).value

    def _one(self, attack: str) -> Found:
        for one in self.found:
            if one.attack == attack:
                return one
        known = [one.attack for one in self.found]
        raise InputError(f"There is no attack {quoted(attack)} here; there are {known}.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        rows = [
            {str(name): value for name, value in row.items()} for row in self.table.reset_index().to_dict("records")
        ]
        return {"private": self.private, "note": self.note, **self.setting, "words": self.words, "attacks": rows}

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw what each attack finds beside its baseline; see `geotracs.plots.attacks`."""
        return draw(self.table.assign(words=[self.in_words(one) for one in self.found]), ax=ax)

    def __repr__(self) -> str:
        lines = [f"Risk of {self.setting.get('release', 'a release')}, {self.setting.get('people', 0):,} people"]
        lines.append(f"{'':<52}{'found':>10}  {f'{LEVEL:.0%} interval':>18}  {'without release':>15}")
        for one in self.found:
            interval = f"{_short(one, one.low)} to {_short(one, one.high)}"
            lines.append(
                f"{self.in_words(one):<52}{_short(one, one.value, unit=True):>10}  {interval:>18}  "
                f"{_short(one, one.baseline, unit=True):>15}"
            )
        return "\n".join([*lines, self.words, self.note])

    def in_words(self, one: Found) -> str:
        """Return what an attack does, in few words."""
        return NAMES[one.attack].format(**{"known": 4, "within": 550.0, **self.setting})


def _short(one: Found, value: float, *, unit: bool = False) -> str:
    if one.measure == METRES:
        return f"{value:,.0f}{' m' if unit else ''}"
    return f"{value:.0%}" if unit else f"{100 * value:.0f}"
