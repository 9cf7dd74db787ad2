"""Writes `slow.txt`, the tests that `make check` leaves out: those that take longer than others. For `make times`."""

from collections import defaultdict
from pathlib import Path

SLOW = Path(__file__).with_name("slow.txt")
LIMIT = 0.15
"""How many seconds a case takes, on average over its test, before the test is slow."""
taken: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))


def slow() -> set[str]:
    """Return the names of tests that were slow."""
    return set(SLOW.read_text().split())


def pytest_runtest_logreport(report):
    taken[report.nodeid.split("[")[0]][report.nodeid] += report.duration


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):  # the processes of a run report to the first one
        found = [name for name, cases in taken.items() if sum(cases.values()) > LIMIT * len(cases)]
        SLOW.write_text("".join(f"{name}\n" for name in sorted(found) if name.startswith("tests/")))
