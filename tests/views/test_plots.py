"""What is drawn, read back from the axes; how it looks was looked at."""

import builtins
import math
import subprocess
import sys

import geopandas as gpd
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import shapely
from scipy import stats

import geotracs
from geotracs import DomainError, InputError, plots
from geotracs.core.domains import Disc, Globe, Parallelogram
from geotracs.errors import MissingExtraError
from geotracs.views.colours import COLOURS
from geotracs.views.plots.canvas import CAPTION
from tests.conftest import TOKYO

pytestmark = pytest.mark.slow

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

COLUMNS = {"trajectory": "person", "time": "t", "keep": []}
FIJI = (178, -19, -178, -15)


@pytest.fixture(autouse=True)
def closed():
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()  # what cannot be drawn fails here
    plt.close("all")


@pytest.fixture
def private(tracks):
    return tracks.tracs.perturb(6, "tracs-d", domain=TOKYO, **COLUMNS)


def lines_of(ax):
    """The drawn tracks: colour and coordinates."""
    return {line.get_color(): line.get_xydata() for line in ax.lines}


def in_order(frame):
    """The coordinates of each person's locations, by time."""
    return {
        person: shapely.get_coordinates(rows.sort_values("t").geometry.values)
        for person, rows in frame.groupby("person", sort=False)
    }


def words(ax):
    texts = [ax.get_title(), ax.get_title(loc="left")]
    for where in (ax, ax.figure):
        legends = [where.get_legend()] if where is ax else where.legends
        for legend in filter(None, legends):
            texts += [text.get_text() for text in legend.get_texts()] + [legend.get_title().get_text()]
    return " ".join([*texts, ax.figure.get_suptitle(), *[text.get_text() for text in ax.texts]])


