"""Speed and memory, as ratios within one run: ``make bench``."""

import argparse
import itertools
import subprocess
import sys
import threading
import time

import geopandas as gpd
import numpy as np
import pyarrow as pa
import shapely

import geotracs
from benchmarks import scalar
from geotracs import experiments, methods, places
from geotracs.core import randomness
from geotracs.core.domains import Rectangle
from geotracs.core.methods import codebooks
from geotracs.core.places import Points
from geotracs.release.engine import report

TOKYO = (139.47, 35.51, 139.90, 35.86)
SQUARE = (0.0, 0.0, 1.0, 1.0)
EPS = 4.0


def main():
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int, help="measure the memory of this many locations, and nothing else")
    n = parser.parse_args().memory
    if n:
        print(f"{peak_memory(n):.2f}")
        return
    print(f"{'geotracs ' + geotracs.__version__:<58}{'measured':>12}  bar")
    for what, measured, bar, met in itertools.chain(
        imports(),
        against_to_crs(),
        against_scalar(),
        against_tracs_c(),
        against_joint(),
        repeated(),
        fits(),
        answers(),
        regions(),
        rounding(),
        nearest(),
        growth(),
        memory(),
        maps(),
        baselines(),
    ):
        print(f"{what:<58}{measured:>12}  {bar}{'' if met else '   MISSED'}", flush=True)


def imports():
    """`import geotracs` and `geotracs --help` as parts of `import geopandas`, in fresh processes."""

    def fresh(*arguments):
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    base, own, shown = interleaved(
        lambda: fresh("-c", "import geopandas"),
        lambda: fresh("-c", "import geotracs"),
        lambda: fresh("-m", "geotracs", "--help"),
        repeats=7,
    )
    for what, seconds, bar in (("import geotracs", own, 1.4), ("geotracs --help", shown, 1.2)):
        yield f"{what} / import geopandas", f"{seconds / base:.2f}", f"<= {bar}", seconds / base <= bar


def against_to_crs(n=10**6):
    """`perturb` as a part of `to_crs` there and back."""
    frame = tracks(n, 100)
    utm = frame.estimate_utm_crs()
    table = pa.table(frame.to_arrow(geometry_encoding="geoarrow", index=False))
    base, *times = interleaved(
        lambda: frame.to_crs(utm).to_crs(4326),
        lambda: frame.tracs.perturb(EPS, "joint", domain=TOKYO, trajectory="p"),
        lambda: frame.tracs.perturb(EPS, "tracs-c", domain=TOKYO, trajectory="p"),
        lambda: frame.tracs.perturb(EPS, "tracs-d", domain=TOKYO, trajectory="p"),
        lambda: frame.tracs.perturb(EPS, "tracs-d", domain=TOKYO, keep=[]),
        lambda: geotracs.perturb_arrow(table, EPS, "joint", domain=TOKYO, trajectory="p"),
        lambda: geotracs.perturb_arrow(table, EPS, "tracs-d", domain=TOKYO, trajectory="p"),
    )
    yield f"to_crs there and back, {n:,} points", f"{base:.2f} s", "", True
    names = ["perturb joint", "perturb tracs-c", "perturb tracs-d, 10,000 x 100", "perturb tracs-d, 1 x 1,000,000"]
    names += ["perturb_arrow joint", "perturb_arrow tracs-d, 10,000 x 100"]
    for name, seconds, bar in zip(names, times, [0.3, 0.3, 0.33, 0.33, 0.15, 0.15], strict=True):
        yield f"{name} / to_crs", f"{seconds / base:.2f}", f"<= {bar}", seconds / base <= bar


