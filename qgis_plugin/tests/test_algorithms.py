"""Each algorithm by PyQGIS: what it writes is what the command line writes, and its layers look right."""

import json
import stat
from pathlib import Path

import pytest
from conftest import SEED, Feedback, geotracs
from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsProcessingContext,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingParameterFeatureSource,
    QgsProject,
    QgsVectorLayer,
)

COLUMNS = {"TRAJECTORY": "person", "TIME": "t"}


def rows(path):
    """Return what is in a file: attributes and geometry of each row."""
    layer = QgsVectorLayer(str(path), "rows", "ogr")
    assert layer.isValid(), path
    return [(feature.attributes()[1:], feature.geometry().asWkt(12)) for feature in layer.getFeatures()]


def table(layer):
    """Return the rows of a table as dicts, without the fid."""
    layer = QgsVectorLayer(layer, "rows", "ogr") if isinstance(layer, str) else layer
    names = [field.name() for field in layer.fields()]
    return [{n: v for n, v in zip(names, feature.attributes()) if n != "fid"} for feature in layer.getFeatures()]


class TestPerturb:
    def test_it_writes_what_the_command_line_writes(self, run, feedback, folder, tmp_path):
        found = run(
            "perturb", load=True, INPUT=str(folder / "tracks.gpkg"), EPSILON=6, METHOD="joint",
            DOMAIN=str(folder / "city.gpkg"), **COLUMNS, OUTPUT=str(tmp_path / "private Ü.gpkg"),
            LINES=str(tmp_path / "lines.gpkg"),
        )  # fmt: skip
        same = tmp_path / "same.gpkg"
        geotracs(
            "perturb", folder / "tracks.gpkg", same, "--eps", 6, "--domain", folder / "city.gpkg", "--trajectory",
            "person", "--time", "t", "--keep", "none", "--embed", "--seed", SEED,
        )  # fmt: skip
        assert rows(found["OUTPUT"]) == rows(same)
        assert found["LOCATIONS"] == len(rows(same)) == 360
        assert len(rows(found["LINES"])) == 6
        assert "pure 6-local differential privacy" in found["GUARANTEE"]
        assert any("360 locations" in text for text in feedback.said)
        assert any(text.startswith("Perturbing") for text in feedback.said)

    def test_the_layer_is_named_styled_grouped_timed_and_says_what_it_promises(self, run, folder):
        run(
            "perturb", load=True, INPUT=str(folder / "tracks.gpkg"), EPSILON=6, DOMAIN=str(folder / "city.gpkg"),
            **COLUMNS, OUTPUT="TEMPORARY_OUTPUT",
        )  # fmt: skip
        (layer,) = QgsProject.instance().mapLayers().values()
        assert layer.name() == "Perturbed tracks (joint, epsilon 6)"
        assert layer.metadata().abstract().startswith("Each location was reported by joint under pure 6-local")
        assert layer.temporalProperties().isActive()
        assert layer.temporalProperties().startField() == "t"
        assert layer.renderer().symbol().symbolLayer(0).strokeColor().name() == "#d1495b"
        assert QgsProject.instance().layerTreeRoot().findLayer(layer.id()).parent().name() == "geotracs"

    @pytest.mark.parametrize(
        "more",
        [
            {"EXTENT": "13.16,13.28,-20.33,-20.19 [EPSG:4326]"},
            {"CENTRE": "13.22,-20.26 [EPSG:4326]", "DISC": 9000, "METHOD": "tracs-d"},
            {"DOMAIN": "city.gpkg", "PLACES": "pois.gpkg", "METHOD": "nearest"},
            {"DOMAIN": "city.gpkg", "GRID": 500, "UNIT": "trajectory", "KEEP": ["mode"]},
            {"DOMAIN": "city.gpkg", "METHOD": "geo-ind", "METRIC": 200, "OUTSIDE": "clip"},
            {"DOMAIN": "city.gpkg", "REPEAT": 300},
            {"DOMAIN": "city.gpkg", "EVERY": "10min", "FILL": "hold", "UNIT": "trajectory", "AT_MOST": 5},
        ],
    )
    def test_other_parameters(self, run, folder, tmp_path, more):
        more = {name: str(folder / v) if str(v).endswith(".gpkg") else v for name, v in more.items()}
        found = run(
            "perturb", INPUT=str(folder / "tracks.gpkg"), EPSILON=6, **COLUMNS, OUTPUT=str(tmp_path / "o.gpkg"), **more
        )
        assert len(table(found["OUTPUT"])) == 360
        assert ("mode" in table(found["OUTPUT"])[0]) == ("KEEP" in more)
        assert ("place" in table(found["OUTPUT"])[0]) == ("PLACES" in more or "GRID" in more)

    def test_layers_that_are_no_files_are_copied_privately(self, run, feedback, folder, tmp_path, monkeypatch):
        from geotracs_qgis import layers

        seen = []
        copied = layers._copied

        def spy(source, path, feedback):
            done = copied(source, path, feedback)
            seen.append([stat.S_IMODE(p.stat().st_mode) for p in (Path(path), Path(path).parent)])
            return done

        monkeypatch.setattr(layers, "_copied", spy)
        memory = QgsVectorLayer("Point?crs=EPSG:4326&field=person:string&field=t:datetime", "Wege", "memory")
        filed = QgsVectorLayer(str(folder / "tracks.gpkg"), "tracks", "ogr")
        names = [memory.fields().at(i).name() for i in range(2)]
        memory.startEditing()
        for one in filed.getFeatures():
            feature = QgsFeature(memory.fields())
            feature.setAttributes([one[name] for name in names])
            feature.setGeometry(one.geometry())
            memory.addFeature(feature)
        filed.selectByExpression('"person" = \'1\' or "person" = 1')
        given = {"EPSILON": 6, "DOMAIN": str(folder / "city.gpkg"), **COLUMNS}
        QgsProject.instance().addMapLayers([memory, filed])
        found = run("perturb", INPUT=memory, OUTPUT=str(tmp_path / "m.gpkg"), **given)
        assert found["LOCATIONS"] == 360
        assert any("“Wege” has edits that are not saved" in text for text in feedback.said)
        selected = QgsProcessingFeatureSourceDefinition(filed.id(), True)
        found = run("perturb", INPUT=selected, OUTPUT=str(tmp_path / "s.gpkg"), **given)
        assert found["LOCATIONS"] == 60
        filed.setSubsetString('"fid" <= 30')
        found = run("perturb", INPUT=filed, OUTPUT=str(tmp_path / "f.gpkg"), **given)
        assert found["LOCATIONS"] == 30
        assert seen == [[0o600, 0o700]] * 3

    def test_a_ledger_charges_and_refuses(self, run, folder, tmp_path):
        from geotracs_qgis import settings
        from processing.core.ProcessingConfig import ProcessingConfig

        ledger = str(tmp_path / "ledger.db")
        geotracs("ledger", "budget", ledger, 400)
        given = {"INPUT": str(folder / "tracks.gpkg"), "EPSILON": 6, "DOMAIN": str(folder / "city.gpkg"), **COLUMNS}
        ProcessingConfig.setSettingValue(settings.LEDGER, ledger)
        try:
            with pytest.raises(Exception, match="name of the data"):
                run("perturb", OUTPUT=str(tmp_path / "0.gpkg"), **given)
            run("perturb", OUTPUT=str(tmp_path / "1.gpkg"), DATA="bus", **given)
            assert json.loads(geotracs("ledger", "show", ledger, "--json"))["spent"]
            given["EPSILON"] = 1  # another draw
            with pytest.raises(Exception, match="not enough for 6 of 6 people"):
                run("perturb", OUTPUT=str(tmp_path / "2.gpkg"), DATA="bus", **given)
        finally:
            ProcessingConfig.setSettingValue(settings.LEDGER, "")
        assert not (tmp_path / "2.gpkg").exists()


