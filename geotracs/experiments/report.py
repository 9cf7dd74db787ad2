"""All experiments in one report: Markdown with tables, words and plots."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import geotracs.experiments.continuous as continuous
import geotracs.experiments.discrete as discrete
import geotracs.experiments.exact as exact
import geotracs.experiments.figures as figures
import geotracs.experiments.timing as timing
from geotracs.errors import InputError
from geotracs.experiments.cities import location_spaces
from geotracs.experiments.published import ratios
from geotracs.experiments.setups import EPSILONS

QUICK = 40
"""A quick run divides the number of repeats by this."""
WORDS = dict(
    re.findall(r"## (\S+)\n\n(.*?)\n(?=\n## |\Z)", (Path(__file__).parent / "words.md").read_text(), re.DOTALL)
)
"""What the report says about each experiment, and at its beginning and end."""


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Parameters
    ----------
    key : str
        Its name, for ``only`` and its plot.
    title : str
        Its heading.
    run : callable
        Takes what `run_section` gives it, and returns a frame.
    repeats : int
        How many; 0 where nothing is drawn.
    data, published : bool
        Whether it needs the check-ins, and has published figures in a file.
    """

    key: str
    title: str
    run: Callable[..., pd.DataFrame]
    repeats: int = 0
    data: bool = False
    published: bool = True


def _over(function: Callable[..., pd.DataFrame], name: str) -> Callable[..., pd.DataFrame]:
    return lambda data, **arguments: function(data, name, **arguments)


SECTIONS = (
    Section("synthetic-unit", "Random tracks in [0,1) x [0,1)", partial(continuous.synthetic, "unit"), 1000),
    Section("synthetic-long", "Random tracks in [0,2) x [0,10)", partial(continuous.synthetic, "long"), 1000),
    Section("short-side", "A track along the short side", continuous.short_side, 10_000),
    Section("direction-error", "Error of the direction", exact.direction_error),
    Section("location-spaces", "The two location spaces", location_spaces, data=True, published=False),
    Section("city-tky", "Tokyo, continuous", _over(continuous.city_continuous, "tky"), 20, data=True),
    Section("city-chi", "Chicago, continuous", _over(continuous.city_continuous, "chi"), 100, data=True),
    Section("grid-10", "Random tracks over 10 x 10 points", partial(discrete.synthetic_grid, 10, paper=True), 400),
    Section("grid-60", "Random tracks over 60 x 60 points", partial(discrete.synthetic_grid, 60, paper=True), 400),
    Section("places-tky", "Tokyo's places", _over(partial(discrete.city_places, paper=True), "tky"), 100, data=True),
    Section("places-chi", "Chicago's places", _over(partial(discrete.city_places, paper=True), "chi"), 100, data=True),
    Section("time-table", "Time", timing.time_table, 2, data=True, published=False),
    Section("growth", "Time by the number of places", timing.growth, 2, published=False),
    Section("range-queries", "Range queries in Chicago", discrete.range_queries, 100, data=True),
    Section("hotspots", "Hotspots in Chicago", discrete.hotspots, 100, data=True),
    Section(
        "trajectory-tky", "Epsilon for a trajectory, Tokyo", _over(discrete.trajectory_epsilon, "tky"), 50, data=True
    ),
    Section(
        "trajectory-chi", "Epsilon for a trajectory, Chicago", _over(discrete.trajectory_epsilon, "chi"), 50, data=True
    ),
    Section("gridding", "Gridding a continuous space", discrete.gridding, 20_000),
    Section("exponential-arrangement", "More places", exact.exponential_arrangement, published=False),
    Section("epsilon-split", "Sharing epsilon", continuous.epsilon_split, 200, published=False),
    Section("square-wave", "The redesigned square wave", continuous.square_wave, 1000),
    Section("circular-area", "A circular area", exact.circular_area, published=False),
    Section("sectors", "Dominant sectors", exact.sectors, published=False),
)


def reproduce(
    data: str | Path | None = None,
    published: str | Path | None = None,
    out: str | Path = "report.md",
    *,
    quick: bool = False,
    only: tuple[str, ...] = (),
    progress: bool = False,
) -> dict[str, pd.DataFrame]:
    """Reproduce the paper's evaluation, and write a report with plots beside it.

    Parameters
    ----------
    data : path, optional
        Folder of the check-ins of Tokyo and Chicago; without it their experiments are left out.
    published : path, optional
        Folder of the published figures, to have them beside ours.
    out : path
        The Markdown file; its plots go into a folder of the same name.
    quick : bool
        Few repeats: to try it.
    only : tuple of str
        Names of the experiments to make; all if empty.
    progress : bool
        Show a progress bar.

    Returns
    -------
    dict
        The frame of each experiment, by its name.
    """
    chosen = _chosen(only, data)
    out = Path(out)
    folder = out.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    frames, parts = {}, []
    for section in _bar(chosen, progress):
        frames[section.key] = run_section(section, data, published, quick=quick)
        figures.save(frames[section.key], folder / f"{section.key}.png")
        image = f"{folder.name}/{section.key}.png"
        parts.append(_section_text(section, frames[section.key], image, data, published, quick=quick))
    left_out = [] if data is not None else [section.title for section in SECTIONS if section.data]
    end = f"## What the published code does\n\n{WORDS['differences']}\n"
    out.write_text("\n".join([_head(frames, quick, left_out), *parts, end]))
    return frames


def run_section(
    section: Section, data: str | Path | None, published: str | Path | None, *, quick: bool = False
) -> pd.DataFrame:
    """Make one experiment."""
    arguments: dict[str, Any] = {}
    if section.repeats:
        arguments["repeats"] = _repeats(section, quick)
    if section.published:
        arguments["published"] = published
    return section.run(data, **arguments) if section.data else section.run(**arguments)


