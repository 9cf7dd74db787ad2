"""What a report says of attackers, of the ledger and of the audit: made here from public things, or given."""

import math
from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np

import geotracs.geo.layers as layers
import geotracs.geo.region as regions
import geotracs.geo.tracks as frames
import geotracs.release.again as again
from geotracs.core.guarantee import Guarantee
from geotracs.errors import GeotracsWarning, InputError, quoted, warn
from geotracs.io.progress import step
from geotracs.release.repeats import SAME
from geotracs.trust.audit import audit
from geotracs.trust.findings import NOT_A_PROOF, Audit
from geotracs.trust.ledger import OF_ALL, Ledger
from geotracs.trust.report_sums import Spent
from geotracs.trust.report_words import GROUPS, QUESTIONS
from geotracs.trust.risk import risk
from geotracs.trust.risk_result import Risk

QUICK: dict[str, Any] = {"checks": ["exact", "draws"], "draws": 100_000, "pairs": 1, "rng": 0}
"""How a method is audited for a report: quickly; `geotracs.audit` takes its time."""
PEOPLE, FEWEST, MOST, CELLS = 20, 8, 240, 64
"""How many people are made up, how many reports each has, at least and at most, and how finely they are looked for."""
LEFT_OUT = "It was left out of this report."


@dataclass(frozen=True, eq=False, repr=False)
class Public:
    """The public things of a release, as far as they are known: what attackers and audits need.

    Attributes
    ----------
    region : Region or None
        None if it is not known; ``why_not`` then says why.
    given : dict
        The region and places as arguments, with their CRS.
    """

    guarantee: Guarantee
    spent: Spent
    region: regions.Region | None
    given: dict[str, Any]
    why_not: str = ""

    @classmethod
    def of(cls, frame: gpd.GeoDataFrame, guarantee: Guarantee, spent: Spent, known: dict[str, Any]) -> "Public":
        """Return the public things of a release; a layer that is another one than on record raises."""
        try:
            setting = again.setting(guarantee, frame.crs, np.unique(spent.eps), **known)
        except InputError as error:
            if any(value is not None for value in known.values()):
                raise
            return cls(guarantee, spent, None, {}, str(error))
        record, crs = guarantee.domain, frame.crs
        domain = known["domain"]
        if domain is None:
            domain, crs = regions.from_record(dict(record), guarantee.layers), record.get("crs", crs)
        given = {"domain": domain, "crs": crs, "fit": record.get("fit", "envelope"), "weight": known["weight"]}
        for name, argument in (("places", "round_to"), ("prior", "prior")):
            given[name] = _layer(guarantee, name, known[argument])
        if known["prior"] is None and "weights" in guarantee.layers.get("prior", {}):
            given["weight"] = "weight"  # as an embedded layer calls it
        return cls(guarantee, spent, setting.region, given)

    @property
    def level(self) -> float:
        """The largest epsilon of a report."""
        return float(np.max(self.spent.eps))

    @property
    def typical(self) -> float:
        """The epsilon of a typical report: with a shared epsilon, its share."""
        return float(f"{np.median(self.spent.eps):.9g}")

    @property
    def fixes(self) -> int:
        """How many reports a person has: as many as the longest trajectory, or as is usual where epsilon is shared."""
        lengths = self.spent.tracks.lengths
        usual = lengths.max() if self.guarantee.unit == "location" else np.median(lengths)
        return int(np.clip(usual, FEWEST, MOST))

    @property
    def interval(self) -> float | None:
        """The usual number of seconds from report to report; None if there are no times, or all are the same."""
        time, tracks = self.guarantee.time, self.spent.tracks
        if time is None or tracks.are_lines:
            return None
        seconds = frames.seconds(self.spent.frame, time)[tracks.rows]
        begins = np.zeros(len(seconds), dtype=bool)
        begins[np.append(0, np.cumsum(tracks.lengths)[:-1])] = True
        gaps = np.diff(seconds, prepend=seconds[0])[~begins]
        gaps = gaps[gaps > 0]
        return float(np.median(gaps)) if len(gaps) else None

    def attack(self, speed: float, interval: float) -> Risk:
        """Attack made-up people in the same region, whose reports have the same epsilon each."""
        known, given = self.guarantee, self.given
        options = dict(known.options)
        if given["places"] is not None:
            options |= {"round_to": given["places"], "centroid": bool(known.layers.get("places", {}).get("centroid"))}
        if (known.remap or {}).get("kept"):
            options["remap"] = True
        if known.repeat:
            options |= {"repeat": SAME, "cell": known.repeat["cell"]}
        public = {name: given[name] for name in ("prior", "weight", "fit", "crs")}
        numbers: dict[str, Any] = {"interval": interval, "speed": speed, "fixes": self.fixes}
        numbers |= {"people": PEOPLE, "cells": CELLS}
        return risk(given["domain"], self.typical, method=known.method, **public, **numbers, **options)

    def check(self) -> Audit:
        """Audit the method quickly, at the largest epsilon of a report."""
        step("Auditing")
        given = self.given
        public = {name: given[name] for name in ("places", "fit", "crs")}
        return audit(self.guarantee.method, self.level, given["domain"], **public, **QUICK, **self.guarantee.options)