def test_expected_error(run, feedback, folder, tmp_path):
    city = str(folder / "city.gpkg")
    found = run("expectederror", DOMAIN=city, EPSILON=8, METHODS=["joint", "tracs-c"], OUTPUT="TEMPORARY_OUTPUT")
    said = geotracs("advise", "--domain", city, "--eps", 8, "--method", "joint", "--method", "tracs-c", "--json")
    assert table(found["OUTPUT"]) == json.loads(said)["rows"]
    assert "With epsilon 8, joint moves a location by" in found["WORDS"]
    found = run("expectederror", DOMAIN=city, ERROR=500, METHODS=["joint"], OUTPUT="TEMPORARY_OUTPUT")
    assert found["WORDS"].startswith("For a mean error of 500 m, joint needs epsilon ")


def test_expected_risk(run, folder):
    city = str(folder / "city.gpkg")
    found = run("expectedrisk", DOMAIN=city, EPSILON=6, INTERVAL=30, PEOPLE=5, FIXES=40, OUTPUT="TEMPORARY_OUTPUT")
    said = geotracs("risk", "--domain", city, "--eps", 6, "--interval", 30, "--people", 5, "--fixes", 40, "--json")
    said = json.loads(said)
    assert found["WORDS"] == said["words"]
    assert [row["value"] for row in table(found["OUTPUT"])] == [row["value"] for row in said["attacks"]]


