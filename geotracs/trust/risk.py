"""Risk: what a release tells about a person, in metres and probabilities, beside what can be guessed without it."""

import math
import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.geo.columns as columns_
import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
import geotracs.trust.risk_people as people_
from geotracs.answers.reader import Reader
from geotracs.core.budget import check_eps
from geotracs.core.following import SPEED
from geotracs.core.guarantee import Guarantee, caption, recorded
from geotracs.core.randomness import made_up
from geotracs.errors import GeotracsWarning, InputError, quoted, sealed
from geotracs.geo.filling import drawn, drawn_rows, has_filled
from geotracs.geo.optimum import public_setting
from geotracs.release.frame import release
from geotracs.release.request import Request
from geotracs.trust.risk_attacks import Attacked, attacks
from geotracs.trust.risk_result import Risk
from geotracs.utility.compare import aligned

MIN_PEOPLE = 5
"""Figures over fewer people say too much about one of them."""
MAX_ROWS, MAX_LOOKING_BACK = 20_000, 1_000
"""About so many rows are attacked, of people drawn from all: fewer of a method that looks back, which takes long."""
WITHIN = 550.0
"""A person is found who is guessed to within this distance, in metres."""


@sealed
def risk(
    domain: Any,
    eps: float,
    *,
    interval: float,
    speed: float = SPEED,
    stay: float = 0.3,
    method: str = "joint",
    unit: str = "location",
    round_to: Any = None,
    prior: Any = None,
    weight: str | None = None,
    fit: str = "envelope",
    people: int = 20,
    fixes: int = 240,
    within: float = WITHIN,
    known: int = 4,
    cells: int = 64,
    crs: Any = "EPSG:4326",
    seed: int = 0,
    **options: Any,
) -> Risk:
    """Say what a release would tell about a person, from public information only, before any data is touched.

    Made-up people on the public region are released and attacked: each has a home, a place of work, and ways. See
    `Risk` for the attacks.

    Parameters
    ----------
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, or one of `geotracs.domains`
        The public region; see `geotracs.perturb`.
    eps : float
        Privacy parameter, of each location or each trip, as ``unit`` says.
    interval : float
        Seconds between two reports of a person.
    speed : float
        How fast people are at most, in metres per second: about 2 on foot, 15 for cars in a city.
    stay : float
        Which part of the time people rest on their way.
    method, unit, round_to, prior, weight, fit
        As for `geotracs.perturb`, and so are other options of the method.
    people, fixes : int
        How many people are made up, and how many reports each has. Attacks on more reports find more.
    within : float
        A distance in metres: how likely is a guess that near?
    known : int
        How many places and times of a person somebody knows who looks for their track.
    cells : int
        Cells along the longer side of the region, for `geotracs.reconstruct`.
    crs : optional
        CRS of a bbox or geometry; layers have their own.
    seed : int
        For what is made up. The same seed gives the same figures.

    Returns
    -------
    Risk
        Its ``table`` has a row for each attack.

    Examples
    --------
    >>> import geotracs
    >>> found = geotracs.risk((139.5, 35.5, 139.8, 35.8), 8, interval=5, people=6, fixes=80, cells=32)
    >>> bool(found["tracking"] < found["report"] / 3)
    True
    """
    given = locals()  # so that an argument is named in this signature and the next only
    given |= given.pop("options")
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        case = made_up_case(**given)
        return Risk.of(attacks(case), {**_setting(case), "interval": float(interval)}, private=False)


