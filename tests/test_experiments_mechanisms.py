"""The table of mechanisms: what it is made of agrees with the methods themselves, and says what the docs say."""

import numpy as np
import pytest

import geotracs.core.methods as methods
from geotracs.core.mechanisms.named import NAMED
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


@pytest.mark.parametrize("name", ["tracs-c", "tracs-d"])
def test_the_compositions_are_the_methods(name):
    """Within 5 standard errors of the product's own reports, all locations from the centre."""

    def method(window, eps):
        channel = methods.make(name, {"window": window}).on(UNIT_SQUARE)
        return lambda xy, rng: channel.sample(xy.copy(order="F"), np.arange(len(xy) + 1), eps, rng).xy

    ours = mechanisms.in_the_square(epsilons=[4.0], names=["ogpm", "r-sw"]).query("space == @name")
    product = mechanisms.in_the_square({name: method}, epsilons=[4.0], names=["ogpm", "r-sw"])
    apart = np.abs(ours["mean"].to_numpy() - product["mean"].to_numpy())
    assert np.all(apart < 5 * np.hypot(ours["se"].to_numpy(), product["se"].to_numpy()))
    assert ours["worst"].to_numpy() == pytest.approx(product["worst"].to_numpy(), rel=0.05)


def test_remarks_and_tables(alone):
    assert list(mechanisms.remarks().index) == list(NAMED)
    lines = mechanisms.markdown(alone, "circle").split("\n")
    assert len(lines) == 2 + len(mechanisms.NAMES) + len(mechanisms.SECTORS)
    assert all(line.count("|") == 8 for line in lines)