def against_scalar(n=2 * 10**6, m=2 * 10**4):
    """The bare methods per location, against plain Python."""
    rng = np.random.default_rng(0)
    xy, offsets = np.asfortranarray(rng.random((n, 2))), np.arange(0, n + 1, 100)
    few, out = rng.random((m, 2)).tolist(), xy.copy(order="F")
    for name, plain, bar in [("tracs-c", scalar.tracs_c, 30), ("tracs-d", scalar.tracs_d, 60)]:
        recipe, domain, generator = methods.make(name), Rectangle(*SQUARE), randomness.source()
        slow, fast = interleaved(
            lambda plain=plain: plain(few, EPS, SQUARE),
            lambda recipe=recipe: report(recipe.on(domain), xy, offsets, EPS, generator, out=out),  # noqa: B023
            repeats=25,
        )
        times = (slow / m) / (fast / n)
        what = f"bare {name}, {fast / n * 1e9:.0f} ns a location / plain Python"
        yield what, f"{times:.0f} x faster", f">= {bar}", times >= bar


def against_tracs_c(n=10**6):
    """`joint` as a part of `tracs-c`: bare, through a frame, and with a public prior."""
    rng = np.random.default_rng(0)
    xy, offsets, domain, generator = (
        np.asfortranarray(rng.random((n, 2))), np.array([0, n]), Rectangle(*SQUARE), randomness.source()
    )  # fmt: skip
    out, recipes = xy.copy(order="F"), [methods.make(name) for name in ("tracs-c", "joint")]
    base, joint = interleaved(
        *[lambda r=r: report(r.on(domain), xy, offsets, EPS, generator, out=out) for r in recipes], repeats=15
    )
    yield (
        f"bare joint, {joint / n * 1e9:.0f} ns a location / tracs-c",
        f"{joint / base:.2f}",
        "<= 1.5",
        joint <= 1.5 * base,
    )
    frame = tracks(n, 100)
    sites = gpd.GeoSeries(gpd.points_from_xy(*rng.normal((139.7, 35.7), 0.05, (5000, 2)).T), crs=4326)
    base, joint, prior = interleaved(
        lambda: frame.tracs.perturb(EPS, "tracs-c", domain=TOKYO, trajectory="p"),
        lambda: frame.tracs.perturb(EPS, "joint", domain=TOKYO, trajectory="p"),
        lambda: frame.tracs.perturb(EPS, "joint", domain=TOKYO, trajectory="p", prior=sites),
    )
    for what, seconds, bar in (("joint", joint, 1.5), ("joint with a prior", prior, 2.5)):
        yield f"perturb {what} / tracs-c, {n:,} points", f"{seconds / base:.2f}", f"<= {bar}", seconds <= bar * base


def against_joint(n=10**6):
    """`optimal` and `geo-ind` as parts of `joint`, bare and through a frame."""
    rng = np.random.default_rng(0)
    xy, offsets, generator = np.asfortranarray(rng.random((n, 2)) * 1e4), np.array([0, n]), randomness.source()
    domain, out = Rectangle(0, 0, 1e4, 1e4), xy.copy(order="F")
    channels = [methods.make(name).on(domain, None, EPS) for name in ("joint", "optimal", "geo-ind")]
    frame = tracks(n, 100)
    bare = interleaved(*[lambda c=c: report(c, xy, offsets, EPS, generator, out=out) for c in channels], repeats=15)
    whole = interleaved(
        *[lambda c=c: frame.tracs.perturb(EPS, c.method.name, domain=TOKYO, trajectory="p") for c in channels]
    )
    for kind, (base, *others) in (("bare", bare), ("perturb", whole)):
        for name, seconds, bar in zip(("optimal", "geo-ind"), others, (1.2, 2.0), strict=True):
            yield f"{kind} {name} / joint", f"{seconds / base:.2f}", f"<= {bar}", seconds <= bar * base