def made_up_case(
    domain: Any,
    eps: float,
    *,
    interval: float,
    speed: float = SPEED,
    stay: float = 0.3,
    method: str = "joint",
    round_to: Any = None,
    prior: Any = None,
    weight: str | None = None,
    people: int = 20,
    fixes: int = 240,
    within: float = WITHIN,
    known: int = 4,
    cells: int = 64,
    crs: Any = "EPSG:4326",
    seed: int = 0,
    **arguments: Any,
) -> Attacked:
    """Return a release of made-up people and the truth behind it; see `risk`."""
    eps = check_eps(eps)
    asked = _Asked(speed, stay, within, known, cells)
    habits = people_.Habits(
        _number("interval", interval, "a finite number of seconds, greater than 0, such as 60"),
        float(speed),
        float(stay),
        _count("people", people, MIN_PEOPLE),
        _count("fixes", fixes, 8),
    )
    region, _ = public_setting(domain, None, prior=prior, weight=weight, crs=crs)
    tracks = people_.tracks(region, habits, seed)
    columns = {"trajectory": people_.TRIP, "time": people_.TIME, "keep": [people_.PERSON], "rng": made_up(seed)}
    layers = {"round_to": round_to, "prior": prior, "weight": weight}
    if arguments.get("repeat") is not None:
        columns["person"] = people_.PERSON
    private = release(tracks, Request.of(eps, method, domain=domain, **layers, **columns, **arguments))
    return _case(tracks, private, people_.PERSON, asked, {"domain": domain, **layers})


@sealed
def of_release(
    tracks: gpd.GeoDataFrame,
    private: gpd.GeoDataFrame,
    *,
    person: str | None = None,
    speed: float = SPEED,
    stay: float = 0.3,
    within: float = WITHIN,
    known: int = 4,
    cells: int = 64,
    domain: Any = None,
    round_to: Any = None,
    prior: Any = None,
    weight: str | None = None,
) -> Risk:
    """Say what a release tells about its people, by attacking it and comparing with the originals.

    **For your eyes.** The figures are computed from the original locations: they are averages over people and hold no
    location, but the guarantee does not cover them. `geotracs.risk` says the same of made-up people, from public
    information only. See `Risk` for the attacks.

    Parameters
    ----------
    tracks : GeoDataFrame
        The originals: points.
    private : GeoDataFrame
        What `perturb` returned for them, with ``time``.
    person : str, optional
        Column of the originals that says whose rows they are; by default the trajectory column of the release.
    speed, stay, cells
        What the attacker takes for granted; see `geotracs.reconstruct`.
    within : float
        A distance in metres: how likely is a guess that near?
    known : int
        How many places and times of a person somebody knows who looks for their track.
    domain, round_to, prior, weight
        Public layers of the release, as they were given to `perturb`, if its record does not hold them.

    Returns
    -------
    Risk
        Marked as made from private data.

    Notes
    -----
    Homes are looked for from 22 to 6 and places of work from 9 to 17 o'clock, by the times as they are in the column:
    bring them to local time first. Of more than 20,000 rows those of some people are attacked.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=6, seed=1)
    >>> box = city.boundary.total_bounds
    >>> private = city.tracks.tracs.perturb(8, domain=box, trajectory="person", time="t", keep=[])
    >>> found = city.tracks.tracs.risk(private, speed=12, cells=32)
    >>> found.private, bool(found["tracking"] < found["report"])
    (True, True)
    """
    asked = _Asked(speed, stay, within, known, cells)
    layers = {"domain": domain, "round_to": round_to, "prior": prior, "weight": weight}
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        case = _case(tracks, private, person, asked, layers)
        return Risk.of(attacks(case), _setting(case), private=True)


def case(tracks: gpd.GeoDataFrame, private: gpd.GeoDataFrame, **layers: Any) -> Attacked:
    """Return a release and the truth behind it, for an attacker who takes what is usual for granted."""
    return _case(tracks, private, None, _Asked(SPEED, 0.3, WITHIN, 4, 64), layers)


@dataclass(frozen=True)
class _Asked:
    """The numbers that were asked for, checked; `geotracs.reconstruct` checks the others."""

    speed: float
    stay: float
    within: float
    known: int
    cells: int

    def __post_init__(self) -> None:
        _number("speed", self.speed, "a finite number of metres per second, greater than 0, such as 15")
        _number("within", self.within, "a distance in metres, greater than 0")
        _count("known", self.known, 1)
        _count("cells", self.cells, 8)
        if _number("stay", self.stay, "a probability between 0 and 1, such as 0.3") >= 1:
            raise InputError(f"`stay` must be a probability between 0 and 1, such as 0.3, got {quoted(self.stay)}.")


