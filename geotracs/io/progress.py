"""Progress: bars for a person, lines for a program that runs geotracs and shows bars of its own."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

_LINES = ContextVar("_LINES", default=False)


@contextmanager
def bar(
    total: int | None, progress: bool | None, unit: str, what: str = "Perturbing"
) -> Iterator[Callable[[int], Any]]:
    """Show a progress bar, and yield what to call with the number of units done; None shows it to a person only.

    Within `lines` it is a line for each percent on standard error.
    """
    if not (_interactive() or wanted() if progress is None else progress):
        yield lambda _: None
    elif wanted():
        yield _Lines(total, what)
    else:
        from tqdm.auto import tqdm  # here, because it complains at import in a notebook without widgets

        with tqdm(total=total, unit=unit, unit_scale=True, desc=what) as shown:
            yield shown.update


@contextmanager
def lines() -> Iterator[None]:
    """Say progress in lines such as ``progress: 45% Perturbing``, for a program that reads them.

    Examples
    --------
    >>> import contextlib, sys
    >>> with contextlib.redirect_stderr(sys.stdout), lines(), bar(4, None, " rows") as advance:
    ...     advance(3)
    ...     advance(1)
    progress: 0% Perturbing
    progress: 75% Perturbing
    progress: 100% Perturbing
    """
    token = _LINES.set(True)
    try:
        yield
    finally:
        _LINES.reset(token)


def wanted() -> bool:
    """Return whether a program waits for lines."""
    return _LINES.get()


def step(what: str) -> None:
    """Say that something begins whose length is not known, to a program that waits for lines."""
    if wanted():
        _say(what)


class _Lines:
    """Says a line whenever another percent is done."""

    def __init__(self, total: int | None, what: str) -> None:
        self._total, self._what, self._done, self._said = total, what, 0, -1
        self(0)

    def __call__(self, units: int) -> None:
        self._done += units
        percent = min(100 * self._done // self._total, 100) if self._total else 0
        if percent > self._said:
            self._said = percent
            _say(f"{percent}% {self._what}" if self._total else self._what)


def _say(text: str) -> None:
    sys.stderr.write(f"progress: {text}\n")
    sys.stderr.flush()


def _interactive() -> bool:
    """Return whether this is a terminal, or a notebook that can draw the bar."""
    return sys.stderr.isatty() or ("ipykernel" in sys.modules and find_spec("ipywidgets") is not None)