def repeated(n=10**6):
    """What reports cost that are drawn by streams of their own: all rows distinct, and 1,000 rows for each report."""
    for what, frame, bar in (
        ("all distinct", tracks(n, 1), 6.0),
        ("1,000 rows each", tracks(n // 1000, 1).loc[lambda own: own.index.repeat(1000)].reset_index(drop=True), 2.0),
    ):
        base, same = interleaved(
            *[
                lambda f=frame, r=r: f.tracs.perturb(EPS, domain=TOKYO, trajectory="p", repeat=r)
                for r in (None, "same")
            ],
            repeats=2,
        )
        yield f"repeat, {what} / joint", f"{same / base:.2f}", f"<= {bar}", same <= bar * base


def fits():
    """What it takes to fit a codebook, which is done once for a region and an epsilon."""
    for eps, bar in ((0.5, 5), (2.0, 5), (8.0, 5), (10.0, 30)):
        begin = time.process_time()
        codebooks.fit(Rectangle(*SQUARE), eps)
        seconds = time.process_time() - begin
        yield f"fit of optimal, epsilon {eps:g}", f"{seconds:.1f} s", f"<= {bar} s", seconds <= bar


def answers(n=10**6, few=1000):
    """Estimates from a release: a density of many reports, and the tracks of some people."""
    private = tracks(n, 100).tracs.perturb(EPS, domain=TOKYO, trajectory="p")
    seconds = timed(lambda: private.tracs.density(places.Grid(nx=60, ny=60)), repeats=1)
    yield f"density of {n:,} reports, 60 x 60 cells", f"{seconds:.1f} s", "<= 2 s", seconds <= 2
    frame = tracks(few, 100).assign(t=np.arange(few) * 10.0)
    release = frame.tracs.perturb(EPS, domain=TOKYO, trajectory="p", time="t")
    seconds = timed(lambda: release.tracs.reconstruct(speed=15), repeats=1) / few * 1e3
    yield f"reconstruct, {few:,} locations, 64 x 64 cells", f"{seconds:.2f} ms", "<= 1 ms each", seconds <= 1


def nearest(n=10**6, m=10**4):
    """A million locations over ten thousand places."""
    rng = np.random.default_rng(0)
    sites, secrets, offsets = rng.random((m, 2)), rng.integers(0, m, n), np.array([0, n])
    recipe, domain = methods.make("nearest"), Rectangle(*SQUARE)
    for eps in (1.0, 4.0, 8.0):
        seconds = timed(
            lambda eps=eps: report(
                recipe.on(domain, Points(sites), eps), sites[secrets], offsets, eps, randomness.source()
            ),
            repeats=1,
        )
        yield f"nearest, {n:,} locations, {m:,} places, epsilon {eps:g}", f"{seconds:.1f} s", "seconds", seconds < 10


def regions(n=10**6):
    """What a polygon of 10,000 vertices adds to a rectangle."""
    angle = np.linspace(0, 2 * np.pi, 10_000, endpoint=False)
    wiggle = 1 + 0.15 * np.sin(5 * angle) + 0.03 * np.sin(37 * angle) + 0.005 * np.sin(997 * angle)
    x, y = 139.685 + 0.17 * wiggle * np.cos(angle), 35.685 + 0.14 * wiggle * np.sin(angle)
    city = shapely.Polygon(np.column_stack([x, y]))
    frame = tracks(n, 100)
    frame = frame[frame.within(city)]
    bare, projected = interleaved(
        lambda: frame.tracs.perturb(EPS, domain=city.bounds, trajectory="p"),
        lambda: frame.tracs.perturb(EPS, domain=city, trajectory="p"),
        repeats=3,
    )
    added = projected / bare - 1
    yield f"projection into 10,000 vertices adds, {len(frame):,} points", f"{added:.2f} times", "<= 3", added <= 3


def rounding(n=10**6, m=200):
    """Rounding to points, against argmin over all of them, and how it grows."""
    rng = np.random.default_rng(0)
    xy, cost = rng.random((n, 2)), {}
    for count in (10**3, 7798, 10**4, 10**5, 10**6):
        sites = rng.random((count, 2))
        index = places.Points(sites)
        cost[count] = timed(lambda index=index: index.nearest(xy)) / n
        if count == 7798:
            brute = timed(lambda sites=sites: [np.argmin(np.hypot(*(sites - point).T)) for point in xy[:m]]) / m
    times = brute / cost[7798]
    yield "rounding to 7,798 points / argmin a point", f"{times:.0f} x faster", ">= 100", times >= 100
    for count in (10**4, 10**5, 10**6):
        ratio, logarithm = cost[count] / cost[10**3], np.log(count) / np.log(10**3)
        yield f"rounding to {count:,} / to 1,000 points", f"{ratio:.2f}", f"logarithm: {logarithm:.2f}", True


def growth():
    """Seconds per location from 10^4 to 10^7 locations."""
    for name in ("tracs-c", "tracs-d"):
        cost = {}
        for n in (10**4, 10**5, 10**6, 10**7):
            frame = tracks(n, 100)
            cost[n] = timed(lambda name=name: frame.tracs.perturb(EPS, name, domain=TOKYO, trajectory="p")) / n  # noqa: B023
        yield f"perturb {name}, a fixed cost shows at 10,000 / 100,000", f"{cost[10**4] / cost[10**5]:.2f}", "", True
        for n in (10**6, 10**7):
            ratio = cost[n] / cost[10**5]
            yield (
                f"perturb {name}, cost per location, {n:,} / 100,000",
                f"{ratio:.2f}",
                "<= 1.5",
                ratio <= 1.5,
            )


def memory(n=10**6):
    """Peak memory beyond the input, as a multiple of the input's geometries; in a process of its own."""
    out = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--memory", str(n)], capture_output=True, text=True, check=True
    )
    times = float(out.stdout)
    yield f"peak memory of perturb / input, {n:,} points", f"{times:.2f}", "<= 3", times <= 3


def maps(n=10**5):
    """A map of many locations: how long it takes, and how large the page is."""
    frame = tracks(n, 100)
    private = frame.tracs.perturb(EPS, domain=TOKYO, trajectory="p")
    start = time.perf_counter()
    page = frame.tracs.explore(private).get_root().render()
    seconds, size = time.perf_counter() - start, len(page) / 1e6
    yield f"explore {n:,} locations, with the page", f"{seconds:.1f} s", "<= 5 s", seconds <= 5
    yield "size of that page", f"{size:.1f} MB", "<= 5 MB", size <= 5


def baselines(sizes=(1_000, 7_798, 100_000)):
    """TraCS with rounding against the methods that score every place, per location."""
    table = experiments.growth(sizes=sizes).pivot_table("ours", "places", "method")
    for count in sizes:
        times = min(table.loc[count, ["ngram", "atp"]]) / max(table.loc[count, ["tracs-c", "tracs-d"]])
        yield f"ngram or atp / TraCS, rounded to {count:,} places", f"{times:.0f} x", ">= 40 x", times >= 40


def peak_memory(n):
    """Return the memory that `perturb` adds at its peak, divided by that of the frame."""
    tracks(1000, 100).tracs.perturb(EPS, "tracs-d", domain=TOKYO, trajectory="p")
    empty = resident()
    frame = tracks(n, 100)
    full = resident()
    peak, done = [full], threading.Event()

    def watch():
        while not done.wait(0.005):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    frame.tracs.perturb(EPS, "tracs-d", domain=TOKYO, trajectory="p")
    done.set()
    watcher.join()
    return (peak[0] - full) / (full - empty)


def resident():
    """Resident memory in pages."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def tracks(n, length):
    """n random locations in Tokyo, in trajectories of the given length."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(TOKYO[0], TOKYO[2], n), rng.uniform(TOKYO[1], TOKYO[3], n)
    return gpd.GeoDataFrame({"p": np.arange(n) // length}, geometry=gpd.points_from_xy(x, y), crs=4326)


def timed(function, repeats=3):
    """Seconds of the fastest of some runs."""
    return interleaved(function, repeats=repeats)[0]


def interleaved(*functions, repeats=5):
    """Seconds of the fastest run of each, taking turns so that a slow moment of the machine hits all alike."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            begin = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - begin)
    return best


if __name__ == "__main__":
    main()
