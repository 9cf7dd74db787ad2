"""What has to be decided before a release is published, and what has to be known: the rules of a report."""

from collections.abc import Iterator, Mapping
from typing import Any

import geotracs.core.digest as digest
from geotracs.core.following import DENSE
from geotracs.core.guarantee import Guarantee
from geotracs.core.notions import Metric
from geotracs.trust.report_sums import MUCH
from geotracs.trust.report_words import metres

DECIDE, KNOW = "decide", "know"
LITTLE = 10.0
"""Up to this epsilon a single report is protected in earnest."""
Point = dict[str, str]


def points(guarantee: Guarantee, facts: Mapping[str, Any]) -> list[Point]:
    """Return what to decide, and then what to know."""
    found = [
        *_of_record(guarantee),
        *_of_release(facts["release"]),
        *_of_sums(facts["epsilon"]),
        *_of_risk(facts["risk"]),
        *_of_checks(facts),
    ]
    return sorted(found, key=lambda point: point["kind"] != DECIDE)


def _of_record(guarantee: Guarantee) -> Iterator[Point]:
    if guarantee.fitted:
        yield _decide("The region was fitted to the originals and gives their extent away. Take a public one.")
    if guarantee.reproducible:
        yield _decide("The draws have a fixed seed: whoever learns it undoes the release. Make one without a seed.")
    metric = Metric.read(guarantee.privacy)
    if metric is not None:
        yield _decide(
            "The promise is metric privacy, which is weaker: it hides where somebody was among places about "
            f"{metric.radius:g} m apart, not in which part of the region."
        )
    if guarantee.kept:
        names = ", ".join(map(str, guarantee.kept))
        yield _decide(f"The kept columns ({names}) are published unchanged. Do they tell who or where?")


def _of_release(release: Mapping[str, Any]) -> Iterator[Point]:
    if release["added"]:
        names = ", ".join(release["added"])
        yield _decide(f"These columns are not on record, and nobody has checked them: {names}. Drop them or be sure.")
    if release["standing"] != digest.SAME:
        yield _know(release["standing_words"])
    alone = release["alone_by_time"]
    if alone:
        yield _know(f"{alone:.0%} of trajectories begin when no other does: their times alone tell them apart.")


def _of_sums(sums: list[dict[str, Any]]) -> Iterator[Point]:
    one, *others = (row for row in sums if row["largest"] is not None)
    if one["largest"] > LITTLE:
        yield _decide(f"Epsilon {one['largest']:g} for one report is large: it may tell almost everything.")
    much = [row for row in others if row["largest"] > MUCH]
    if much:
        row = min(much, key=lambda row: float(row["largest"]))
        yield _decide(
            f"Epsilon adds up to {row['largest']:,g} for {row['of']}. So large a sum proves nothing about the whole: "
            "only the figures in metres say what is left."
        )


def _of_risk(risk: Mapping[str, Any]) -> Iterator[Point]:
    if risk["source"] == "none":
        yield _decide(f"No attack was made. {risk['why_not']}")
        return
    figures = risk["figures"]
    report, tracking, home = (figures.get(name) for name in ("report", "tracking", "home"))
    if report and tracking and tracking["value"] < DENSE * report["value"]:
        yield _decide(
            f"Reports follow each other so quickly that their noise averages out: a person is found to "
            f"{metres(tracking['value'])}, while a report is {metres(report['value'])} off. Release fewer moments, or "
            "one epsilon for each trajectory."
        )
    if home and home["value"] < DENSE * home["baseline"]:
        yield _decide(f"Homes are found to {metres(home['value'])} on average, by the reports of nights.")
    for name, who in (
        ("known points", "Whoever knows some places and times of a person"),
        ("two releases", "Whoever has two releases of the same people"),
    ):
        one = figures.get(name)
        if one and one["low"] > one["baseline"]:
            yield _decide(f"{who} finds their track in {one['value']:.0%} of cases (by chance {one['baseline']:.0%}).")


def _of_checks(facts: Mapping[str, Any]) -> Iterator[Point]:
    audit, spent, versions = facts["audit"], facts["spent"], facts["versions"]
    if audit["done"] and not audit["passed"]:
        yield _decide(f"The audit found that the promise is broken: {audit['verdict']}. Do not publish.")
    elif not audit["done"] or not audit["conclusive"]:
        yield _know(audit["words"])
    if not spent["known"]:
        yield _know(spent["words"])
    elif not spent["entered"]:
        yield _decide(f"The ledger has no entry for {spent['data']!r}: this release was not charged.")
    elif spent["left"] is not None and spent["left"] <= 0:
        yield _know("Somebody's budget in the ledger is spent: there can be no other release of them.")
    if versions["release"] != versions["geotracs"]:
        yield _know("The release was made by another version of geotracs than this report.")


def _decide(words: str) -> Point:
    return {"kind": DECIDE, "words": words}


def _know(words: str) -> Point:
    return {"kind": KNOW, "words": words}
