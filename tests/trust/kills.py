"""Kill processes that make releases with one ledger, at random moments; `python -m tests.trust.kills --kills 200`.

Two processes work at once, each on files of its own, over and over. Each is killed (SIGKILL) after a random time and
begun anew. After every kill another process adds up all releases that are there, and compares with the ledger:
everybody was charged at least what was released, and nobody more than the budget. Releases of the same draw, which tell
nothing new, count once.
"""

import argparse
import multiprocessing
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import geopandas as gpd
import numpy as np

import geotracs
import geotracs.io.formats.parquet
import geotracs.release.file
import geotracs.trust.ledger
from geotracs.errors import BudgetError
from tests.conftest import TOKYO
from tests.helpers import quiet

FORK = multiprocessing.get_context("fork")  # so that what was imported need not be imported for every kill
PEOPLE, ROWS, EPS = 6, 12, 0.5
GIVEN = {"domain": TOKYO, "trajectory": "person", "keep": [], "data": "kills", "workers": 1}


def make(folder, budget):
    """Make the ledger, and two files of the same people."""
    geotracs.Ledger(folder / "ledger.db", budget=budget)
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        n = PEOPLE * ROWS
        points = gpd.points_from_xy(rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n))
        people = np.repeat([f"p{i}" for i in range(PEOPLE)], ROWS)
        gpd.GeoDataFrame({"person": people}, geometry=points, crs=4326).to_parquet(folder / f"{name}.parquet")


def work(folder, name, seed):
    """Make releases until killed, or until the budget is spent: at once, in batches, in memory."""
    choice, ledger = random.Random(seed), geotracs.Ledger(folder / "ledger.db")
    for number in range(10**6):
        out = folder / "out" / f"{name}-{seed}-{number}.parquet"
        kind = choice.choice(["at once", "in batches", "in memory"])
        try:
            if kind == "in memory":
                frame = geotracs.files.read(folder / f"{name}.parquet")
                geotracs.files.write(quiet(geotracs.perturb, frame, EPS, ledger=ledger, **GIVEN), out)
            else:
                rows = {"batch_rows": 20} if kind == "in batches" else {}
                source = folder / f"{name}.parquet"
                quiet(geotracs.perturb_file, source, out, EPS, ledger=ledger, progress=False, **rows, **GIVEN)
        except BudgetError:
            time.sleep(0.1)


def check(folder, known, found):
    """Send what the ledger says, and the releases that were not known yet: their draws, and how many rows of whom."""
    ledger = quiet(geotracs.Ledger, folder / "ledger.db")
    # What was released is read first: a process that still runs may charge and release meanwhile.
    new = {}
    for path in (folder / "out").glob("*.parquet"):
        if path.name not in known:
            frame = quiet(geotracs.files.read, path)
            new[path.name] = hash(tuple(frame.geometry.to_wkb())), dict(frame["person"].value_counts())
    spent = {f"p{i}": ledger.spent(f"p{i}") for i in range(PEOPLE)}
    found.put((new, spent, ledger.budget, int((~ledger.entries()["finished"]).sum())))


def released(known):
    """Add up what was released to whom; the same draw counts once."""
    total = Counter()
    for rows in dict(known.values()).values():
        total.update({label: EPS * int(n) for label, n in rows.items()})
    return total


def run(kills, folder, budget, longest=0.15, seed=0):
    """Kill so many times; return how often either rule was broken, and what there was to see."""
    choice, result, known = random.Random(seed), Counter(), {}
    (folder / "out").mkdir()
    begin(make, folder, budget).join()
    workers = {name: begin(work, folder, name, seed * 10**6 + i) for i, name in enumerate("ab")}
    for number in range(kills):
        time.sleep(choice.uniform(0, longest))
        name = choice.choice("ab")
        workers[name].kill()
        workers[name].join()
        found = FORK.Queue()
        begin(check, folder, set(known), found)
        new, spent, budget, begun = found.get(timeout=60)
        known |= new
        total = released(known)
        result["uncharged"] += any(spent[person] < total[person] for person in spent)
        result["over budget"] += max(spent.values()) > budget
        result["left unfinished"] += begun > 0
        result["releases"], result["draws"] = len(known), len(dict(known.values()))
        result["spent"] = max(spent.values())
        workers[name] = begin(work, folder, name, seed * 10**6 + number + 2)
    for worker in workers.values():
        worker.kill()
        worker.join()
    return {"kills": kills, **result}


def begin(function, *arguments):
    process = FORK.Process(target=function, args=arguments, daemon=True)
    process.start()
    return process


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--budget", type=float, default=600)
    parser.add_argument("--longest", type=float, default=0.15, help="Seconds between two kills, at most.")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        outcome = run(given.kills, Path(name), given.budget, given.longest, given.seed)
    print(outcome)  # noqa: T201
    raise SystemExit(bool(outcome["uncharged"] or outcome["over budget"]))