def agreement(frame: pd.DataFrame) -> str:
    """Return how far the TraCS rows are from the published ones, in words; nothing if none is published."""
    if not {"method", "published", "published_se"} <= set(frame.columns):
        return ""
    rows = frame[frame["method"].isin(["tracs-c", "tracs-d"]) & frame["published"].notna()]
    if rows.empty:
        return ""
    apart = rows["ours"] / rows["published"] - 1
    errors: pd.Series = (rows["ours"] - rows["published"]).abs() / np.hypot(rows["se"], rows["published_se"])
    return (
        f"TraCS: at most {apart.abs().max():.1%} from the published figures, "
        f"{errors.max():.1f} standard errors of the difference."
    )


def _repeats(section: Section, quick: bool) -> int:
    return max(2, section.repeats // QUICK) if quick else section.repeats


def _chosen(only: tuple[str, ...], data: str | Path | None) -> list[Section]:
    known = [section.key for section in SECTIONS]
    unknown = sorted(set(only) - set(known))
    if unknown:
        raise InputError(f"There is no experiment {unknown[0]!r}; there are {known}.")
    return [s for s in SECTIONS if (not only or s.key in only) and (data is not None or not s.data)]


def _bar(sections: list[Section], progress: bool) -> Iterator[Section]:
    if not progress:
        yield from sections
        return
    from tqdm.auto import tqdm

    with tqdm(sections, unit=" experiment") as bar:
        for section in bar:
            bar.set_description(section.title)
            yield section


def _head(frames: dict[str, pd.DataFrame], quick: bool, left_out: list[str]) -> str:
    lines = ["# The paper, again", WORDS["introduction"]]
    if quick:
        lines.append("**A quick run: few repeats, large standard errors.**")
    if left_out:
        lines.append(f"Left out, since no check-ins were given: {', '.join(left_out)}.")
    lines += ["## What changes", WORDS["summary"]]
    claims = pd.concat([ratios(frame).assign(experiment=key) for key, frame in frames.items()])
    if len(claims):
        claims = claims[["experiment", "ratio", "published", "ours"]]
        lines += ["The paper's claims, as ratios of errors averaged over epsilon:", markdown(claims)]
    return "\n\n".join(lines) + "\n"


def _section_text(
    section: Section,
    frame: pd.DataFrame,
    image: str,
    data: str | Path | None,
    published: str | Path | None,
    *,
    quick: bool,
) -> str:
    lines = [f"## {section.title}", WORDS[section.key], wide(frame)]
    if section.key == "direction-error":
        explained = frame.assign(ours=frame["as_published"], se=frame["published_se"])
        lines += ["The published measure of the published mechanisms:", wide(explained)]
    elif agreement(frame):
        lines.append(agreement(frame))
    if section.key == "synthetic-unit":
        explained = continuous.strawman_as_published(repeats=_repeats(section, quick), published=published)
        lines += ["The strawman with the published flips, and the epsilon that it spends:"]
        lines += [markdown(explained[["epsilon", "spent", "published", "ours", "se"]])]
    if section.key == "hotspots" and data is not None:
        formula = discrete.hotspots(data, repeats=_repeats(section, quick), formula=True)
        lines += ["The paper's formula:", wide(formula)]
    lines.append(f"![{section.key}]({image})\n")
    return "\n\n".join(lines)


def wide(frame: pd.DataFrame) -> str:
    """Return an experiment's frame as a Markdown table, epsilon across where there is one."""
    if not {"epsilon", "ours", "se", "published"} <= set(frame.columns):
        return markdown(_short(frame))
    cells = [_cell(*row) for row in frame[["published", "ours", "se"]].itertuples(index=False)]
    table = frame.assign(cell=cells).pivot_table("cell", "method", "epsilon", aggfunc="first", sort=False)
    table.columns = [f"eps {epsilon:g}" for epsilon in table.columns]
    return markdown(table.reset_index())


def _short(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what a reader wants of the frames that are not by method and epsilon alone."""
    experiment = frame["experiment"].iloc[0]
    if experiment == "epsilon-split":
        best = frame.loc[frame.groupby("epsilon")["ours"].idxmin(), ["epsilon", "share", "ours", "se"]]
        return best.rename(columns={"share": "best share"})
    if experiment == "location-spaces":
        return frame.groupby("space", sort=False).size().rename("places").reset_index()
    if experiment == "growth":
        table = frame.pivot_table("ours", "method", "places", sort=False)
        return table.rename(columns="{:,} places".format).reset_index()
    if experiment == "sectors":
        frame = frame[frame["epsilon"].isin(EPSILONS)]
    return frame[[name for name in frame.columns if len(set(frame[name])) > 1]]


def markdown(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"method": ["a"], "ours": [0.12345]})))
    | method | ours |
    |---|---|
    | a | 0.1235 |
    """
    lines = ["| " + " | ".join(str(name) for name in frame.columns) + " |", "|" + "---|" * frame.shape[1]]
    for row in frame.itertuples(index=False):
        lines.append("| " + " | ".join(_number(value) for value in row) + " |")
    return "\n".join(lines)


def _cell(published: float, ours: float, se: float) -> str:
    before = "-" if np.isnan(published) else f"{published:.3g}"
    after = f"{ours:.3g}" if se == 0 or np.isnan(se) else f"{ours:.3g} ± {se:.1g}"
    return f"{before} / {after}"


def _number(value: object) -> str:
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4g}"
    return str(value)