class TestPlot:
    def test_before_and_after_side_by_side(self, tracks, private):
        left, right = tracks.tracs.plot(private, domain=TOKYO)
        assert [left.get_title(), right.get_title()] == ["original", "perturbed"]
        assert left.get_xlim() == right.get_xlim()
        assert left.get_ylim() == right.get_ylim()
        for ax, frame in ((left, tracks), (right, private)):
            drawn = lines_of(ax)
            for colour, (_, xy) in zip(COLOURS, in_order(frame).items(), strict=False):
                assert np.array_equal(drawn[colour], xy)
            assert len(drawn) == 3
        ae = tracks.tracs.compare(private)["ae"]
        assert f"tracs-d, epsilon 6 per location, mean displacement {ae:,.0f} m" in words(left)
        assert CAPTION in words(left)

    def test_told_apart_without_colour(self, tracks, private):
        left, right = tracks.tracs.plot(private)
        looks = [(ax.lines[0].get_linestyle(), ax.lines[0].get_marker()) for ax in (left, right)]
        assert looks[0][0] != looks[1][0]
        assert looks[0][1] != looks[1][1]

    def test_the_same_colour_although_a_trajectory_is_missing_and_rows_are_shuffled(self, tracks, private):
        first = tracks["person"].iloc[0]
        private.loc[private["person"] == first, "geometry"] = None
        shuffled = private.iloc[::-1]
        left, right = tracks.tracs.plot(shuffled)
        before, after = lines_of(left), lines_of(right)
        gone = set(before) - set(after)
        assert gone == {COLOURS[0]}
        for colour, person in zip(COLOURS, in_order(tracks), strict=False):
            if person != first:
                assert np.array_equal(after[colour], in_order(private)[person])

    def test_overlay_on_given_axes(self, tracks, private):
        _, ax = plt.subplots()
        assert tracks.tracs.plot(private, ax=ax) is ax
        assert len(ax.lines) == 6
        assert CAPTION in words(ax)
        assert len(plt.get_fignums()) == 1

    def test_a_release_alone_is_not_confidential_and_holds_no_original(self, tracks, private):
        ax = private.tracs.plot(domain=TOKYO)
        assert ax.get_title() == "perturbed"
        assert CAPTION not in words(ax)
        drawn = np.vstack([line.get_xydata() for line in ax.lines])
        assert not np.isin(drawn, shapely.get_coordinates(tracks.geometry.values)).any()

    def test_originals_alone_are_confidential(self, tracks):
        ax = tracks.tracs.plot(trajectory="person", time="t")
        assert ax.get_title() == "original"
        assert CAPTION in words(ax)

    def test_a_sample_is_stated_and_spread(self, tracks):
        many = pd.concat([tracks.assign(person=number) for number in range(10)], ignore_index=True)
        ax = plots.plot(many, trajectory="person", time="t", most=4)
        assert len(ax.lines) == 4
        assert "4 of 10 trajectories" in words(ax)
        with pytest.raises(InputError, match="`most`"):
            plots.plot(many, most=0)

    def test_points_without_trajectory_are_not_joined(self, tracks):
        private = tracks.tracs.perturb(6, domain=TOKYO, keep=[])
        for ax in tracks.tracs.plot(private):
            assert ax.lines[0].get_linestyle() == "None"

    def test_many_points_are_thinned_and_it_says_so(self):
        rng = np.random.default_rng(2)
        cloud = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*rng.uniform(0, 9000, (2, 5000))), crs=32654)
        left, right = cloud.tracs.plot(cloud.tracs.perturb(4, domain=(0, 0, 9000, 9000)))
        assert len(left.lines[0].get_xdata()) == len(right.lines[0].get_xdata()) == 2000
        assert "2,000 of 5,000 locations" in words(left)

    def test_lines_with_missing_and_empty_rows(self, tracks):
        shapes = [shapely.LineString(xy) for xy in in_order(tracks).values()]
        frame = gpd.GeoDataFrame(geometry=[*shapes, None, shapely.LineString()], crs=4326)
        left, right = frame.tracs.plot(frame.tracs.perturb(6, domain=TOKYO))
        assert len(left.lines) == len(right.lines) == 3
        frame.index = [7] * len(frame)
        assert len(frame.tracs.plot().lines) == 3

    def test_one_point_and_none(self, tracks):
        one = tracks.iloc[:1]
        left, _ = one.tracs.plot(one.tracs.perturb(6, domain=TOKYO, **COLUMNS))
        assert np.ptp(left.get_xlim()) > 0
        assert np.ptp(one.tracs.plot().get_ylim()) > 0
        none = tracks.iloc[:0]
        for ax in none.tracs.plot(none.tracs.perturb(6, domain=TOKYO, **COLUMNS)):
            assert "no locations" in words(ax)

    def test_true_shapes(self, tracks, private):
        left, _ = tracks.tracs.plot(private)
        assert left.get_aspect() == pytest.approx(1 / math.cos(math.radians(35.7)), rel=0.01)
        projected = tracks.to_crs(32654)
        left, right = projected.tracs.plot(private, domain=shapely.box(3.4e5, 3.9e6, 4.2e5, 4e6))
        assert left.get_aspect() == 1
        moved = in_order(private.to_crs(32654))
        assert np.allclose(lines_of(right)[COLOURS[0]], next(iter(moved.values())))

    @pytest.mark.parametrize("region", [FIJI, None])
    def test_across_the_antimeridian_in_one_piece(self, region):
        x = [179.2, 179.7, -179.9, -179.5, 180.0]
        ship = gpd.GeoDataFrame({"ship": 1}, geometry=gpd.points_from_xy(x, [-17.0] * 5), crs=4326, index=range(5))
        release = ship.tracs.perturb(8, domain=FIJI, trajectory="ship")
        left, right = ship.tracs.plot(release, domain=region)
        assert left.lines[0].get_xdata() == pytest.approx([179.2, 179.7, 180.1, 180.5, 180.0])
        assert np.ptp(right.lines[0].get_xdata()) <= 4
        assert np.ptp(left.get_xlim()) < 6
        left.figure.canvas.draw()
        labels = [float(label.get_text()) for label in left.get_xticklabels()]
        assert min(labels) < 0 < max(labels) <= 180

    def test_places_and_regions_of_all_kinds(self, tracks, private):
        places = gpd.GeoDataFrame(geometry=[*gpd.points_from_xy([139.7, 139.75], [35.7, 35.72]), None], crs=4326)
        (x, y), box = (139.7, 35.7), shapely.box(*TOKYO)
        for region in (box, gpd.GeoSeries([box], crs=4326).to_crs(3857), Disc((x, y), 9000), Globe(0, 60)):
            left, _ = tracks.tracs.plot(private, domain=region, places=places)
            assert len(left.collections) == 2

    def test_input_is_unchanged_and_z_is_nothing_to_say(self, tracks, private):
        before, after = tracks.copy(), private.copy()
        tracks.tracs.plot(private)
        pd.testing.assert_frame_equal(tracks, before)
        pd.testing.assert_frame_equal(private, after)
        high = tracks.set_geometry(shapely.force_3d(tracks.geometry.values)).set_crs(4326)
        high.tracs.plot(private)

    def test_bad_frames(self, tracks, private):
        with pytest.raises(InputError, match="has no CRS"):
            plots.plot(tracks.set_crs(None, allow_override=True), private)
        with pytest.raises(InputError, match="perturbed frame must be a GeoDataFrame"):
            plots.plot(tracks, "private")
        with pytest.raises(InputError, match="no column 'nobody'"):
            plots.plot(tracks, trajectory="nobody")


