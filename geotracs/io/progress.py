"""Progress bars."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


@contextmanager
def bar(
    total: int | None, progress: bool | None, unit: str, what: str = "Perturbing"
) -> Iterator[Callable[[int], Any]]:
    """Show a progress bar, and yield what to call with the number of units done; None shows it to a person only."""
    if not (_interactive() if progress is None else progress):
        yield lambda _: None
        return
    from tqdm.auto import tqdm  # here, because it complains at import in a notebook without widgets

    with tqdm(total=total, unit=unit, unit_scale=True, desc=what) as shown:
        yield shown.update


def _interactive() -> bool:
    """Return whether this is a terminal, or a notebook that can draw the bar."""
    return sys.stderr.isatty() or ("ipykernel" in sys.modules and find_spec("ipywidgets") is not None)
