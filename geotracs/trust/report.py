"""A report on a release for whoever answers for it: what is promised, what is left, what was checked."""

import hashlib
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.answers.reader as readers
import geotracs.core.digest as digest
import geotracs.geo.region as regions
import geotracs.geo.tracks as frames
import geotracs.io.files as files
import geotracs.trust.report_checks as checks
import geotracs.trust.report_map as maps
import geotracs.trust.report_words as words
from geotracs.core.following import SPEED
from geotracs.core.guarantee import Guarantee, caption
from geotracs.core.notions import Metric
from geotracs.errors import InputError, sealed
from geotracs.geo.filling import drawn
from geotracs.geo.schedule import FILLED
from geotracs.trust.findings import Audit
from geotracs.trust.ledger import Ledger
from geotracs.trust.report_points import points
from geotracs.trust.report_result import Report, check_path
from geotracs.trust.report_sums import Spent
from geotracs.trust.risk_result import Risk
from geotracs.utility.compare import standing

PLACE = "place"
"""The usual name of the column with the labels of places."""
FORMAT = 1
"""The version of what `Report.to_dict` returns."""
PACKAGES = ("geopandas", "numpy", "pandas", "pyproj", "shapely", "cryptography")


@sealed
def report(
    private: gpd.GeoDataFrame | str | Path,
    path: str | Path | None = None,
    *,
    person: str | None = None,
    period: str = "1D",
    ledger: Ledger | None = None,
    data: str | None = None,
    risk: Risk | bool = True,
    audit: Audit | bool = True,
    speed: float = SPEED,
    domain: Any = None,
    round_to: Any = None,
    prior: Any = None,
    weight: str | None = None,
    title: str | None = None,
    overwrite: bool = False,
) -> Report:
    """Make a report on a release, for a privacy officer: one page that says what is promised, and what is left.

    It is computed from the release and public information only, and says so; unless a ``risk`` is given that was
    computed from the originals, which makes it confidential. It holds no original location.

    Parameters
    ----------
    private : GeoDataFrame or path
        What `perturb` returned, or a file of it that keeps the record (GeoParquet, GeoPackage).
    path : path, optional
        Where to write the report: a page (.html) that needs nothing else, or JSON (.json). Both: `Report.write`.
    person : str, optional
        Column of the release that says whose rows they are, to add up epsilons of persons.
    period : str
        A duration, to add them up within it: "1D" is a day, as the time column counts them.
    ledger, data : Ledger, str, optional
        What was spent so far, on all data and on those of this name.
    risk : Risk or bool
        What attackers find. By default made-up people in the same region, with the same method and as many reports as
        often, are attacked; False leaves this out. Or the result of `geotracs.risk` or ``tracks.tracs.risk(private)``.
    audit : Audit or bool
        The audit of the method. By default a quick one is made; False leaves it out. Or the result of
        `geotracs.audit`.
    speed : float
        How fast people are at most, in metres per second, for the attacks.
    domain, round_to, prior, weight
        Public layers of the release, as they were given to `perturb`, if its record does not hold them.
    title : str, optional
        The heading.
    overwrite : bool
        Whether to replace a file that is there.

    Returns
    -------
    Report
        With `to_dict`, `to_html` and `write`.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=5, seed=1)
    >>> box = city.boundary.total_bounds
    >>> private = city.tracks.tracs.perturb(4, domain=box, trajectory="person", time="t", keep=[])
    >>> found = private.tracs.report(person="person", risk=False, audit=False)
    >>> [(row["of"], row["largest"]) for row in found.to_dict()["epsilon"]][:2]
    [('one report', 4.0), ('a trajectory', 756.0)]
    """
    target = None if path is None else check_path(path, overwrite=overwrite)
    checks.check_given(ledger, data, risk, audit)
    whole, file = _read(private)
    guarantee = Guarantee.from_attrs(whole.attrs)
    stands, frame = _checked(whole, guarantee), drawn(whole)
    layers = {"domain": domain, "round_to": round_to, "prior": prior, "weight": weight}
    tracks, eps = readers.spent(frame, guarantee, stands)
    person = person or guarantee.person or guarantee.repeat.get("person")
    spent = Spent(frame, guarantee, tracks, eps)
    public = checks.Public.of(frame, guarantee, spent, layers)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "title": title or f"Privacy report: {caption(guarantee.to_attrs())}",
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "release": _release(whole, spent, stands, file),
        "method": _method(guarantee),
        "region": _region(guarantee, public.region),
        "guarantee": str(guarantee),
        "estimated": dict(guarantee.risk),
        "epsilon": [sums.to_dict() for sums in spent.table(person, period)],
        "trust": words.trust(guarantee),
        "not_protected": words.not_protected(guarantee),
        "risk": checks.attacked(public, risk, speed),
        "spent": checks.charged(ledger, data),
        "audit": checks.audited(public, audit),
        "versions": _versions(guarantee),
    }
    facts["confidential"] = facts["risk"]["source"] == "originals"
    facts["points"] = points(guarantee, facts)
    facts["summary"] = words.summary(guarantee, facts)
    made = Report(facts, _picture(public.region, facts["risk"], guarantee))
    if target is not None:
        made.write(target, overwrite=overwrite)
    return made