class TestErrorCurve:
    def table(self, repeats=5):
        rng = np.random.default_rng(1)
        rows = [
            {
                "method": method,
                "epsilon": eps,
                "ae": 1000 / eps * rng.uniform(0.9, 1.1),
                "rqp_500": eps / 20,
            }
            for method in ("tracs-d", "tracs-c")
            for eps in (8.0, 1.0, 2.0)
            for _ in range(repeats)
        ]
        return pd.DataFrame(rows)

    def test_means_and_t_intervals(self):
        table = self.table()
        ax = plots.error_curve(table)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["tracs-d", "tracs-c"]
        assert ax.get_legend().get_title().get_text() == "mean of 5 releases, 95% t-interval"
        for container, method in zip(ax.containers, ("tracs-d", "tracs-c"), strict=True):
            line, _, (bars,) = container
            for x, mean, (low, high) in zip(*line.get_data(), [s[:, 1] for s in bars.get_segments()], strict=True):
                values = table.loc[(table["method"] == method) & (table["epsilon"] == x), "ae"]
                expected = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
                assert mean == pytest.approx(values.mean())
                assert (low, high) == pytest.approx(expected)
        assert ax.lines[0].get_linestyle() != ax.containers[1][0].get_linestyle()

    def test_scales_and_labels(self):
        table = self.table()
        assert plots.error_curve(table).get_yscale() == "linear"
        assert plots.error_curve(table, log=True).get_yscale() == "log"
        assert plots.error_curve(table.assign(ae=table["ae"] ** 2)).get_yscale() == "log"
        assert plots.error_curve(table, y="rqp_500").get_ylabel() == "share of the reports within 500 m"

    def test_on_given_axes_with_one_repeat(self):
        _, ax = plt.subplots()
        assert plots.error_curve(self.table(repeats=1), ax=ax) is ax
        assert ax.get_legend().get_title().get_text() == "one release each"

    def test_of_a_sweep(self, tracks):
        table = tracks.tracs.sweep([2, 8], repeats=2, domain=TOKYO, trajectory="person")
        assert plots.error_curve(table).get_xticks().tolist() == [2, 8]
        empty = tracks.iloc[:0].tracs.sweep([2, 8], repeats=2, domain=TOKYO)
        plots.error_curve(empty)

    def test_other_tables(self):
        with pytest.raises(InputError, match="no column 'p99'"):
            plots.error_curve(self.table(), y="p99")
        with pytest.raises(InputError, match="no column 'method'"):
            plots.error_curve(pd.DataFrame({"ae": [1.0]}))


class TestDisplacement:
    def test_marks_the_median_and_95_percent(self, tracks, private):
        ax = plots.displacement(tracks, private)
        metres = geotracs.displacement(tracks, private)
        curve, marks = ax.lines[:2]
        assert curve.get_xdata()[1:] == pytest.approx(np.sort(metres))
        assert marks.get_xdata() == pytest.approx(np.quantile(metres, [0.5, 0.95]))
        assert f"median {metres.median():,.0f} m" in words(ax)
        assert "tracs-d, epsilon 6 per location" in words(ax)

    def test_several_on_given_axes(self, tracks, private):
        _, ax = plt.subplots()
        assert plots.displacement(tracks, {"one": private, 2: tracks}, ax=ax) is ax
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert [text.split("\n")[0] for text in texts] == ["one", "2"]
        assert texts[1].endswith("median 0 m, 95% within 0 m")

    def test_no_location(self, tracks, private):
        assert plots.displacement(tracks.iloc[:0], private.iloc[:0]).get_legend() is None


