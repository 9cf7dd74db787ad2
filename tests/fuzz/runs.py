"""One run: a private frame, a damaged file of it, a command that reads it, and what shows of it."""

import contextlib
import ctypes
import logging
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
import shapely

import geotracs
from geotracs import cli
from geotracs.errors import GeotracsError
from geotracs.trust import scan
from tests.fuzz import commands, formats, private
from tests.fuzz.damage import damage
from tests.fuzz.detector import FEW, MANY, Detector, texts_of

BY_PROCESS = 100
"""Of so many runs of commands one is made as a user does, in a process of its own."""
MEMORY = 2**33
"""How many bytes a process may take; a file of fifty rows that needs more is as bad as one that hangs."""
SECONDS = 60
"""A run that takes longer, on a machine that has nothing else to do, hangs."""


def patience() -> float:
    """Return how long a run may take now."""
    return SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass
class Outcome:
    """What became of a run."""

    number: int
    kind: str = ""
    command: str = ""
    damages: list[str] = field(default_factory=list)
    succeeded: bool = False
    leaks: list[str] = field(default_factory=list)
    foreign: str = ""
    said: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether it must not be."""
        return bool(self.leaks or self.foreign)


def run(seed: int, number: int, *, details: bool = False) -> Outcome:
    """Make one run; the same again for the same seed and number."""
    rng = np.random.default_rng([seed, number])
    outcome = Outcome(number)
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = _case(rng, Path(folder), outcome)
        call = commands.call(case)
        outcome.command = call.name
        before = set(case.path.parent.rglob("*"))
        said, error = _by_process(call) if call.arguments and number % BY_PROCESS == 7 else _in_process(call)
        outcome.succeeded = error is None
        outcome.foreign = _foreign(error)
        detector = Detector(case.private)
        outcome.leaks = sorted(_leaks(detector, said, error, call))
        outcome.leaks += sorted(_left(detector, case, before, call, succeeded=outcome.succeeded))
        if details:
            chain = "".join(traceback.format_exception(error)) if error else ""
            outcome.said = f"{call.arguments or ''}\n{said}\n{chain}".replace(folder, "")
    return outcome


def _case(rng: np.random.Generator, folder: Path, outcome: Outcome) -> commands.Case:
    kinds = [*formats.KINDS] * 3 + [*formats.LOADED] * 2
    outcome.kind = kinds[int(rng.integers(len(kinds)))]
    lines = outcome.kind in formats.WITH_LINES and rng.random() < 0.25
    for name in ("in", "other", "whole", "out"):
        (folder / name).mkdir()
    secrets = private.make(rng, lines=lines)
    path = formats.write(outcome.kind, secrets, folder / "in")
    other = formats.write(outcome.kind, private.make(rng, lines=lines), folder / "other")
    whole = folder / "whole" / "reports.parquet"
    xy = rng.uniform(private.DOMAIN[:2], private.DOMAIN[2:], secrets.xy.shape)
    formats.shifted(secrets.frame[["person", "t", "geometry"]], xy).to_parquet(whole)
    for _ in range(int(rng.choice([0, 1, 1, 1, 1, 1, 1, 1, 2, 3]))):
        path, what = damage(path, secrets, other, rng) if path.exists() else (path, "lost")
        outcome.damages.append(what)
    return commands.Case(outcome.kind, path, whole, folder / "out", secrets, rng)


def _in_process(call: commands.Call) -> tuple[dict[str, str], BaseException | None]:
    """Return what was said, and the error that a caller or the command line gets."""
    said: dict[str, str] = {}
    error = None
    with _captured(said):
        try:
            if call.arguments is None:
                call.function()
            else:
                cli.main(call.arguments)
        except SystemExit as stop:
            error = stop.__context__ if stop.code else None
            if stop.code and error is None:
                error = RuntimeError(f"exit code {stop.code} without an error")
        except BaseException as raised:
            error = raised
    return said, error


def _by_process(call: commands.Call) -> tuple[dict[str, str], BaseException | None]:
    command = [sys.executable, "-m", "geotracs", *call.arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=patience())
    said = {"stdout": done.stdout, "stderr": done.stderr}
    if done.returncode == 0:
        return said, None
    if done.returncode == 2 and "Traceback" not in done.stderr:
        return said, GeotracsError()
    return said, RuntimeError(f"exit code {done.returncode} of a process")


@contextlib.contextmanager
def _captured(said: dict[str, str]) -> Iterator[None]:
    """Keep what is written to standard output and error, also by C libraries, and warnings and logs."""
    handler = _Records()
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with (
            _to_file(1, said, "stdout"),
            _to_file(2, said, "stderr"),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    said["warnings"] = "\n".join(f"{w.category.__name__}: {w.message} {w.message.args}" for w in caught)
    said["logs"] = "\n".join(handler.lines)


@contextlib.contextmanager
def _to_file(descriptor: int, said: dict[str, str], name: str) -> Iterator[None]:
    """Send a stream of Python's and of C's to a file."""
    before, kept = getattr(sys, name), os.dup(descriptor)
    before.flush()
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), descriptor)
        try:
            with os.fdopen(os.dup(descriptor), "w") as stream:
                setattr(sys, name, stream)
                yield
        finally:
            setattr(sys, name, before)
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, descriptor)
            os.close(kept)
            file.seek(0)
            said[name] = file.read().decode("utf-8", errors="replace")


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()} {record.exc_info or ''}")


def _foreign(error: BaseException | None) -> str:
    """Return what an error is that geotracs did not raise on purpose."""
    meant = isinstance(error, (GeotracsError, click.ClickException)) and not isinstance(error, click.UsageError)
    if error is None or (meant and "not enough memory" not in str(error)):  # wrong usage is a mistake of the fuzzer
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "geotracs" in Path(frame.filename).parts] or frames
    where = f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{where}: {error}"


def _leaks(detector: Detector, said: dict[str, str], error: BaseException | None, call: commands.Call) -> set[str]:
    """Return where something private was said."""
    found = set()
    for place, text in [*said.items(), *texts_of(error)]:
        for line in text.splitlines():
            digits = MANY if call.tables and place == "stdout" else FEW
            if hits := detector.found(line, digits=digits):
                found.add(f"{place}: {', '.join(hits[:3])} in {line[:200]!r}")
    return found


def _left(
    detector: Detector, case: commands.Case, before: set[Path], call: commands.Call, *, succeeded: bool
) -> set[str]:
    """Return what private things the files that were left hold."""
    new = [path for path in case.path.parent.rglob("*") if path not in before and path.is_file()]
    left = [path for path in case.out.rglob("*") if path.is_file()]
    found = {f"name of a file: {path.name}" for path in [*new, *left] if detector.found(path.name)}
    for path in new:
        found |= {f"beside IN: {path.name} holds {hit}" for hit in detector.found(path.read_text(errors="replace"))[:3]}
    if left and not succeeded:
        found.add(f"left after an error: {', '.join(path.name for path in left)}")
    if not call.released or not left or not succeeded:
        return found
    labels = [part for part in private.FRAGMENTS for path in left if part.encode() in path.read_bytes()]
    found |= {f"label in OUT: {label}" for label in labels}
    released = _released(case.out)
    if scan.same_locations(case.private.xy, released):
        found.add("OUT has original locations")
    hits = scan.originals_in(case.out, case.private.xy, released)
    return found | {f"{hit.path.name} holds row {hit.row} as {hit.form}" for hit in hits}


def _released(folder: Path) -> np.ndarray:
    """Return the locations of a release."""
    [path] = [p for p in folder.iterdir() if p.name.partition(".")[2] in commands.RELEASES]
    try:
        return shapely.get_coordinates(geotracs.files.read(path, crs="EPSG:4326").geometry.array)
    except GeotracsError:
        return np.empty((0, 2))  # such as a layer without rows
