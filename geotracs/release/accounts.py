"""What a release asks of a ledger."""

from typing import Any, Protocol, runtime_checkable

from geotracs.errors import InputError, quoted


@runtime_checkable
class Accounts(Protocol):
    """What a release asks of a ledger; `geotracs.Ledger` is one."""

    def enter(self, data: str, people: dict[str, int], mark: bytes, bits: bytes | None) -> tuple[int, bytes | None]:
        """Charge these people, in billionths of epsilon, unless this release was charged; see `geotracs.Ledger`."""

    def finish(self, entry: int) -> None:
        """Note that the release of an entry exists."""

    def withdraw(self, entry: int, data: str, people: dict[str, int]) -> None:
        """Give a charge back, because its release failed and left nothing behind."""


def check(ledger: Any, data: Any, person: Any, trajectory: Any, *, repeat: bool = False) -> None:
    """Raise unless a ledger can charge somebody for these arguments of `perturb`; people may be for repeats, too."""
    if ledger is None:
        if data is not None:
            raise InputError("`data` is for a ledger; give it with `ledger`.")
        if person is not None and not repeat:
            raise InputError(
                '`person` is for a ledger, for unit="person" or a period, and for repeat="same"; give it with one of '
                "these."
            )
        return
    if isinstance(ledger, type) or not isinstance(ledger, Accounts):
        raise InputError(f"`ledger` must be a geotracs.Ledger, got {type(ledger).__name__}.")
    if not isinstance(data, str) or not data.strip() or len(data) > 200 or not data.isprintable():
        raise InputError(f'`data` must name the data in the ledger, e.g. data="bus-2026", got {quoted(data)[:200]}.')
    if person is None and trajectory is None:
        raise InputError(
            "`ledger` charges people: say which column tells them apart, with `person`, or with `trajectory`."
        )
