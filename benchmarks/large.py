"""Files larger than memory, and two worker processes: ``make bench-large``."""

import argparse
import contextlib
import itertools
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import geotracs
from geotracs.io import wkb

TOKYO = (139.47, 35.51, 139.92, 35.87)
PIECE = 10**6
ARGUMENTS = {"domain": TOKYO, "trajectory": "p", "time": "t", "keep": []}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10**8, help="of the largest file")
    parser.add_argument("--folder", type=Path, default=Path("large"), help="for the files; about 25 bytes a row, twice")
    parser.add_argument("--method", default="tracs-d")
    parser.add_argument("--run", choices=["stream", "memory"], help="measure one run, and nothing else")
    parser.add_argument("--engines", action="store_true", help="only a folder on one machine, on dask and on Spark")
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(one_run(arguments.run, arguments.folder, arguments.rows, arguments.method)))
        return
    arguments.folder.mkdir(exist_ok=True)
    print(f"{'geotracs ' + geotracs.__version__:<58}{'measured':>12}  bar")
    parts = (
        [engines(arguments)] if arguments.engines else [streaming(arguments), processes(arguments), engines(arguments)]
    )
    for what, measured, bar, met in itertools.chain(*parts):
        print(f"{what:<58}{measured:>12}  {bar}{'' if met else '   MISSED'}", flush=True)


