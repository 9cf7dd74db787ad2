"""Pictures of risk: what they draw, and that they say what they were computed from."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import geotracs
from geotracs.errors import InputError

ROW = {"epsilon": 4.0, "per_hour": 60.0, "report": 5000.0, "attacker": 900.0, "low": 800.0, "high": 999.0}


def test_curves_have_an_axis_each_and_the_same_scale():
    rows = [ROW | {"along": along, "baseline": 9000.0} for along in ("epsilon", "pace")]
    more = [row | {"epsilon": 8.0, "per_hour": 6.0, "report": 2000.0} for row in rows]
    axes = geotracs.plots.risk(pd.DataFrame(rows + more))
    assert [ax.get_xscale() for ax in axes] == ["log", "log"]
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == [
        "guess without the release",
        "a report",
        "an attacker who follows a person",
    ]
    assert axes[0].lines[1].get_ydata().tolist() == [5000, 2000]
    plt.close("all")


def test_probabilities_are_not_drawn_as_metres():
    rows = [{"measure": "metres", "value": 9.0}, {"measure": "probability", "value": 0.5}]
    table = pd.DataFrame(
        [row | {"low": 1.0, "high": 10.0, "baseline": 20.0} for row in rows], index=["report", "linkage"]
    )
    ax = geotracs.plots.attacks(table)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["report"]
    plt.close("all")


@pytest.mark.parametrize("draw", [geotracs.plots.risk, geotracs.plots.attacks])
def test_other_frames_raise(draw):
    with pytest.raises(InputError, match="lacks the column"):
        draw(pd.DataFrame({"x": [1]}))
