import pytest

import geotracs
from geotracs import InputError, files
from geotracs.io import sidecar
from geotracs.io.formats import FORMATS
from geotracs.release.file import perturb_file
from geotracs.utility.compare import standing
from tests.conftest import TOKYO
from tests.helpers import COLUMNS, quiet

ARGUMENTS = {"domain": TOKYO, "keep": [], "rng": 1, **COLUMNS}
KINDS = {kind.name: kind for kind in FORMATS.values() if not kind.keeps_record and kind.name not in ("GDAL", "GPX")}


@pytest.fixture
def private(tracks):
    return quiet(geotracs.perturb, tracks, 4, **ARGUMENTS)


@pytest.mark.parametrize("name", KINDS)
def test_the_record_lies_beside_formats_that_cannot_hold_it(private, name, tmp_path):
    path = tmp_path / f"private{KINDS[name].endings[0]}"
    quiet(files.write, private, path)  # GDAL warns of the times of a shapefile
    again = files.read(path)
    assert again.tracs.guarantee.epsilon == 4
    assert files.record(path) == again.attrs["tracs"]
    assert standing(again) == ("same" if KINDS[name].exact else "unknown")


@pytest.mark.parametrize("ending", [".csv", ".geojson"])
def test_a_stream_writes_it_too_and_it_goes_with_its_file(tracks, ending, tmp_path):
    source, path = tmp_path / "in.parquet", tmp_path / f"out{ending}"
    files.write(tracks.sort_values(["person", "t"]).reset_index(drop=True), source)
    quiet(perturb_file, source, path, 4, batch_rows=7, **ARGUMENTS)
    assert standing(files.read(path)) == "same"
    quiet(perturb_file, source, path, 2, overwrite=True, **ARGUMENTS)
    assert files.read(path).tracs.guarantee.epsilon == 2
    files.write(tracks, path, overwrite=True)
    assert not sidecar.beside(path).exists()
    assert "tracs" not in files.read(path).attrs


def test_what_is_left_of_a_former_release(private, tmp_path):
    path = tmp_path / "private.csv"
    files.write(private, path)
    path.unlink()
    with pytest.raises(InputError, match=r"private.csv.tracs.json.* belongs to a former file"):
        files.write(private, path)


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"'])
def test_a_damaged_record(private, text, tmp_path):
    files.write(private, tmp_path / "private.csv")
    sidecar.beside(tmp_path / "private.csv").write_text(text)
    for read in (files.read, files.record):
        with pytest.raises(InputError, match="is not the record of a release"):
            read(tmp_path / "private.csv")
