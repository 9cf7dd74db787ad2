"""Runs one command of geotracs for QGIS, in the Python of geotracs.

It makes a private folder, says so in a line of JSON on standard output, and waits for a line with the arguments. Both
processes may die at any time: when standard input ends, which it does when QGIS dies, the command is stopped, and the
private folder is removed on every way out.
"""

import _thread
import json
import os
import shutil
import signal
import sys
import tempfile
import threading

GRACE = 10
"""How many seconds a command has to clean up when it is stopped."""


def main(oldest):
    """Run a command; return its exit code."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stop)  # whatever the shell that started QGIS has said
    folder = None
    try:
        problem = check(oldest)
        if problem:
            return say({"error": problem}, 2)
        folder = tempfile.mkdtemp(prefix="geotracs-qgis-")  # which only the user can read
        say({"folder": folder})
        arguments = wait()
        if arguments is None:
            return 130
        threading.Thread(target=watch, args=(folder,), daemon=True).start()
        return run(arguments)
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def check(oldest):
    """Return what is wrong with this Python, or None."""
    from importlib.metadata import PackageNotFoundError, version

    command = f"{sys.executable} -m pip install --upgrade geotracs"
    try:
        found = version("geotracs")
    except PackageNotFoundError:
        return f"There is no geotracs in {sys.prefix}. Install it: {command}"
    if numbers(found) < numbers(oldest):
        return f"geotracs {found} in {sys.prefix} is too old; this plugin needs {oldest}. Update it: {command}"
    return None


def numbers(version):
    """Return a version as numbers that can be compared."""
    return [int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")[:3]]


def say(words, code=0):
    """Write a line of JSON; return an exit code."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()
    return code


def wait():
    """Return the arguments, a line of JSON; None if standard input ends before."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 65536)
        if not part:
            return None
        line += part
    return json.loads(line)


def watch(folder):
    """Wait until standard input ends, and stop the command."""
    while os.read(0, 1):
        pass
    _thread.interrupt_main()
    threading.Event().wait(GRACE)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(130)


def run(arguments):
    """Run a command of geotracs."""
    from geotracs.cli import main as command

    try:
        command(arguments)
    except SystemExit as stop:
        return stop.code or 0
    return 0


def _stop(number, frame):
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