def test_compare(run, feedback, folder, tmp_path):
    paths = [str(folder / name) for name in ("tracks.gpkg", "private.gpkg")]
    page = tmp_path / "page.html"
    found = run(
        "compare",
        INPUT=paths[0],
        PERTURBED=paths[1],
        BY="person",
        WITHIN="250",
        HTML=str(page),
        OUTPUT="TEMPORARY_OUTPUT",
    )
    said = json.loads(geotracs("compare", *paths, "--by", "person", "--within", 250, "--json"))
    assert table(found["OUTPUT"]) == said["rows"]
    assert "keep confidential" in page.read_text()
    assert any("keep confidential" in text for text in feedback.warnings)


def test_risk(run, feedback, folder):
    paths = [str(folder / name) for name in ("tracks.gpkg", "private.gpkg")]
    found = run("risk", INPUT=paths[0], PERTURBED=paths[1], SPEED=12, OUTPUT="TEMPORARY_OUTPUT")
    said = json.loads(geotracs("risk", *paths, "--speed", 12, "--json"))
    assert [row["value"] for row in table(found["OUTPUT"])] == [row["value"] for row in said["attacks"]]
    assert found["WORDS"] == said["words"]
    assert any("keep confidential" in text for text in feedback.warnings)


def test_prepare(run, feedback, folder, tmp_path):
    tracks, same = folder / "tracks.gpkg", tmp_path / "same.gpkg"
    given = {
        "INPUT": str(tracks),
        **COLUMNS,
        "TRIM_START": "5min",
        "EVERY": "2min",
    }
    found = run("prepare", load=True, OUTPUT=str(tmp_path / "ready.gpkg"), **given)
    options = ["--trajectory", "person", "--time", "t", "--trim-start", "5min", "--every", "2min"]
    said = geotracs("prepare", tracks, same, *options)
    assert rows(found["OUTPUT"]) == rows(same)
    assert said.split(": ", 1)[1].strip() in "".join(feedback.said)
    assert any("keep confidential" in text for text in feedback.warnings)
    with pytest.raises(Exception, match="Nothing is asked for"):
        run("prepare", INPUT=str(tracks), OUTPUT=str(tmp_path / "none.gpkg"))
    ready = QgsVectorLayer(found["OUTPUT"], "ready", "ogr")  # a copy of some of its rows is marked, too
    ready.setSubsetString('"fid" <= 20')
    QgsProject.instance().addMapLayer(ready)
    made = {"EPSILON": 4, "DOMAIN": str(folder / "city.gpkg"), **COLUMNS, "OUTPUT": "TEMPORARY_OUTPUT"}
    promises = [run("perturb", INPUT=layer, **made)["GUARANTEE"] for layer in (found["OUTPUT"], ready, str(tracks))]
    assert ["the rows were prepared" in promise for promise in promises] == [True, True, False]


