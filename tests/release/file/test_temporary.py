"""What sorting writes to disk are original rows: they lie beside the originals, for the user only, and never stay."""

import signal
import stat
import subprocess
import time

import pytest

import geotracs
from geotracs import InputError, PrivacyWarning, files
from tests.conftest import TOKYO
from tests.helpers import TERMINAL, prepared

pytestmark = pytest.mark.slow

ARGUMENTS = {"domain": TOKYO, "trajectory": "person", "time": "t", "keep": [], "batch_rows": 10, "sort": True}


@pytest.fixture
def folders(tracks, tmp_path):
    """A folder with the originals, and one for the release, as a sync client would watch it."""
    for name in ("in", "out", "scratch"):
        (tmp_path / name).mkdir()
    tracks.to_parquet(tmp_path / "in" / "tracks.parquet")
    return tmp_path


def run(folders, **arguments):
    src, dst = folders / "in" / "tracks.parquet", folders / "out" / "private.gpkg"
    return geotracs.perturb_file(src, dst, 4, "tracs-d", **(ARGUMENTS | arguments))


def watch(folders, monkeypatch, *, fail=None):
    """Look at all folders when the sorted rows are on disk and the release is about to be written."""
    seen, write = {}, files.write_stream

    def look(stream, target, writing):
        seen.update({p.relative_to(folders): p for p in folders.rglob("*")})
        seen["modes"] = [stat.S_IMODE(p.stat().st_mode) for p in folders.rglob("*.sorting")]
        if fail is not None:
            raise fail
        return write(stream, target, writing)

    monkeypatch.setattr(files, "write_stream", look)
    return seen


@pytest.mark.parametrize("temporary", [None, "scratch"])
def test_sorted_rows_lie_beside_the_originals_or_where_asked_for(folders, monkeypatch, temporary):
    seen = watch(folders, monkeypatch)
    run(folders, temporary=None if temporary is None else folders / temporary)
    modes = seen.pop("modes")
    rows = [path for path in seen if path.suffix == ".arrows"]
    assert rows
    assert {path.parts[0] for path in rows} == {temporary or "in"}
    assert modes == [stat.S_IRWXU]
    assert not [path for path in seen if path.parts[0] == "out" and len(path.parts) > 2 and "arrows" in path.name]
    assert {p.name for p in folders.rglob("*") if p.is_file()} == {"tracks.parquet", "private.gpkg"}
    assert not list(folders.rglob(".*"))


@pytest.mark.parametrize("fail", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_sorted_rows_are_removed_on_every_way_out(folders, monkeypatch, fail):
    watch(folders, monkeypatch, fail=fail)
    with pytest.raises(KeyboardInterrupt if isinstance(fail, KeyboardInterrupt) else InputError):
        run(folders)
    assert {p.name for p in folders.rglob("*") if p.is_file()} == {"tracks.parquet"}
    assert not list(folders.rglob(".*"))


def test_sorted_rows_are_removed_when_the_command_is_stopped(folders):
    """`test_stopped` says that all signals do the same."""
    code = (
        "import time, geotracs.io.files as files, geotracs.cli as cli\n"
        "files.write_stream = lambda *a, **k: (print('now', flush=True), time.sleep(60))\n"
        f"cli.main(['perturb', {str(folders / 'in' / 'tracks.parquet')!r}, {str(folders / 'out' / 'private.gpkg')!r}, "
        "'--eps', '4', '--method', 'tracs-d', '--domain', '139,35,140,36', '--trajectory', 'person', '--time', 't', "
        "'--keep', 'none', '--sort', '--batch-rows', '10'])\n"
    )
    command = prepared(TERMINAL, "-c", code)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "now\n"
    assert list((folders / "in").glob(".*.sorting"))
    time.sleep(0.2)
    child.send_signal(signal.SIGTERM)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "temporary files were removed" in said
    assert {p.name for p in folders.rglob("*") if p.is_file()} == {"tracks.parquet"}
    assert not list(folders.rglob(".*"))


def test_a_folder_that_cannot_be_used_names_the_way_out(folders):
    with pytest.raises(InputError, match=r"cannot hold what sorting writes to disk: .* Use temporary="):
        run(folders, temporary=folders / "nowhere")
    assert not list((folders / "out").iterdir())


def test_rows_that_a_killed_run_left_are_named(folders):
    (folders / "in" / ".tracks.parquet.abc.sorting").mkdir()
    with pytest.warns(PrivacyWarning, match=r"tracks\.parquet\.abc\.sorting behind, with original locations"):
        run(folders)
