"""Runs that end early leave the old file, and nothing else."""

import os
import signal
import subprocess
import time

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import geotracs
from geotracs import files
from geotracs.release.file import perturb_file
from tests.conftest import TOKYO
from tests.helpers import TERMINAL, prepared
from tests.release.file.streamed import quiet, same

pytestmark = pytest.mark.slow


def test_a_folder_comes_back_when_replacing_it_is_stopped(people, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    people.to_parquet(tmp_path / "in" / "part.0.parquet")
    quiet(perturb_file, tmp_path / "in", tmp_path / "out", 4)
    before, rename = files.read(tmp_path / "out"), os.rename

    def stopped(source, target):
        if target == tmp_path / "out" and "replaced" not in str(source):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        quiet(perturb_file, tmp_path / "in", tmp_path / "out", 4, rng=2, overwrite=True)
    same(files.read(tmp_path / "out"), before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


FILES_OF_64_KILOBYTES = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))
"""


EACH_KIND = """
import os, sys, geotracs.cli
for out in sys.argv[1:]:
    try:
        geotracs.cli.main(["perturb", "in.parquet", out, *os.environ["ARGUMENTS"].split()])
    except SystemExit as end:
        print(out, end.code)
"""


def test_a_disk_that_fills_up(people, tmp_path):
    """A limit to the size of a file stands for it: writing fails in the middle. One process tries all kinds."""
    pd.concat([people.dropna()] * 20, ignore_index=True).to_parquet(tmp_path / "in.parquet")
    names = [f"out.{kind}" for kind in ("parquet", "gpkg", "geojson", "csv", "fgb")]
    for name in names:
        (tmp_path / name).write_text("the old file")
    arguments = f"--eps 4 --overwrite --domain {','.join(map(str, TOKYO))} --batch-rows 2000 --keep all"
    command = prepared(FILES_OF_64_KILOBYTES, "-c", EACH_KIND, *names)
    environment = {**os.environ, "ARGUMENTS": arguments}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert run.stdout.splitlines() == [f"{name} 2" for name in names], run.stderr
    for name in names:
        assert f"'{name}' cannot be written" in run.stderr
        assert (tmp_path / name).read_text() == "the old file"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.parquet", *names])


def start(tmp_path):
    """A run over a million rows, which takes a while, once it has begun to write."""
    rng = np.random.default_rng(0)
    points = gpd.points_from_xy(rng.uniform(139.5, 139.9, 10**5), rng.uniform(35.55, 35.85, 10**5))
    (tmp_path / "in").mkdir()
    gpd.GeoDataFrame(geometry=points, crs=4326).to_parquet(tmp_path / "in" / "0.parquet")
    for part in range(1, 10):
        os.link(tmp_path / "in" / "0.parquet", tmp_path / "in" / f"{part}.parquet")
    (tmp_path / "out.parquet").write_text("the old file")
    arguments = ["perturb", "in", "out.parquet", "--eps", "4", "--overwrite"]
    arguments += ["--domain", ",".join(map(str, TOKYO)), "--batch-rows", "1000"]
    command = prepared(TERMINAL, "-m", "geotracs", *arguments)
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(tmp_path.glob(".out.parquet.*/out.parquet")):
        time.sleep(0.01)
    assert process.poll() is None, "it was done before it could be stopped"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_run_that_is_stopped(people, tmp_path, number):
    process = start(tmp_path)
    process.send_signal(number)
    assert process.wait() == 130
    with process.stderr as said:
        assert "Stopped; temporary files were removed." in said.read()
    assert (tmp_path / "out.parquet").read_text() == "the old file"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out.parquet"]


def test_a_run_that_is_killed_and_the_next_says_how_to_clean_up(people, tmp_path):
    process = start(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert (tmp_path / "out.parquet").read_text() == "the old file"
    [left] = tmp_path.glob(".out.parquet.*")
    people.to_parquet(tmp_path / "in.parquet")
    with pytest.warns(geotracs.GeotracsWarning, match=f"left .*{left.name}.* behind") as caught:
        perturb_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", 4, domain=TOKYO, keep=[], overwrite=True, batch_rows=70
        )
    assert len(caught) == 1
    assert len(files.read(tmp_path / "out.parquet")) == len(people)
