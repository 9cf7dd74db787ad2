"""Exceptions and warnings.

No message ever holds a private coordinate: counts and row labels only.
"""

import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).parent)


class GeotracsError(Exception):
    """Base class of everything geotracs raises on purpose."""


class InputError(GeotracsError, ValueError):
    """A parameter or a frame cannot be used as it is; the message names the fix."""


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
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