def test_report(run, feedback, folder, tmp_path):
    private, same = folder / "private.gpkg", tmp_path / "same.html"
    given = {"INPUT": str(private), "PERSON": "person", "RISK": False, "AUDIT": False, "HEADING": "Bus"}
    found = run("report", OUTPUT=str(tmp_path / "report.html"), **given)
    said = geotracs("report", private, same, "--person", "person", "--no-risk", "--no-audit", "--title", "Bus")
    assert set(said.splitlines()[1:]) <= set(feedback.said)
    assert "<h1>Bus</h1>" in Path(found["OUTPUT"]).read_text()
    with pytest.raises(Exception, match="“Replace an output that exists”"):
        run("report", OUTPUT=str(tmp_path / "report.html"), **given)


@pytest.mark.parametrize(
    ("name", "given", "options", "renderer"),
    [
        ("density", {"COLUMNS": 3, "ROWS": 2}, ["--cells", 3, 2], "graduatedSymbol"),
        ("density", {"PLACES": "pois.gpkg"}, ["--places", "pois.gpkg"], "graduatedSymbol"),
        (
            "flows",
            {"ZONES": "zones.gpkg", "NAME": "district", "PAIRS": "consecutive"},
            ["--zones", "zones.gpkg", "--name", "district", "--pairs", "consecutive"],
            "RuleRenderer",
        ),
        ("reconstruct", {"SPEED": 12, "CELLS": 32}, ["--speed", 12, "--cells", 32], "singleSymbol"),
    ],
)
def test_answers(run, folder, tmp_path, name, given, options, renderer):
    given = {key: str(folder / value) if str(value).endswith(".gpkg") else value for key, value in given.items()}
    options = [folder / str(word) if str(word).endswith(".gpkg") else word for word in options]
    private, same = folder / "private.gpkg", tmp_path / "same.gpkg"
    found = run(name, load=True, INPUT=str(private), OUTPUT=str(tmp_path / "out.gpkg"), **given)
    geotracs(name, private, same, *options)
    assert rows(found["OUTPUT"]) == rows(same)
    (layer,) = QgsProject.instance().mapLayers().values()
    assert layer.renderer().type() == renderer
    assert "epsilon" in layer.metadata().abstract()
    assert layer.temporalProperties().isActive() == (name == "reconstruct")
    if renderer == "graduatedSymbol":
        ranges = layer.renderer().ranges()
        assert 2 <= len(ranges) <= 6
        shares = [row["share"] for row in table(layer)]
        assert ranges[-1].upperValue() == pytest.approx(max(shares))


def test_a_model_of_two(app, folder, feedback, tmp_path, monkeypatch):
    """Perturb and estimate in one model."""
    monkeypatch.setenv("GEOTRACS_QGIS_TEST_SEED", SEED)
    source = QgsProcessingModelChildParameterSource
    model = QgsProcessingModelAlgorithm("heat", "test")
    model.addModelParameter(
        QgsProcessingParameterFeatureSource("tracks", "tracks"), QgsProcessingModelParameter("tracks")
    )
    perturb = QgsProcessingModelChildAlgorithm("geotracs:perturb")
    perturb.setChildId("perturb")
    fixed = {"EPSILON": 8, "DOMAIN": str(folder / "city.gpkg"), "METHOD": "joint", "EMBED": True, **COLUMNS}
    for name, value in fixed.items():
        perturb.addParameterSources(name, [source.fromStaticValue(value)])
    perturb.addParameterSources("INPUT", [source.fromModelParameter("tracks")])
    model.addChildAlgorithm(perturb)
    density = QgsProcessingModelChildAlgorithm("geotracs:density")
    density.setChildId("density")
    density.addParameterSources("INPUT", [source.fromChildOutput("perturb", "OUTPUT")])
    for name in ("COLUMNS", "ROWS"):
        density.addParameterSources(name, [source.fromStaticValue(2)])
    heat = QgsProcessingModelOutput("heat", "heat")
    heat.setChildId("density")
    heat.setChildOutputName("OUTPUT")
    density.setModelOutputs({"heat": heat})
    model.addChildAlgorithm(density)
    model.initAlgorithm()
    (output,) = [o.name() for o in model.destinationParameterDefinitions()]
    context = QgsProcessingContext()
    given = {"tracks": str(folder / "tracks.gpkg"), output: str(tmp_path / "heat.gpkg")}
    _, fine = model.run(given, context, feedback)
    assert fine, feedback.errors
    assert sum(row["share"] for row in table(str(tmp_path / "heat.gpkg"))) == pytest.approx(1, abs=0.02)