class TestMechanism:
    def image(self, ax):
        mesh = ax.collections[0]
        return np.ma.filled(mesh.get_array().astype(float), np.nan)

    def test_the_density_adds_up_to_one(self):
        ax = plots.mechanism("tracs-c", 2, (0, 0, 20_000, 10_000), (5000, 2000), crs=32654)
        image = self.image(ax)
        assert np.nansum(image) * 200 / image.size == pytest.approx(1, abs=0.01)  # per km², over 200 km²
        assert len(np.unique(image.round(12))) == 3  # in both windows, in one of them (alike), in none
        assert "39% in the window" in words(ax)
        assert ax.get_aspect() == 1

    def test_what_a_density_cannot_show_is_said(self):
        triangle = shapely.Polygon([(0, 0), (10_000, 0), (0, 10_000)])
        ax = plots.mechanism("tracs-c", 1, triangle, (3000, 3000), crs=32654)
        spread = np.nanmean(np.nan_to_num(self.image(ax))) * 100
        said = float(words(ax).split("% projected")[0].split()[-1]) / 100
        assert said + spread == pytest.approx(1, abs=0.02)
        assert "at the reference itself" in words(
            plots.mechanism("tracs-d", 1, (0, 0, 100, 100), (50, 50), crs=32654, start="corner")
        )

    @pytest.mark.parametrize(
        ("method", "domain", "at", "options"),
        [
            ("tracs-c", Globe(-60, 60), (175.0, 10.0), {}),
            ("tracs-d", Disc((179.99, -17.0), 5000), (-179.99, -17.0), {}),
            ("tracs-d", FIJI, (-179.5, -17.0), {"start": (179.0, -16.0)}),
            ("tracs-d", FIJI, shapely.Point(179.5, -17.0), {"reference": shapely.Point(-179.0, -16.0)}),
            ("tracs-c", Parallelogram((0, 0), (0.3, 0.1), (0.1, 0.3)), (0.2, 0.2), {"window": "r-sw"}),
            ("tracs-c", (-20, 30, 20, 60), (0, 45), {}),
        ],
    )
    def test_on_all_regions(self, method, domain, at, options):
        ax = plots.mechanism(method, 4, domain, at, **options)
        assert np.nanmax(self.image(ax)) > 0
        west, east = ax.get_xlim()
        inside = [line for line in ax.lines if line.get_label() == "location"]
        assert west < inside[0].get_xdata()[0] < east

    def test_layers_bring_their_crs_and_axes_are_used(self):
        layer = gpd.GeoSeries([shapely.box(3.4e5, 3.9e6, 4.2e5, 4e6)], crs=32654)
        _, ax = plt.subplots()
        assert plots.mechanism("tracs-d", 4, layer, (3.6e5, 3.95e6), ax=ax) is ax
        assert "reference" in words(ax)

    def test_mistakes(self):
        with pytest.raises(DomainError, match="outside the domain"):
            plots.mechanism("tracs-c", 4, TOKYO, (0, 0))
        with pytest.raises(InputError, match="`at` must be two"):
            plots.mechanism("tracs-c", 4, TOKYO, "here")
        with pytest.raises(InputError, match="`eps`"):
            plots.mechanism("tracs-c", 0, TOKYO, (139.7, 35.7))
        with pytest.raises(InputError, match="`method`"):
            plots.mechanism("laplace", 4, TOKYO, (139.7, 35.7))
        with pytest.raises(InputError, match="`fit`"):
            plots.mechanism("tracs-c", 4, TOKYO, (139.7, 35.7), fit="best")


def test_without_matplotlib_there_is_advice(monkeypatch, tracks):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for draw in (
        lambda: tracks.tracs.plot(),
        lambda: plots.error_curve(pd.DataFrame()),
        lambda: plots.displacement(tracks, tracks),
        lambda: plots.mechanism("tracs-c", 4, TOKYO, (139.7, 35.7)),
    ):
        with pytest.raises(MissingExtraError, match=r"geotracs\[plot\]"):
            draw()


def test_importing_geotracs_does_not_import_matplotlib():
    code = "import sys, geotracs; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
