"""Files of GDAL's in batches: times keep their zones, and warnings quote nothing."""

import json

import pytest

from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.conftest import TOKYO
from tests.release.file.streamed import COLUMNS, quiet

pytestmark = pytest.mark.slow


def test_times_keep_their_zone_or_have_none(people, tmp_path):
    for zone in (None, "UTC"):
        people["t"] = people["t"].dt.tz_localize(None).dt.tz_localize(zone)
        path = files.write(people, tmp_path / f"{zone}.gpkg")
        quiet(perturb_file, path, tmp_path / f"{zone}-out.gpkg", 4, "tracs-d", batch_rows=90, **COLUMNS)
        assert files.read(tmp_path / f"{zone}-out.gpkg")["t"].equals(files.read(path)["t"])


def test_a_column_without_values_and_one_with_other_geometries(people, tmp_path):
    people["nothing"], people["home"] = None, people.geometry
    people.to_parquet(tmp_path / "in.parquet")

    def streamed(name, **arguments):
        quiet(perturb_file, tmp_path / "in.parquet", tmp_path / name, 4, batch_rows=99, **arguments)
        return files.read(tmp_path / name)

    assert streamed("out.gpkg", keep=["nothing"])["nothing"].isna().all()
    assert streamed("out.csv", keep=["home"])["home"][1] == str(people["home"][1])
    with pytest.raises(InputError, match="'home' would be a second"):
        streamed("two.gpkg", keep=["home"])


@pytest.mark.parametrize("rows", [None, 70])
def test_gdal_does_not_quote_coordinates(people, tmp_path, rows, capfd):
    path = files.write(people.dropna(), tmp_path / "in.geojson")
    collection = json.loads(path.read_text())
    for feature, bad in zip(collection["features"][300:], (["139.70012", 35.7], [139.70012]), strict=False):
        feature["geometry"]["coordinates"] = bad
    path.write_text(json.dumps(collection))
    with pytest.warns() as caught:
        perturb_file(path, tmp_path / "out.parquet", 4, domain=TOKYO, keep=[], batch_rows=rows)
    said = [str(warning.message) for warning in caught]
    assert any("GDAL gave" in text for text in said)
    assert "139.7" not in "".join([*said, *capfd.readouterr()])