def _layer(guarantee: Guarantee, name: str, given: Any) -> Any:
    """Return a layer of the release: the one that is given, or the one on record; None if it had none."""
    if name not in guarantee.layers:
        return None
    return layers.restored(guarantee.layers[name]) if given is None else given


def check_given(ledger: Any, data: Any, risk: Any, audit: Any) -> None:
    """Raise for arguments that are none."""
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InputError(f"`ledger` must be a geotracs.Ledger, got {quoted(ledger)}.")
    if data is not None and (ledger is None or not isinstance(data, str)):
        raise InputError("`data` is the name of the data in a ledger; give it with `ledger`.")
    for name, value, kind in (("risk", risk, Risk), ("audit", audit, Audit)):
        if not isinstance(value, (bool, kind)):
            raise InputError(f"`{name}` must be True, False or what geotracs.{name} returned, got {quoted(value)}.")


def attacked(public: Public, given: Risk | bool, speed: float) -> dict[str, Any]:
    """Return what attackers find."""
    if isinstance(given, Risk):
        epsilon = given.setting.get("epsilon")
        same = epsilon in (public.guarantee.epsilon, public.typical)
        _check_same("risk", public.guarantee, given.setting.get("method"), None if same else epsilon)
        return _figures(given)
    if not given:
        return _no_attack(LEFT_OUT)
    interval = public.interval
    if interval is None:
        return _no_attack("The release has no times on record, without which nobody can be followed.")
    if public.region is None:
        return _missing("attack", public.why_not)
    try:
        return _figures(public.attack(speed, interval))
    except InputError as error:
        return _missing("attack", str(error))


def _figures(found: Risk) -> dict[str, Any]:
    rows = found.table.drop(columns="people").to_dict("index")
    figures = {str(name): {key: _plain(value) for key, value in row.items()} for name, row in rows.items()}
    for one in found.found:
        figures[one.attack]["words"] = found.in_words(one)
    groups = [
        {"name": name, "question": QUESTIONS[name], "attacks": [one for one in names if one in figures]}
        for name, names in GROUPS.items()
    ]
    source = "originals" if found.private else "made-up people"
    return {"source": source, "words": found.note, "setting": dict(found.setting), "groups": groups, "figures": figures}


def _no_attack(why: str) -> dict[str, Any]:
    return {"source": "none", "words": "No attack was made.", "why_not": why}


def _missing(what: str, why: str) -> dict[str, Any]:
    warn(f"The report holds no {what}: {why}", GeotracsWarning)
    return _no_attack(why)


def charged(ledger: Ledger | None, data: str | None) -> dict[str, Any]:
    """Return what was spent so far."""
    if ledger is None:
        said = "No ledger was given: nobody has counted here what other releases of the same people have spent."
        return {"known": False, "words": said}
    table = ledger.spent()
    rows = [
        {"data": str(name), **{key: _plain(value) for key, value in row.items()}}
        for name, row in table.to_dict("index").items()
    ]
    largest, left = (_plain(table.loc[OF_ALL, name]) for name in ("largest", "left"))
    per = "person" if ledger.per == "person" else "person and data"
    said = f"The ledger allows epsilon {ledger.budget:g} per {per}; the most that was spent on one is {largest or 0:g}."
    if data is not None and data not in table.index:
        said += f" Nothing is entered for {data!r}: this release was not charged."
    known = {"known": True, "budget": ledger.budget, "per": ledger.per, "largest": largest, "left": left, "data": data}
    return {**known, "rows": rows, "words": said, "entered": data is None or data in table.index}


def audited(public: Public, given: Audit | bool) -> dict[str, Any]:
    """Return what an audit found."""
    if isinstance(given, Audit):
        _check_same("audit", public.guarantee, given.subject, None if given.epsilon >= public.level else given.epsilon)
        return _audit(given, quick=False)
    if not given:
        return {"done": False, "words": f"No audit was made. {LEFT_OUT}"}
    if public.region is None:
        return {"done": False, "words": f"No audit was made. {public.why_not}"}
    try:
        return _audit(public.check(), quick=True)
    except InputError as error:
        return {"done": False, "words": f"No audit was made. {error}"}


def _audit(found: Audit, *, quick: bool) -> dict[str, Any]:
    kind = "A quick audit" if quick else "An audit"
    words = f"{kind} of the method gave: {found.verdict}."
    return {"done": True, "quick": quick, "words": words, **found.to_dict(), "remark": NOT_A_PROOF}


def _check_same(name: str, guarantee: Guarantee, method: Any, epsilon: Any) -> None:
    """Raise if a result is of another release."""
    if method != guarantee.method or epsilon is not None:
        raise InputError(
            f"`{name}` is about {quoted(method)}{'' if epsilon is None else f' at epsilon {epsilon:g}'}, and the "
            f"release was made by {guarantee.method!r} at epsilon {guarantee.epsilon:g}; give the one of this release."
        )


def _plain(value: Any) -> Any:
    """Return a number as JSON has it; what is not finite becomes None."""
    if isinstance(value, str):
        return value
    return float(value) if math.isfinite(value) else None