def test_a_batch(run, folder, tmp_path):
    """Two rows of a batch, as its dialog runs them: one algorithm, one context, several sets of parameters."""
    algorithm = QgsApplication.processingRegistry().createAlgorithmById("geotracs:perturb")
    context, feedback = QgsProcessingContext(), Feedback()
    for epsilon in (2, 4):
        given = {
            "INPUT": str(folder / "tracks.gpkg"),
            "EPSILON": epsilon,
            "DOMAIN": str(folder / "city.gpkg"),
            **COLUMNS,
        }
        given["OUTPUT"] = str(tmp_path / f"{epsilon}.gpkg")
        assert algorithm.checkParameterValues(given, context)[0]
        found, fine = algorithm.run(given, context, feedback, {}, False)
        assert fine
        assert f"pure {epsilon}-local" in found["GUARANTEE"]


class TestBadInput:
    @pytest.fixture
    def given(self, folder, tmp_path):
        return {
            "INPUT": str(folder / "tracks.gpkg"), "EPSILON": 6, "DOMAIN": str(folder / "city.gpkg"), **COLUMNS,
            "OUTPUT": str(tmp_path / "out.gpkg"),
        }  # fmt: skip

    def refused(self, run, feedback, given, tmp_path, match):
        """One clear line, nothing written, no traceback."""
        with pytest.raises(Exception, match=match) as stop:
            run("perturb", **given)
        words = str(stop.value).replace("Unable to execute algorithm\n", "")  # which QGIS puts before it
        assert "Traceback" not in words + "".join(feedback.errors)
        assert words.count("\n") == 0
        assert list(tmp_path.iterdir()) == [] or given.get("exists")

    def test_no_program(self, run, feedback, given, tmp_path, monkeypatch):
        monkeypatch.setenv("GEOTRACS_PROGRAM", "")
        monkeypatch.setenv("PATH", "/nowhere")
        self.refused(run, feedback, given, tmp_path, "geotracs was not found. Install it: python3 -m venv")

    def test_no_python_and_no_geotracs(self, run, feedback, given, tmp_path, monkeypatch):
        monkeypatch.setenv("GEOTRACS_PROGRAM", "/etc/hostname")
        self.refused(run, feedback, given, tmp_path, "There is no Python beside")
        monkeypatch.setenv("GEOTRACS_PROGRAM", "/usr/bin/python3")
        self.refused(run, feedback, given, tmp_path, "There is no geotracs in /usr. Install it: ")

    def test_an_old_program(self, run, feedback, given, tmp_path, monkeypatch):
        from geotracs_qgis import program

        monkeypatch.setattr(program, "OLDEST", "99.1")
        self.refused(run, feedback, given, tmp_path, "is too old; this plugin needs 99.1. Update it: ")

    @pytest.mark.parametrize(
        ("more", "match"),
        [
            ({"INPUT": "nowhere.gpkg"}, "source"),
            ({"EPSILON": 0}, "Epsilon must be greater than 0"),
            ({"DOMAIN": None}, "Give a public region"),
            ({"EXTENT": "1,2,3,4 [EPSG:4326]"}, "Give the public region once"),
            ({"DOMAIN": None, "CENTRE": "1,2 [EPSG:4326]"}, "A disc needs a radius"),
            ({"DOMAIN": None, "EXTENT": "1,2,3,4 [EPSG:4326]"}, "360 of 360 locations"),
            ({"METHOD": "nearest"}, "nearest reports public places"),
            ({"METHOD": "geo-ind"}, "geo-ind needs the distance"),
            ({"TIME": "mode"}, "mode"),
            ({"TRAJECTORY": "nobody"}, "nobody"),
            ({"TRAJECTORY": None, "LINES": "TEMPORARY_OUTPUT"}, "Lines need a trajectory field"),
        ],
    )
    def test_parameters(self, run, feedback, given, tmp_path, more, match):
        given |= more
        self.refused(run, feedback, {k: v for k, v in given.items() if v is not None}, tmp_path, match)

    def test_a_layer_without_crs_and_lines_without_vertices(self, run, feedback, given, tmp_path):
        layer = QgsVectorLayer("Point?field=person:string&field=t:datetime", "nirgends", "memory")
        layer.setCrs(QgsCoordinateReferenceSystem())
        QgsProject.instance().addMapLayer(layer)
        self.refused(run, feedback, {**given, "INPUT": layer}, tmp_path, "The layer “nirgends” has no CRS")
        lines = QgsVectorLayer("LineString?crs=EPSG:4326&field=person:string", "leer", "memory")
        feature = QgsFeature(lines.fields())
        feature.setGeometry(QgsGeometry.fromWkt("LINESTRING EMPTY"))
        lines.dataProvider().addFeatures([feature])
        QgsProject.instance().addMapLayer(lines)
        found = run("perturb", **{**given, "INPUT": lines, "TRAJECTORY": None, "TIME": None})
        assert found["LOCATIONS"] == 0

    def test_outputs_that_exist_or_are_open(self, run, feedback, given, folder, tmp_path):
        path = Path(given["OUTPUT"])
        path.write_text("mine")
        self.refused(run, feedback, {**given, "exists": True}, tmp_path, "exists already: write another file")
        assert path.read_text() == "mine"
        path.unlink()
        run("perturb", load=True, **given)
        before = path.read_bytes()
        self.refused(run, feedback, {**given, "REPLACE": True, "exists": True}, tmp_path, "is open as the layer")
        assert path.read_bytes() == before

    def test_a_copy_of_a_release_is_refused(self, run, feedback, folder, tmp_path):
        layer = QgsVectorLayer(str(folder / "private.gpkg"), "private", "ogr")
        layer.setSubsetString('"fid" < 100')
        QgsProject.instance().addMapLayer(layer)
        with pytest.raises(Exception, match="must be the file that Perturb tracks has written"):
            run("density", INPUT=layer, OUTPUT=str(tmp_path / "out.gpkg"))
        with pytest.raises(Exception, match="no record of a perturbation"):
            run("density", INPUT=str(folder / "tracks.gpkg"), OUTPUT=str(tmp_path / "out.gpkg"))
        assert list(tmp_path.iterdir()) == []

    def test_cancel(self, app, given, tmp_path, monkeypatch):
        import processing

        class Impatient(Feedback):
            def setProgressText(self, text):  # noqa: N802
                super().setProgressText(text)
                self.cancel()

        monkeypatch.setenv("GEOTRACS_CACHE", "")
        slow = {**given, "METHOD": "optimal", "EPSILON": 10}  # whose codewords take seconds to fit
        with pytest.raises(Exception, match="Cancelled: nothing was written"):
            processing.run("geotracs:perturb", slow, feedback=Impatient())
        assert list(tmp_path.iterdir()) == []


def test_points_are_where_they_were_said(folder):
    """The data of these tests lie in the city, so that nothing here passes on empty layers."""
    city = next(QgsVectorLayer(str(folder / "city.gpkg"), "city", "ogr").getFeatures()).geometry()
    layer = QgsVectorLayer(str(folder / "tracks.gpkg"), "tracks", "ogr")
    points = [feature.geometry().asPoint() for feature in layer.getFeatures()]
    assert len(points) == 360
    assert all(city.contains(QgsPointXY(point)) for point in points)
