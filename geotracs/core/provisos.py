"""Sentences of a guarantee about what it does not cover: rows that share a report, and rows that were chosen."""

from collections.abc import Mapping, Sequence
from numbers import Real
from types import NoneType
from typing import Any


def repeated(record: Mapping[str, Any]) -> str:
    """Return what it means that the rows of a person in a cell share one report.

    >>> "cell of 200 m share one report" in repeated({"cell": 200.0, "person": "who"})
    True
    """
    column = record.get("person")
    whose = "all rows are one person's" if column is None else f"people by the column {column!r}"
    return (
        f"Reports are repeated: the rows of one person ({whose}) in one cell of {record['cell']:.12g} m share one "
        "report, drawn once from the middle of the cell, so that averaging over a stay finds nothing more, and a "
        "person has this epsilon for each distinct cell instead of each row. Not protected: which rows of a person are "
        "at the same place, and how many places there are; whoever knows where one of these rows was knows it of all."
    )


def prepared(marks: Sequence[Mapping[str, Any]]) -> str:
    """Return what it means that rows were chosen before the draw.

    >>> prepared([{"step": "coarsen_time", "places": False}])
    'Before the draw the rows were prepared by their times and order only (coarsen_time), which needs no place.'
    """
    looked = list(dict.fromkeys(mark["step"] for mark in marks if mark["places"]))
    steps = ", ".join(looked or dict.fromkeys(mark["step"] for mark in marks))
    if not looked:
        return f"Before the draw the rows were prepared by their times and order only ({steps}), which needs no place."
    return (
        f"Before the draw the rows were prepared by where somebody was, at several moments or beside private areas "
        f"({steps}): which rows there are, and how they are grouped, may tell of places, and this guarantee does not "
        "cover that."
    )


def are_right(repeat: Mapping[str, Any], marks: Any) -> bool:
    """Return whether a record of repeats and marks of preparations are ours; files come from anybody.

    >>> are_right({"cell": 200.0, "person": None}, []), are_right({"cell": "wide"}, [])
    (True, False)
    """
    if repeat and not (isinstance(repeat.get("cell"), Real) and isinstance(repeat.get("person"), (str, int, NoneType))):
        return False
    return are_marks(marks)


def are_marks(marks: Any) -> bool:
    """Return whether these are marks of preparations.

    >>> are_marks([{"step": "trim", "places": True}]), are_marks([1])
    (True, False)
    """
    return (
        isinstance(marks, Sequence)
        and not isinstance(marks, str)
        and all(
            isinstance(mark, Mapping) and isinstance(mark.get("step"), str) and isinstance(mark.get("places"), bool)
            for mark in marks
        )
    )
