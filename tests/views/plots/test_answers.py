"""What is drawn of answers, read back from the axes; how it looks was looked at."""

import geopandas as gpd
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import shapely

from geotracs import CRSError, InputError, plots
from geotracs.views.plots.canvas import CAPTION, FIGURES
from tests.conftest import TOKYO
from tests.views import toys
from tests.views.test_plots import closed, words  # noqa: F401  (draws and closes all figures in the end)

pytestmark = pytest.mark.slow

mpl.use("Agg")


@pytest.fixture
def private(tracks):
    return toys.released(tracks, TOKYO)


@pytest.fixture
def estimate(tracks, private):
    return toys.density(toys.cells(TOKYO, 3), tracks, private)


@pytest.fixture
def found(tracks, private):
    return toys.reconstructed(tracks, private)


def zones_of(ax):
    """The colours of the drawn zones: the largest collection."""
    return max((part.get_facecolor() for part in ax.collections), key=len)


class TestDensity:
    def test_truth_reports_and_estimate_on_one_scale(self, tracks, private, estimate):
        axes = estimate.tracs.plot(private, truth=tracks)
        assert [ax.get_title() for ax in axes] == ["original", "reports", "estimated"]
        assert np.array_equal(zones_of(axes[0]), zones_of(axes[2])), "the toy's shares are the true ones"
        assert not np.array_equal(zones_of(axes[0]), zones_of(axes[1]))
        assert FIGURES in words(axes[0])
        assert "joint, epsilon 4 per location" in words(axes[0])
        unclear = int((estimate.share < 0.2).sum())
        assert f"{unclear} of 9 zones unclear" in axes[2].get_xlabel()
        assert len(axes[2].lines[0].get_xydata()) == unclear

    def test_an_estimate_alone_is_not_confidential(self, estimate):
        ax = plots.density(estimate, domain=TOKYO)
        assert "confidential" not in words(ax)
        assert plots.density(estimate, ax=ax, legend=False, cmap="viridis") is ax

    def test_places_and_nothing(self, tracks, private, estimate):
        spots = gpd.GeoDataFrame(geometry=gpd.points_from_xy([139.65, 139.75], [35.7, 35.7]), crs=4326)
        plots.density(toys.density(spots, tracks, private))
        plots.density(estimate.iloc[:0])

    def test_bad_input(self, tracks, private, estimate):
        with pytest.raises(InputError, match="lacks \\['high', 'low', 'share'\\]"):
            plots.density(tracks)
        with pytest.raises(InputError, match="`ax` is for an estimate alone"):
            plots.density(estimate, private, ax=plots.density(estimate))
        with pytest.raises(CRSError, match="no CRS"):
            plots.density(estimate.set_crs(None, allow_override=True))
        with pytest.raises(InputError, match="`truth` is for answers"):
            private.tracs.plot(truth=tracks)


class TestIntervals:
    def test_the_largest_with_their_intervals(self, tracks, private, estimate):
        ax = plots.intervals(estimate, private, truth=tracks, by="name", most=4)
        order = estimate.sort_values("share", ascending=False, kind="stable").iloc[:4]
        assert [label.get_text() for label in ax.get_yticklabels()] == order["name"].tolist()
        drawn = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
        assert np.allclose(drawn, 100 * order[["low", "high"]].to_numpy())
        estimated, _, original = (line.get_xdata() for line in ax.lines)
        assert np.allclose(estimated, original)
        assert np.allclose(estimated, 100 * order["share"])
        for text in (FIGURES, "the 4 largest of 9 zones", "90% interval"):
            assert text in words(ax)

    def test_flows(self, tracks, private):
        ax = plots.intervals(toys.flows(private))
        assert ax.get_yticklabels()[1].get_text() == "a → b"
        with pytest.raises(InputError, match="flows are drawn alone"):
            plots.intervals(toys.flows(private), private)

    def test_bad_input(self, estimate):
        with pytest.raises(InputError, match="`most` must be a whole number"):
            plots.intervals(estimate, most=0)
        with pytest.raises(InputError, match="no column 'nope'"):
            plots.intervals(estimate, by="nope")


class TestFlows:
    def test_clear_flows_are_drawn(self, private):
        ax = toys.flows(private).tracs.plot()
        assert len(zones_of(ax)) == 2
        assert "2 of 4 flows, 90% of the trips" in words(ax)
        assert "all unclear" in words(plots.flows(toys.flows(private).assign(low=0.0, high=1.0)))
        plots.flows(toys.flows(private).iloc[:0])
        plots.flows(toys.flows(private).to_crs(3857), domain=None)

    def test_they_are_drawn_alone(self, tracks, private):
        with pytest.raises(InputError, match="drawn alone"):
            toys.flows(private).tracs.plot(truth=tracks)


def test_made_up_trips_are_called_so(private):
    ax = toys.synthetic(private).tracs.plot()
    assert len(ax.lines) == 2
    assert "synthetic: joint, epsilon 4" in words(ax)
    assert "confidential" not in words(ax)


class TestLengths:
    def test_shares_per_width_with_intervals(self):
        bins = {"start": [0.0, 1000], "end": [1000.0, 5000], "share": [0.6, 0.4], "low": [0.5, 0.2], "high": [0.7, 0.6]}
        table = pd.DataFrame(bins)
        table.attrs["median"] = {"value": 800.0, "low": 500.0, "high": 900.0}
        ax = plots.lengths(table)
        assert [bar.get_height() for bar in ax.patches] == pytest.approx([0.6, 0.1])
        assert [bar.get_width() for bar in ax.patches] == pytest.approx([1, 4])
        assert np.allclose([part[:, 1] for part in ax.collections[0].get_segments()], [[0.5, 0.7], [0.05, 0.15]])
        assert ax.lines[0].get_xdata() == pytest.approx([0.8, 0.8])
        with pytest.raises(InputError, match="lacks the columns \\['end'\\]"):
            plots.lengths(table.drop(columns="end"))


class TestTube:
    def test_tube_track_reports_and_truth(self, tracks, private, found):
        ax = found.tracs.plot(private, truth=tracks, most=2)
        assert len(ax.lines) == 2 * 3
        assert CAPTION in words(ax)
        assert "2 of 3 trajectories." in words(ax)
        assert "90% radius" in words(ax)
        first = found[found.person == found.person.iloc[0]].sort_values("t")
        xy = shapely.get_coordinates(first.geometry.values)
        assert np.array_equal(ax.lines[0].get_xydata(), xy)
        area = [path for part in ax.collections for path in part.get_paths()][-2:]
        assert area[0].contains_points(xy).all()

    def test_in_metres(self, found):
        ax = found.to_crs(32654).tracs.plot()
        assert "confidential" not in words(ax)
        assert ax.get_xlabel() == "x"
