"""Runs the program geotracs, in a Python of its own, and says in QGIS what it says."""

import json
import os
import queue
import re
import shutil
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from qgis.core import QgsProcessingException

from . import settings
from .words import in_labels, tr

OLDEST = "0.2.0"
"""The first version of geotracs that has what this plugin needs."""
PROGRAM = "GEOTRACS_PROGRAM"
"""Environment variable with the program, where the setting is empty."""
WORKER = Path(__file__).with_name("worker.py")
FOREIGN = ("PYTHON", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_", "GDAL_", "OGR_", "PROJ_", "QT_", "__PYVENV")
"""Beginnings of the names of variables that QGIS sets for itself, and that break another Python."""
INSTALL = (
    "python3 -m venv geotracs-env, then geotracs-env/bin/pip install geotracs. Then choose geotracs-env in Settings, "
    "Options, Processing, Providers, geotracs."
)
PROGRESS = re.compile(r"progress: (?:(\d+)% )?(.*)")
WARNING = re.compile(r"\w*Warning: (.*)")
ERROR = re.compile(r"Error: (.*?)(?: See 'geotracs .*' --help'?\.)?")
PATIENCE = 15
"""How many seconds the program has to clean up."""


def python():
    """Return the Python that geotracs is installed in; raise if there is none."""
    given = settings.program() or os.environ.get(PROGRAM, "") or shutil.which("geotracs") or ""
    if not given:
        raise QgsProcessingException(tr("geotracs was not found. Install it: {}").format(INSTALL))
    path = Path(given)
    folders = [path, path / "bin", path / "Scripts"] if path.is_dir() else [path.resolve().parent, path.parent]
    if path.is_file() and path.name.startswith("python"):
        return str(path)
    for folder in folders:
        for name in ("python", "python3", "python.exe"):
            if (folder / name).is_file():
                return str(folder / name)
    raise QgsProcessingException(tr("There is no Python beside “{}”. Install geotracs: {}").format(given, INSTALL))


def environment():
    """Return the environment without what QGIS has set for itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


class Program:
    """One run of geotracs, with a private folder that is gone afterwards, whatever happens.

    Use it as a context: the process waits with its folder until `run`, so that the originals that are copied into the
    folder before that are removed even if QGIS is killed meanwhile.
    """

    def __init__(self, feedback):
        self._feedback = feedback
        self._lines = queue.Queue()
        self._errors = []
        self.folder = None

    def __enter__(self):
        command = [python(), "-I", "-X", "utf8", str(WORKER), OLDEST]
        hidden = {"creationflags": subprocess.CREATE_NO_WINDOW} if os.name == "nt" else {}
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                **hidden,
            )
        except OSError as error:
            raise QgsProcessingException(tr("“{}” cannot be run: {}").format(command[0], error.strerror)) from None
        for stream, name in ((self._process.stdout, "out"), (self._process.stderr, "err")):
            threading.Thread(target=self._read, args=(stream, name), daemon=True).start()
        try:
            first = next(self._said(), None)
            if first is None:
                reason = "; ".join(self._errors[-1:]) or tr("it said nothing")
                raise QgsProcessingException(tr("geotracs did not start: {}").format(reason))
            first = json.loads(first)
            if "error" in first:
                raise QgsProcessingException(first["error"])
        except BaseException:
            self.__exit__()
            raise
        self.folder = Path(first["folder"])
        return self

    def __exit__(self, *_):
        with suppress(OSError):  # it may be gone
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, arguments):
        """Run a command; return what it prints. Raise with its own words if it fails."""
        self._feedback.pushCommandInfo("geotracs " + " ".join(map(_quoted, arguments)))
        with suppress(OSError):  # if it is gone it has said why
            self._process.stdin.write((json.dumps([*map(str, arguments)]) + "\n").encode())
            self._process.stdin.flush()
        said = list(self._said())
        code = self._process.wait()
        if code == 0:
            return "\n".join(said)
        self._check_cancelled()
        reason = " ".join(self._errors) or tr("geotracs stopped with code {}.").format(code)
        raise QgsProcessingException(reason)

    def _said(self):
        """Yield the lines of standard output; meanwhile tell the user those of standard error."""
        open_streams = 2
        while open_streams:
            try:
                name, line = self._lines.get(timeout=0.1)
            except queue.Empty:
                if self._feedback.isCanceled():
                    self.__exit__()
                    self._check_cancelled()
                continue
            if line is None:
                open_streams -= 1
            elif name == "out":
                yield line
            else:
                self._tell(line)

    def _check_cancelled(self):
        if self._feedback.isCanceled():
            raise QgsProcessingException(tr("Cancelled: nothing was written, and temporary files were removed."))

    def _read(self, stream, name):
        with stream:
            for line in stream:
                self._lines.put((name, line.decode("utf-8", "replace").rstrip("\r\n")))
        self._lines.put((name, None))

    def _tell(self, line):
        """Say in QGIS what geotracs has said."""
        progress, warning, error = PROGRESS.fullmatch(line), WARNING.fullmatch(line), ERROR.fullmatch(line)
        if progress:
            if progress[1]:
                self._feedback.setProgress(int(progress[1]))
            if progress[2]:
                self._step(progress[2])
        elif warning:
            self._feedback.pushWarning(in_labels(warning[1]))
        elif error:
            self._errors.append(in_labels(error[1]))
        elif line.strip():
            self._feedback.pushDebugInfo(line)

    def _step(self, what):
        if what != getattr(self, "_shown", None):
            self._shown = what
            self._feedback.setProgressText(tr(what) + " …")


def _quoted(word):
    word = str(word)
    return f'"{word}"' if re.search(r"[^\w./,:=+-]", word) else word
