"""The table of mechanisms: methods agree with what they are made of, and it says what the docs say."""

import numpy as np
import pytest

from geotracs.core.budget import split
from geotracs.core.charts import Polar
from geotracs.core.mechanisms.named import NAMED, make
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.experiments import mechanisms
from geotracs.experiments.setups import UNIT_SQUARE


@pytest.fixture(scope="module")
def alone():
    return mechanisms.on_the_unit()


def test_the_papers_mechanism_has_the_smallest_mean_error(alone):
    """On both domains and at every epsilon of the table; R-SW ties with it at epsilon 1."""
    table = alone.pivot(index=["space", "epsilon"], columns="mechanism", values="mean")
    assert np.all(table.drop(columns=["ogpm"]).min(axis=1) >= table["ogpm"] * (1 - 2e-3))


def test_the_enlarged_domains_have_the_smaller_worst_error(alone):
    here = alone[alone["space"] == "interval"].pivot(index="epsilon", columns="mechanism", values="worst")
    assert np.all(here["pm"][2.0:] < here["ogpm"][2.0:])
    assert here["sw"][1.0] < here["ogpm"][1.0]


def test_worst_is_no_better_than_the_mean(alone):
    assert np.all(alone["worst"] >= alone["mean"] * (1 - 1e-9))


def test_sectors_by_quadrature():
    mechanism = Sectors(4.0, 6)
    y = (np.arange(60_000) + 0.5) / 60_000
    errors = [
        np.mean(mechanism.density(y, x) * np.minimum(np.abs(y - x), 1 - np.abs(y - x))) for x in np.linspace(0, 1, 601)
    ]
    mean, worst = mechanisms._sectors(4.0, 6)
    assert np.mean(errors) == pytest.approx(mean, rel=5e-3)
    assert np.max(errors) == pytest.approx(worst, rel=1e-3)


def composed(method, name, eps):
    """A method from its parts: both axes with half of epsilon each; or direction, then distance from the centre."""
    first, rest = split(eps, 0.5 if method == "tracs-c" else np.pi / (np.pi + 1))
    axes = [make(name, float(first), periodic=method == "tracs-d"), make(name, float(rest))]
    chart = Polar(UNIT_SQUARE.centre, UNIT_SQUARE.half_planes) if method == "tracs-d" else UNIT_SQUARE.chart

    def report(xy, rng):
        unit = np.minimum(chart.to_unit(xy), 1)
        return chart.from_unit(np.column_stack([m.apply(unit[:, i], m.draw(len(xy), rng)) for i, m in enumerate(axes)]))

    return report


def test_methods_are_composed_of_their_mechanisms():
    """Within 5 standard errors of reports that are put together from the mechanisms, all seen from the centre."""
    asked = {"epsilons": [4.0], "names": ["ogpm", "pm"]}
    ours, other = mechanisms.in_the_square(**asked), mechanisms.in_the_square(**asked, factory=composed)
    apart = np.abs(ours["mean"].to_numpy() - other["mean"].to_numpy())
    assert np.all(apart < 5 * np.hypot(ours["se"].to_numpy(), other["se"].to_numpy()))
    assert ours["worst"].to_numpy() == pytest.approx(other["worst"].to_numpy(), rel=0.05)


def test_remarks_and_tables(alone):
    assert list(mechanisms.remarks().index) == list(NAMED)
    lines = mechanisms.markdown(alone, "circle").split("\n")
    assert len(lines) == 2 + len(mechanisms.NAMES) + len(mechanisms.SECTORS)
    assert all(line.count("|") == 8 for line in lines)
