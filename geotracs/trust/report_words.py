"""The sentences of a report, for readers who know neither epsilon nor geotracs."""

from collections.abc import Mapping
from typing import Any

import geotracs.core.digest as digest
import geotracs.core.provisos as provisos
from geotracs.core.guarantee import Guarantee
from geotracs.trust.report_sums import MUCH, sure

GROUPS = {
    "singling out": ("known points",),
    "linkability": ("two releases",),
    "inference": (
        "report", "averaging", "stay, median", "stay, posterior", "tracking", "home", "work", "within, report",
        "within, tracking",
    ),
}  # fmt: skip
"""The three questions that European data protection authorities ask of anonymised data, and the attacks on each."""
QUESTIONS = {
    "singling out": "Can one person's rows be picked out of the release?",
    "linkability": "Can rows of the same person be put together, across two releases?",
    "inference": "Can it be learned where somebody was?",
}
STANDS = {
    digest.SAME: "The locations are those that geotracs released, to the last digit.",
    digest.PART: "The locations are a part of those that geotracs released.",
    digest.UNKNOWN: (
        "Whether the locations are those that geotracs released cannot be checked: they are in another CRS, or the "
        "record has no fingerprint of them."
    ),
}
"""Whether a frame still holds what its record describes."""
WORDS = {
    "epsilon": "A number that says how much a report may tell. 0 is nothing; 1 is little, 4 is some, and 10 is much.",
    "report": "A location drawn at random that is published in place of the original, and is often far from it.",
    "region": "The public area within which everything happens. It is no secret, and must not be made from the data.",
    "trajectory": "The reports that the release shows as one journey or one person.",
    "without the release": "How well somebody guesses who has not seen it, and knows where people usually are.",
    "interval": "Where a figure would be with other people of the same kind, nine times out of ten.",
}
"""What words mean."""


def trust(guarantee: Guarantee) -> list[str]:
    """Return who has to be trusted with what."""
    seed = "The random numbers came from the operating system and were thrown away."
    if guarantee.reproducible:
        seed = "The random numbers came from a fixed seed: whoever learns it has the original locations."
    return [
        "Who has the originals: whoever made this release. Every location was replaced by a report on their machine, "
        "one by one and apart from those of other people, before anything was given away.",
        "Who need not be trusted: everybody who only gets the release. The promise holds whatever they know, whatever "
        "they combine it with, however fast their computers are, and in the future as well.",
        "What the promise rests on: that the software is the version named below, unchanged; that the region, places "
        "and other layers were public before; and that the originals are kept away from the release, or deleted. "
        + seed,
    ]


def not_protected(guarantee: Guarantee) -> list[str]:
    """Return what the promise does not cover."""
    found = []
    if guarantee.fitted:
        found.append("The extent of the originals: the region was fitted to them, and every report shows some of it.")
    if guarantee.time is not None:
        found.append(
            "Time stamps. They are published as they are: who knows when somebody was on the way may find their rows "
            "by the times alone."
        )
    if guarantee.column is not None:
        found.append(f"The column {guarantee.column}, which says the epsilon of each row.")
    if guarantee.kept:
        found.append(f"Kept columns, which are as in the originals: {', '.join(map(str, guarantee.kept))}.")
    if any(mark["places"] for mark in guarantee.prepared):
        found.append(provisos.prepared(guarantee.prepared))
    if guarantee.repeat:
        found.append("Which rows of a person are at the same place: they share one report, and everybody sees it.")
    return [
        *found,
        "That somebody is in the data at all, and how many locations they have.",
        "Labels of trajectories, and the index and the order of the rows.",
        "The sum: many reports of one person tell more than one. The table of epsilons and the attacks say how much.",
        "Another release of the same people. Its epsilon is added to this one.",
        "What is true of many people. That a street is busy on Mondays can be learned: that is what a release is for.",
    ]


def summary(guarantee: Guarantee, facts: Mapping[str, Any]) -> list[str]:
    """Return the most important things in a few sentences."""
    release, region = facts["release"], facts["region"]
    size = f", {region['width_km']:,g} by {region['height_km']:,g} km" if "width_km" in region else ""
    trajectories = f"{release['trajectories']:,} {'trajectory' if release['trajectories'] == 1 else 'trajectories'}"
    return [
        f"{release['locations']:,} locations of {trajectories} were replaced by reports drawn at random (method "
        f"{guarantee.method}) within a {'fitted' if guarantee.fitted else 'public'} region{size}.",
        f"One report: {_one_report(facts)}",
        f"One person, all reports together: {_one_person(facts['risk'].get('figures', {}))}",
        f"Checks: {facts['audit']['words']} {release['standing_words']} {facts['spent']['words']}",
    ]


def _one_report(facts: Mapping[str, Any]) -> str:
    eps, metric = facts["epsilon"][0]["largest"], facts["method"]["metric"]
    if eps > MUCH:
        return f"epsilon {eps:g}, which proves nothing that matters."
    among = "places of the region" if metric is None else f"places within {metric:g} m of each other"
    return (
        f"epsilon {eps:g}. Whoever held two {among} for equally likely is at most {sure(eps)} sure of one of "
        "them afterwards. That is proved, not measured."
    )


def _one_person(figures: Mapping[str, Any]) -> str:
    if not {"report", "tracking"} <= set(figures):
        return "not attacked here, so that nothing is known of it in metres."
    report, tracking = figures["report"], figures["tracking"]
    return (
        f"a report is {metres(report['value'])} off on average, and whoever follows a person from report to report "
        f"finds them to {metres(tracking['value'])}. Without the release a guess is {metres(tracking['baseline'])} off."
    )


def metres(value: float) -> str:
    """Return a distance in words: three digits.

    >>> metres(1234.5), metres(87.3), metres(23_456)
    ('1.23 km', '87 m', '23.5 km')
    """
    return f"{float(f'{value:.3g}') / 1000:g} km" if value >= 1000 else f"{value:.0f} m"
