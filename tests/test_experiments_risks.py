"""The table of risks, on little: measured figures within 20%, and the closed form beside simulations."""

import pytest

import geotracs.experiments.risks as risks
from geotracs.experiments.tracking import dense_tracks


@pytest.mark.slow
def test_attacks_find_what_was_measured():
    table = risks.figures(seeds=1, people=6, minutes=20)
    measured = table.dropna(subset="measured")
    assert len(measured) == len(risks.MEASURED) == 6
    assert measured["ratio"].between(0.8, 1.2).all(), measured


@pytest.mark.slow
def test_the_closed_form_is_near_simulations():
    table = risks.estimates((4, 8), (10, 100, 1000), trips=5, reports=60)
    assert table["ratio"].between(0.6, 1.5).all(), table
    ours = table["estimated"] < table["report"] / 3
    theirs = table["simulated"] < table["report"] / 3
    assert (ours == theirs).mean() > 0.8


def test_traces_warn_and_check_ins_do_not():
    assert risks.warns(dense_tracks(5, 5)[0], 8, 30_000.0)
    assert not risks.warns(risks.check_ins(5), 8, 30_000.0)
