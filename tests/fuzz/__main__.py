"""Many runs in two processes, or one again; see `tests.fuzz`."""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from multiprocessing.connection import wait

import click

from tests.fuzz import runs

BATCH = 200
"""How many runs a process makes at most before another takes over."""
FORK = multiprocessing.get_context("fork")


def main() -> int:
    """Make runs and show what became of them; return 1 if one leaked or ended in a foreign error."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="how many runs")
    parser.add_argument("--seed", type=int, default=0, help="which runs")
    parser.add_argument("--run", type=int, help="make only this one, and show its details")
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # a few rows are walked faster than a kernel is compiled
    if given.run is not None:
        outcome = runs.run(given.seed, given.run, details=True)
        click.echo(f"{_described(outcome)}\n{outcome.said}")
        return int(outcome.is_bad)
    outcomes = []
    for outcome in made(given.seed, range(given.first, given.first + given.runs), given.processes):
        outcomes.append(outcome)
        if outcome.is_bad:
            click.echo(f"--seed {given.seed} --run {_described(outcome)}\n")
    click.echo(table(outcomes))
    return int(any(outcome.is_bad for outcome in outcomes))


def made(seed: int, numbers: range, processes: int = 2) -> Iterator[runs.Outcome]:
    """Make runs in processes that may crash or hang; what is left of a batch goes to another process then."""
    size = min(BATCH, -(-len(numbers) // processes))
    waiting = [list(numbers[start : start + size]) for start in range(0, len(numbers), size)]
    workers: dict = {}
    while waiting or workers:
        while waiting and len(workers) < processes:
            worker = _Worker(seed, waiting.pop(0))
            workers[worker.connection] = worker
        for connection in wait(list(workers), timeout=1):
            worker = workers[connection]
            outcome = worker.next_outcome()
            if outcome is None:
                workers.pop(connection)
                waiting += worker.stop()
                outcome = worker.crashed()
            if outcome is not None:
                yield outcome
        for connection, worker in list(workers.items()):
            if worker.hangs():
                workers.pop(connection)
                waiting += worker.stop()
                yield runs.Outcome(worker.numbers[0], foreign=f"hangs for more than {runs.SECONDS} s")


class _Worker:
    """A process that makes runs and tells of each when it begins and when it is done."""

    def __init__(self, seed: int, numbers: list[int]) -> None:
        self.numbers, self.since = numbers, time.monotonic()
        self.connection, far = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=_work, args=(far, seed, numbers))
        self.process.start()
        far.close()

    def next_outcome(self) -> runs.Outcome | None:
        """Return the outcome of the run that goes on; None if the process ended."""
        try:
            outcome = self.connection.recv()
        except (EOFError, ConnectionError):
            return None
        self.since = time.monotonic()
        self.numbers = self.numbers[1:]
        return outcome

    def hangs(self) -> bool:
        """Whether a run takes too long."""
        return bool(self.numbers) and time.monotonic() - self.since > runs.patience()

    def crashed(self) -> runs.Outcome | None:
        """Return the run in which the process crashed, if it did."""
        if not self.numbers:
            return None
        return runs.Outcome(self.numbers[0], foreign=f"the interpreter crashed with exit code {self.process.exitcode}")

    def stop(self) -> list[list[int]]:
        """End the process, and return the runs that are left."""
        if self.numbers:
            self.process.kill()
        self.process.join()
        self.connection.close()
        return [self.numbers[1:]] if self.numbers[1:] else []


def _work(connection, seed: int, numbers: list[int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (runs.MEMORY, runs.MEMORY))
    for number in numbers:
        try:
            outcome = runs.run(seed, number)
        except Exception as error:
            outcome = runs.Outcome(number, foreign=f"the fuzzer itself: {error!r}")
        connection.send(outcome)
    connection.close()


def table(outcomes: list[runs.Outcome]) -> str:
    """Return the numbers of runs, leaks, foreign errors, refusals and successes, by kind of file and by command."""
    columns = ("runs", "leaks", "foreign", "refused", "succeeded")
    counts: dict[str, Counter] = defaultdict(Counter)
    for outcome in outcomes:
        for name in (f"file {outcome.kind}", f"run {outcome.command}", "total"):
            counts[name]["runs"] += 1
            counts[name]["leaks"] += bool(outcome.leaks)
            counts[name]["foreign"] += bool(outcome.foreign)
            counts[name]["succeeded" if outcome.succeeded else "refused"] += not outcome.foreign
    rows = [f"{name:<24}" + "".join(f"{counts[name][column]:>11}" for column in columns) for name in sorted(counts)]
    return "\n".join([" " * 24 + "".join(f"{column:>11}" for column in columns), *rows])


def _described(outcome: runs.Outcome) -> str:
    lines = [f"{outcome.number}: {outcome.command} of {outcome.kind}, {', '.join(outcome.damages) or 'not damaged'}"]
    lines += [f"  leak: {leak}" for leak in outcome.leaks]
    lines += [f"  foreign: {outcome.foreign}"] if outcome.foreign else []
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