def _case(
    tracks: gpd.GeoDataFrame, private: gpd.GeoDataFrame, person: str | None, asked: _Asked, layers: dict[str, Any]
) -> Attacked:
    """Return a release and the truth behind it, row by row."""
    frames.check(tracks, "original frame")
    frames.check(private, "perturbed frame")
    if recorded(tracks.attrs) and not recorded(private.attrs):
        raise InputError("The first frame carries the record of a perturbation and the second none: swap them.")
    guarantee = Guarantee.from_attrs(private.attrs)
    tracks, private = aligned(*_drawn(tracks, private))
    if guarantee.time is None or not (private.geom_type == "Point").all():
        raise InputError(
            "This release has no times on record, without which nobody can be followed; release points with "
            "perturb(..., time=...)."
        )
    labels = _people(tracks, guarantee, person)
    rows = _some(labels, guarantee)
    tracks, private, labels = tracks[rows], private[rows], labels[rows]
    reader = Reader.of(private, **layers)
    order = slice(None) if reader.tracks.order is None else reader.tracks.order
    truth = crs_.transform(shapely.get_coordinates(tracks.geometry.values), tracks.crs, reader.region.crs)[order]
    times = private[guarantee.time]
    hour = times.dt.hour.to_numpy()[order] if pd.api.types.is_datetime64_any_dtype(times) else None
    numbers = {name: getattr(asked, name) for name in ("speed", "stay", "within", "known", "cells")}
    truth = np.ascontiguousarray(truth)
    return Attacked(private, reader, truth, labels[order], hour, **numbers, layers=layers)


def _drawn(tracks: gpd.GeoDataFrame, private: gpd.GeoDataFrame) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
    """Return both without the rows of a release that were filled in: an attacker computes these, too."""
    if not has_filled(private):
        return tracks, private
    tracks, private = aligned(tracks, private)
    return tracks[drawn_rows(private)], drawn(private)


def _people(tracks: gpd.GeoDataFrame, guarantee: Guarantee, person: str | None) -> np.ndarray:
    """Return the number of each row's person; raise if there are few."""
    column = guarantee.trajectory if person is None else person
    if column is None:
        raise InputError("Nothing says whose rows these are; name the column of the originals with `person`.")
    columns_.check(tracks, [column])
    codes, labels = pd.factorize(tracks[column])
    if (codes < 0).any():
        raise InputError(f"{np.count_nonzero(codes < 0)} row(s) have no label in the column {column!r}; fill them in.")
    if len(labels) < MIN_PEOPLE:
        raise InputError(
            f"The risk is an average over people, of whom there must be {MIN_PEOPLE} at least; the column {column!r} "
            f"has {len(labels)}. Name the column that tells them apart with `person`, or use geotracs.risk, which "
            "makes people up."
        )
    return codes


def _some(labels: np.ndarray, guarantee: Guarantee) -> np.ndarray:
    """Return which rows are attacked: all, or those of some people, where the rows of others are not needed."""
    looks_back = guarantee.method in ("tracs-d", "strawman", "ngram", "atp")
    most = MAX_LOOKING_BACK if looks_back else MAX_ROWS
    if len(labels) <= most or guarantee.unit != "location" or guarantee.column is not None:
        return np.ones(len(labels), dtype=bool)
    counts = np.bincount(labels)
    order = made_up(0).permutation(len(counts))
    few = max(MIN_PEOPLE, int(np.searchsorted(np.cumsum(counts[order]), most, side="right")))
    return np.isin(labels, order[:few])


def _setting(case: Attacked) -> dict[str, Any]:
    """Return what was attacked, in plain values."""
    record = recorded(case.frame.attrs)
    return {
        "release": caption(record),
        "method": record["method"],
        "epsilon": record["epsilon"],
        "unit": record.get("unit", "location"),
        "people": len(np.unique(case.person)),
        "locations": len(case.truth),
        "speed": float(case.speed),
        "stay": float(case.stay),
        "within": float(case.within),
        "known": int(case.known),
    }


def _number(name: str, value: Any, what: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise InputError(f"`{name}` must be {what}, got {quoted(value)}.")
    return float(value)


def _count(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"`{name}` must be a whole number of at least {least}, got {quoted(value)}.")
    return int(value)
