"""The page of a report: one file that needs nothing else, for screens, phones and paper."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from geotracs.core.budget import LARGEST
from geotracs.trust.report_words import WORDS, metres

METRES = "metres"


def page(facts: Mapping[str, Any], picture: str) -> str:
    """Return the page that says the facts of a report; whatever is in them is text there.

    Parameters
    ----------
    facts : dict
        See `geotracs.trust.report_result.Report`.
    picture : str
        SVG of our own.
    """
    text = files("geotracs.trust").joinpath("assets", "report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"eps": _eps, "figure": _figure, "beside": _beside}
    return environment.from_string(text).render(facts, picture=Markup(picture), glossary=WORDS, metres=metres)


def _eps(value: float | None) -> str:
    """Return an epsilon in a table.

    >>> _eps(4.0), _eps(1234.5), _eps(None)
    ('4', '1,234.5', 'not known')
    """
    return "not known" if value is None else f"{value:,.6g}" if value < LARGEST else f"{value:,.9g}"


def _figure(one: Mapping[str, Any], name: str) -> str:
    """Return a figure of an attack with its unit."""
    value = one[name]
    if value is None:
        return "not known"
    return metres(value) if one["measure"] == METRES else f"{value:.0%}"


def _beside(one: Mapping[str, Any]) -> str:
    """Return how a figure compares with its baseline, in words.

    >>> _beside({"measure": "metres", "value": 200.0, "baseline": 1000.0})
    '5 times nearer'
    >>> _beside({"measure": "probability", "value": 0.05, "baseline": 0.05})
    'no better than a guess'
    """
    value, guess = one["value"], one["baseline"]
    if not value or not guess:
        return ""
    factor = guess / value if one["measure"] == METRES else value / guess
    if factor < 1.1:
        return "no better than a guess"
    return f"{factor:.2g} times {'nearer' if one['measure'] == METRES else 'as often'}"
