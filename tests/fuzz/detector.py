"""Private numbers and labels in what a run says: output, errors with their chains, warnings, logs, names of files."""

import re
from collections.abc import Iterator
from typing import Any

from tests.fuzz.private import FRAGMENTS, Private

NUMBER = re.compile(r"\d+\.\d+(?:[eE][+-]?\d+)?")
WHOLE = re.compile(r"\d{8,}")
SCALES = (10**6, 10**7)
FEW, MANY = 5, 7
"""Significant digits that count as a private number; more where a table of other numbers is shown."""


class Detector:
    """Knows the private values of a run."""

    def __init__(self, private: Private) -> None:
        values = private.xy.ravel()
        self._digits = {n: {text for value in values for text in _forms(value, n)} for n in (FEW, MANY)}
        self._whole = {
            str(whole(value * scale))[:MANY] for value in values for scale in SCALES for whole in (int, round)
        }

    def found(self, text: str, *, digits: int = FEW) -> list[str]:
        """Return what of a text is private."""
        text = text.replace("\0", "").replace("\\x00", "")  # other encodings
        hits = [fragment for fragment in FRAGMENTS if fragment in text]
        for token in NUMBER.findall(text):
            mantissa = re.split("[eE]", token)[0].replace(".", "").lstrip("0")
            if len(mantissa) >= digits and self._digits[digits].intersection(_forms(float(token), digits)):
                hits.append(token)
        return hits + [token for token in WHOLE.findall(text) if token[:MANY] in self._whole]


def texts_of(error: BaseException | None) -> Iterator[tuple[str, str]]:
    """Return where in an error and its whole chain a text is, and the text; also what `from None` only hides."""
    waiting, seen = [("error", error)], set()
    while waiting:
        where, error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        yield where, f"{type(error).__name__}: {_safe(str, error)} {_safe(repr, error.args)}"
        yield where, " ".join(getattr(error, "__notes__", []))
        waiting += [(where, inner) for inner in getattr(error, "exceptions", [])]
        hidden = "suppressed context" if error.__suppress_context__ else "context"
        waiting += [(hidden, error.__context__), ("cause", error.__cause__)]


def _safe(show: Any, thing: Any) -> str:
    try:
        return show(thing)
    except Exception as error:
        return type(error).__name__


def _forms(value: float, digits: int) -> set[str]:
    """Return the first significant digits of a number, cut off and rounded, with the place of its point."""
    if value == 0 or value != value or abs(value) > 1e15:
        return set()
    return {f"{value:.{digits - 1}e}", _cut(value, digits)}


def _cut(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.12e}".split("e")
    return f"{mantissa[: digits + 1]}e{exponent}"