def streaming(arguments):
    """Memory and speed of a file a tenth as large, and of the largest."""
    small = max(arguments.rows // 10, PIECE)
    memory = measured("memory", small, arguments)
    yield f"{arguments.method} in memory, {small:,} rows", f"{memory['perturb'] / small * 1e6:.2f} us", "a row", True
    yield "    with reading and writing", f"{memory['seconds'] / small * 1e6:.2f} us", "a row", True
    peaks = {}
    for rows in (small, arguments.rows):
        stream = measured("stream", rows, arguments)
        peaks[rows] = stream["peak"]
        part = (memory["perturb"] / small) / (stream["seconds"] / rows)
        yield f"streamed, {rows:,} rows", f"{stream['seconds'] / rows * 1e6:.2f} us", "a row", True
        yield "    of the speed of perturb alone, in memory", f"{part:.2f}", ">= 0.6", part >= 0.6
        yield "    peak memory", f"{peaks[rows] / 1e9:.2f} GB", "< 2 GB", peaks[rows] < 2e9
    ratio = peaks[arguments.rows] / peaks[small]
    yield "peak memory, ten times the rows", f"{ratio:.2f}", "the same: <= 1.15", ratio <= 1.15


def processes(arguments, parts=40):
    """From Parquet to Parquet with one worker process, and with two; best of three."""
    from distributed import Client, LocalCluster

    rows = max(arguments.rows // 10, PIECE)
    source, target = arguments.folder / f"{rows}-parts", arguments.folder / "private-parts"
    source.mkdir(exist_ok=True)
    for part in range(parts):
        make(source / f"part.{part}.parquet", rows // parts, first=part * (rows // parts))
    seconds = {1: [], 2: []}
    for workers in seconds:
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
        with cluster, Client(cluster):
            for _ in range(4):  # the first imports and compiles
                seconds[workers].append(release(source, target, arguments.method))
    one, two = (min(seconds[workers][1:]) for workers in (1, 2))
    yield f"dask, {rows:,} rows from Parquet to Parquet, one process", f"{one / rows * 1e6:.2f} us", "a row", True
    yield "    two processes / one", f"{one / two:.2f} x faster", ">= 1.5", one / two >= 1.5


def engines(arguments, parts=20):
    """The same folder on one machine with two threads, on two dask processes, and on Spark; best of three, by turns."""
    from distributed import Client, LocalCluster

    rows = max(arguments.rows // 10, PIECE)
    source = arguments.folder / f"{rows}-files"
    source.mkdir(exist_ok=True)
    for part in range(parts):
        make(source / f"part.{part:03d}.parquet", rows // parts, first=part * (rows // parts))
    target, best = arguments.folder / "private-files", {}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        spark() as session,
    ):
        ways = {
            "streamed": lambda: geotracs.perturb_file(source, target, 4, arguments.method, workers=2, **ARGUMENTS),
            "dask": lambda: geotracs.perturb_file(source, target, 4, arguments.method, client=client, **ARGUMENTS),
            "Spark": lambda: on_spark(session, source, target, arguments.method),
        }
        for turn in range(4):  # the first imports and compiles
            for name, way in ways.items():
                shutil.rmtree(target, ignore_errors=True)
                begin = time.perf_counter()
                way()
                seconds = time.perf_counter() - begin
                best[name] = min(best.get(name, seconds), seconds) if turn > 1 else seconds
        peaks = client.run(peak_memory)
    yield f"a folder of {rows:,} rows on one machine", f"{best['streamed'] / rows * 1e6:.2f} us", "a row", True
    for name, bar in (("dask", 1.3), ("Spark", 3)):
        ratio = best[name] / best["streamed"]
        yield f"    on two processes of {name} / on one machine", f"{ratio:.2f}", f"<= {bar}", ratio <= bar
    peak = max(peaks.values()) / 1e9
    yield "    peak memory of a worker of dask", f"{peak:.2f} GB", "< 1 GB", peak < 1


@contextlib.contextmanager
def spark():
    """Yield a local Spark of two processes."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def on_spark(session, source, target, method):
    """Release a folder with Spark."""
    fixes = session.read.parquet(str(source.resolve()))
    private = geotracs.spark.perturb(fixes, 4, method, **ARGUMENTS)
    private.write.parquet(str(target.resolve()))


def release(source, target, method):
    """Return the seconds of one release."""
    import dask_geopandas

    shutil.rmtree(target, ignore_errors=True)
    begin = time.perf_counter()
    frame = dask_geopandas.read_parquet(source)
    frame.tracs.perturb(4, method, shuffle=False, **ARGUMENTS).to_parquet(target)
    return time.perf_counter() - begin


def measured(what, rows, arguments):
    """Run in a process of its own, since memory is measured at its peak."""
    make(arguments.folder / f"{rows}.parquet", rows)
    command = [sys.executable, "-m", "benchmarks.large", "--run", what, "--rows", str(rows)]
    command += ["--folder", str(arguments.folder), "--method", arguments.method]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def one_run(what, folder, rows, method):
    """Return seconds, and the largest resident memory in bytes."""
    source, target = folder / f"{rows}.parquet", folder / "private.parquet"
    warm_up(method)
    begin = time.perf_counter()
    if what == "stream":
        geotracs.perturb_file(source, target, 4, method, overwrite=True, **ARGUMENTS)
        alone = None
    else:
        frame = geotracs.files.read(source)
        start = time.perf_counter()
        private = geotracs.perturb(frame, 4, method, **ARGUMENTS)
        alone = time.perf_counter() - start
        geotracs.files.write(private, target, overwrite=True)
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "perturb": alone, "peak": peak_memory()}


def peak_memory():
    """Return the largest resident memory of this process in bytes; not that of the one it was forked from."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def warm_up(method):
    """Compile what is compiled once."""
    points = gpd.points_from_xy([139.7], [35.7])
    geotracs.perturb(gpd.GeoDataFrame({"p": [0], "t": [0]}, geometry=points, crs=4326), 4, method, **ARGUMENTS)


def make(path, rows, first=0):
    """Write random locations in Tokyo, in trajectories of 100, unless the file is there."""
    if path.exists():
        return
    rng = np.random.default_rng(first)
    own = {"encoding": "WKB", "geometry_types": ["Point"]}
    geo = {"version": "1.0.0", "primary_column": "geometry", "columns": {"geometry": own}}
    schema = pa.schema([("p", pa.int64()), ("t", pa.int64()), ("geometry", pa.binary())], {"geo": json.dumps(geo)})
    unfinished = path.with_suffix(".tmp")
    with pq.ParquetWriter(unfinished, schema) as writer:
        for begin in range(0, rows, PIECE):
            number = first + np.arange(begin, min(begin + PIECE, rows))
            xy = rng.uniform((139.5, 35.55), (139.9, 35.85), (len(number), 2))
            points = wkb.encode(xy, np.ones(len(number), dtype=bool))
            writer.write_table(pa.table([number // 100, number % 100, points], schema=schema))
    unfinished.rename(path)


if __name__ == "__main__":
    main()
