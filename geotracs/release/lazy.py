"""What only some of the ways to a release can do: errors for the others."""

from geotracs.errors import InputError
from geotracs.release.request import Request


def check(request: Request, kind: str) -> None:
    """Raise for arguments that need all rows to be read first."""
    if request.domain is None:
        raise InputError(
            f"`domain` must be given for a {kind} frame: fitting it would need all private locations. Give a public "
            "region, e.g. domain=(xmin, ymin, xmax, ymax)."
        )
    if request.sharing.shares and (request.method == "auto" or request.fit == "best"):
        raise InputError(
            'method="auto" and fit="best" depend on how long trajectories are if they share epsilon, which is not '
            f"known of a {kind} frame; choose a method and a fit, e.g. with geotracs.advise."
        )


def check_every_row(request: Request, instead: str) -> None:
    """Raise for a schedule, which reports some rows only, where all are."""
    if request.schedule is not None:
        raise InputError(f"`every`, `at_most` and `fill` are not there for this call; use {instead}.")
