"""Exceptions and warnings.

No message ever holds a private coordinate: counts and row labels only.
"""

import functools
import os
import sys
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

PACKAGE = str(Path(__file__).parent)
DEBUG = "GEOTRACS_DEBUG"
"""The environment variable that makes errors show what other libraries said."""

P = ParamSpec("P")
T = TypeVar("T")


class GeotracsError(Exception):
    """Base class of everything geotracs raises on purpose."""


class InputError(GeotracsError, ValueError):
    """A parameter or a frame cannot be used as it is; the message names the fix."""


class BudgetError(InputError):
    """A release would cost somebody more than the ledger allows; nothing was drawn and nobody was charged."""


class DomainError(InputError):
    """The public region cannot be used, or locations lie outside it."""


class CRSError(InputError):
    """A coordinate reference system is missing or does not fit."""


class MissingExtraError(GeotracsError, ImportError):
    """An optional package is needed; the message names the extra to install."""


class GeotracsWarning(UserWarning):
    """Base class of geotracs' warnings: something was left out or changed on the way."""


class PrivacyWarning(GeotracsWarning):
    """The call works, but something beside the guarantee may reveal private information."""


def warn(message: str, category: type[Warning] = GeotracsWarning) -> None:
    """Warn at the first caller outside geotracs, however deep the call went."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def quoted(value: Any) -> str:
    """Return an argument as a message may show it: words and numbers as they are, of anything else only its type.

    A frame or a column that was given by mistake holds private values. Of a number that is not whole three digits are
    shown, for it may be one of them.

    >>> quoted("overlay"), quoted(-3), quoted(139.7654321), quoted([35.6895])
    ("'overlay'", '-3', '140', 'a list')
    """
    if value is None or isinstance(value, (str, Integral)):
        return repr(value)
    if isinstance(value, Real):
        return f"{float(value):.3g}"
    return f"a {type(value).__name__}"


def debugging() -> bool:
    """Return whether errors show what other libraries said, which may quote private data."""
    return os.environ.get(DEBUG, "") not in ("", "0")


def sealed(function: Callable[P, T]) -> Callable[P, T]:
    """Cut what other libraries said off the errors that a function raises on purpose: they quote the data."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except GeotracsError as error:
            if not debugging():
                error.__cause__ = error.__context__ = None
            raise

    return call
