"""What an audit found: checks, one a row, and what they amount to."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from geotracs.core.notions import Metric

NOT_A_PROOF = (
    "A pass is no proof: it says that these checks, with these draws and these locations, found nothing. It says "
    "nothing of columns that are kept, of how many reports one person gives, or of what else is known of them."
)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    kind : str
        "exact", "draws", "control" or "file".
    what : str
        What was compared, in words.
    passed : bool or None
        False says that the promise is broken; of the control, that it was not found. None: it could not be done.
    found, allowed : float or None
        The epsilon that was found, and the one that is promised of the same locations. What was found is exact, or a
        lower bound.
    tried : str
        How much was looked at.
    """

    kind: str
    what: str
    passed: bool | None
    found: float | None = None
    allowed: float | None = None
    tried: str = ""

    @property
    def result(self) -> str:
        """A word for the table."""
        if self.passed is None:
            return "not done"
        if self.kind == "control":
            return "found" if self.passed else "not found"
        return "nothing found" if self.passed else "VIOLATION"


@dataclass(frozen=True, repr=False)
class Audit:
    """The result of `geotracs.audit`.

    Attributes
    ----------
    subject : str
        The name of the method, or of the callable.
    epsilon : float
        What is promised.
    privacy : dict
        The kind of privacy that is promised; see `geotracs.core.notions`.
    checks : tuple of Check
        All that was looked at.
    alarm : float
        How likely the whole audit finds a violation where there is none, at most.
    control : float
        The control is a mechanism that spends this many times epsilon, and has to be found.
    used : float or None
        The largest epsilon that the exact density of the method showed, as a part of what is promised; None where it
        has no density.
    lower_bound : float or None
        The part of what is promised that the draws proved to be spent; None where nothing was drawn.
    """

    subject: str
    epsilon: float
    privacy: dict[str, Any]
    checks: tuple[Check, ...]
    alarm: float
    control: float
    used: float | None = None
    lower_bound: float | None = None

    @property
    def violations(self) -> tuple[Check, ...]:
        """The checks that found the promise broken."""
        return tuple(check for check in self.checks if check.passed is False and check.kind != "control")

    @property
    def passed(self) -> bool:
        """Whether no check found a violation."""
        return not self.violations

    @property
    def conclusive(self) -> bool:
        """Whether something was checked, and a control that breaks the promise was found by the same draws."""
        controls = [check.passed for check in self.checks if check.kind == "control"]
        if not controls and any(check.kind == "draws" for check in self.checks):
            return False
        return any(check.passed is not None for check in self.checks) and all(controls)

    @property
    def verdict(self) -> str:
        """What the checks amount to, in words."""
        if not self.passed:
            names = " and ".join(dict.fromkeys(check.kind for check in self.violations))
            return f"violation found ({names})"
        if not any(check.passed is not None for check in self.checks if check.kind != "control"):
            return "nothing was checked"
        if not self.conclusive:
            return (
                f"no violation found, but no control with {self.control:g} times epsilon was found either: take more "
                "`draws`"
            )
        return "no violation found"

    @property
    def table(self) -> pd.DataFrame:
        """The checks, one a row."""
        rows = [(c.kind, c.what, c.found, c.allowed, c.tried, c.result) for c in self.checks]
        return pd.DataFrame(rows, columns=["check", "what", "found", "allowed", "tried", "result"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; what is infinite becomes None."""
        checks = [
            {
                "check": c.kind,
                "what": c.what,
                "found": _plain(c.found),
                "allowed": _plain(c.allowed),
                "tried": c.tried,
                "result": c.result,
            }
            for c in self.checks
        ]
        return {
            "subject": self.subject,
            "epsilon": self.epsilon,
            "privacy": self.privacy,
            "verdict": self.verdict,
            "passed": self.passed,
            "conclusive": self.conclusive,
            "false_alarm": self.alarm,
            "control": self.control,
            "used": _plain(self.used),
            "lower_bound": _plain(self.lower_bound),
            "checks": checks,
            "remark": NOT_A_PROOF,
        }

    def __repr__(self) -> str:
        """Return the verdict, the checks and what they do not say, as text."""
        lines = [f"Audit of {self.subject} at epsilon {self.epsilon:g}: {self.verdict}.", self._promise()]
        shown = [
            (c.kind, c.result, "" if c.found is None else _spent(c), f"{c.what} ({c.tried})" if c.tried else c.what)
            for c in self.checks
        ]
        widths = [max((len(row[i]) for row in shown), default=0) for i in range(3)]
        lines += ["  " + "  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]) for row in shown]
        if self.used is not None:
            lines.append(
                f"By its density it uses {_share(self.used)} of what it may, at the locations that were tried."
            )
        if self.lower_bound is not None:
            lines.append(f"The draws prove that it uses at least {_share(self.lower_bound)}.")
        lines.append(f"If all is well, the whole audit raises a false alarm with probability {self.alarm:g}, at most.")
        return "\n".join([*lines, NOT_A_PROOF])

    def _promise(self) -> str:
        metric = Metric.read(self.privacy)
        if metric is None:
            return (
                f"Promised: no report is more than exp({self.epsilon:g}) times likelier from one location than another."
            )
        return (
            f"Promised: metric privacy, exp({self.epsilon:g} * d / {metric.radius:g}) for two locations d metres "
            "apart; this is not local differential privacy over the region."
        )


def _spent(check: Check) -> str:
    if check.found is None or check.allowed is None:
        return ""
    return f"{check.found:.4g} of {check.allowed:.4g}"


def _share(part: float) -> str:
    return f"{100 * part:.1f}%"


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
