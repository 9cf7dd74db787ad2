import geopandas as gpd
import numpy as np
import pytest

import geotracs.experiments.answers as answers
from geotracs import InputError
from geotracs.experiments.answers import City, coverage, divergences, made_up_city
from geotracs.experiments.channels import goodness


@pytest.mark.parametrize(
    ("name", "region"), [("joint", "rectangle"), ("k-rr", "rounded"), ("joint", "globe"), ("optimal", "polygon")]
)
def test_draws_are_what_the_density_of_a_channel_says(name, region):
    """64,000 draws; a correct channel is five standard deviations off once in a million cases or so."""
    [row] = goodness([name], [region], draws=64_000).itertuples()
    assert abs(row.ratio - 1) < 5 * row.by_chance
    assert row.total == pytest.approx(1, abs=0.005)


def test_methods_that_do_not_fit_a_region_have_no_row():
    assert goodness(["tracs-d"], ["globe"]).empty
    assert goodness(["nearest"], ["rectangle"]).empty


def test_estimates_are_nearer_to_the_truth_than_reports():
    [row] = divergences(made_up_city("line", 2000), (6.0,), reports=2000, cells=6, draws=1).itertuples()
    assert row.estimated < 0.7 * row.raw
    assert row.with_prior < row.prior


def test_intervals_hold_the_truth_and_are_narrower_than_the_share():
    [row] = coverage(made_up_city("two towns", 2000), (8.0,), reports=2000, cells=3, draws=2).itertuples()
    assert row.covered >= 0.85
    assert row.width < 1


def test_a_city_of_any_frame():
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy([11.0, 11.1, 11.1], [48.0, 48.1, 48.1]), crs=4326)
    city = City.of_frame("munich", frame)
    assert len(city.places) == 2
    assert np.ptp(city.box[1::2]) == pytest.approx(11_120, rel=0.05)
    assert city.shares(city.xy, 2).tolist() == pytest.approx([1 / 3, 0, 0, 2 / 3])
    with pytest.raises(InputError, match="no CRS"):
        City.of_frame("nowhere", frame.set_crs(None, allow_override=True))
    with pytest.raises(InputError, match="`kind` must be one of"):
        made_up_city("atlantis")


def test_the_command_prints_tables(capsys):
    answers.main(["--table", "coverage", "--cities", "line", "--draws", "1", "--reports", "500", "--epsilons", "8"])
    assert capsys.readouterr().out.count("| line | 8 | 500 | 4 |") == 1