def _read(private: Any) -> tuple[gpd.GeoDataFrame, dict[str, str]]:
    """Return a release, and which file it is."""
    if not isinstance(private, (str, Path)):
        frames.check(private, "release")
        return private, {}
    path, _ = files.located(private)
    frame = files.read(private)
    if path.is_dir():
        return frame, {"file": path.name}
    with path.open("rb") as opened:
        return frame, {"file": path.name, "sha256": hashlib.file_digest(opened, "sha256").hexdigest()}


def _checked(frame: gpd.GeoDataFrame, guarantee: Guarantee) -> str:
    """Return whether a frame holds what its record describes; raise if it does not."""
    if guarantee.answer:
        raise InputError(
            "This frame was computed from a release and is not the release itself; report on the frame that perturb() "
            "returned."
        )
    stands = standing(frame)
    if stands == digest.OTHER:
        raise InputError(
            "The locations of this frame are not those that perturb() returned, which its record describes, so that no "
            "report can be made: the promise is about others. Use the frame that perturb() returned."
        )
    return stands


def _release(whole: gpd.GeoDataFrame, spent: Spent, stands: str, file: dict[str, str]) -> dict[str, Any]:
    frame, guarantee = spent.frame, spent.guarantee
    known = [FILLED, guarantee.trajectory, guarantee.time, guarantee.column, guarantee.person, *guarantee.kept]
    others = [str(name) for name in frame.columns if name != frame.active_geometry_name]
    return {
        "rows": len(whole),
        "filled": len(whole) - len(frame),
        "locations": len(spent.tracks.xy),
        "trajectories": len(spent.tracks.lengths),
        "longest": int(spent.tracks.lengths.max()),
        "columns": others,
        "added": [name for name in others if name not in map(str, known) and not _is_place(frame, name, guarantee)],
        "alone_by_time": _alone(spent),
        "standing": stands,
        "standing_words": words.STANDS[stands],
        "fingerprint": {name: (guarantee.digest or {}).get(name) for name in ("count", "sum")},
        "sha256_of_locations": _sha256(whole),
        **file,
    }


def _is_place(frame: gpd.GeoDataFrame, name: str, guarantee: Guarantee) -> bool:
    """Return whether a column tells of the places to which reports were rounded: then reports of one place agree."""
    if guarantee.places is None or isinstance(frame[name].dtype, gpd.array.GeometryDtype):
        return False
    place = pd.factorize(shapely.to_wkb(np.asarray(frame.geometry.values)))[0]
    both = pd.DataFrame({"place": place, "value": frame[name].to_numpy()}).drop_duplicates()
    return name == PLACE or (len(both) == len(np.unique(place)) and len(frame) >= 2 * len(both))


def _alone(spent: Spent) -> float | None:
    """Return the share of trajectories that begin when no other does; None without times."""
    time, lengths = spent.guarantee.time, spent.tracks.lengths
    if time is None or len(lengths) < 2:
        return None
    first = np.append(0, np.cumsum(lengths)[:-1])
    begins = frames.seconds(spent.frame, time)[spent.tracks.rows[first]]
    _, which, counts = np.unique(begins, return_inverse=True, return_counts=True)
    return float((counts[which] == 1).mean())


def _sha256(frame: gpd.GeoDataFrame) -> str:
    """Return a digest of the released locations in their order."""
    xy = shapely.get_coordinates(np.asarray(frame.geometry.values))
    return hashlib.sha256(np.ascontiguousarray(xy, dtype="<f8").tobytes()).hexdigest()


def _method(guarantee: Guarantee) -> dict[str, Any]:
    metric = Metric.read(guarantee.privacy)
    return {
        "name": guarantee.method,
        "caption": caption(guarantee.to_attrs()),
        "epsilon": guarantee.epsilon,
        "unit": guarantee.unit,
        "shares": dict(guarantee.shares),
        "options": dict(guarantee.options),
        "privacy": dict(guarantee.privacy),
        "metric": None if metric is None else metric.radius,
        "over": guarantee.over,
        "caveat": guarantee.caveat,
        "remapped": bool((guarantee.remap or {}).get("kept")),
        "places": guarantee.places,
        "reproducible": guarantee.reproducible,
    }


def _region(guarantee: Guarantee, region: regions.Region | None) -> dict[str, Any]:
    known = guarantee.domain
    said: dict[str, Any] = {
        name: known[name] for name in ("bounds", "centre", "radius", "crs", "fit", "prior") if name in known
    }
    size: dict[str, Any] = {} if region is None or guarantee.fitted else maps.extent(region)
    return {"kind": known.get("kind"), "fitted": guarantee.fitted, **said, **size}


def _picture(region: regions.Region | None, risk: Mapping[str, Any], guarantee: Guarantee) -> str:
    """Return the map of the region; none of one that was fitted to the data, whose extent is private."""
    if region is None or guarantee.fitted:
        return ""
    figures = risk.get("figures", {})
    return maps.svg(region, [(name, figures[name]["value"]) for name in ("report", "tracking") if name in figures])


def _versions(guarantee: Guarantee) -> dict[str, str]:
    own = {"release": guarantee.version, "geotracs": version("geotracs"), "python": platform.python_version()}
    return own | {name: version(name) for name in PACKAGES}
