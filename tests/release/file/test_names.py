"""What is never replaced."""

import pytest

from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.release.file.streamed import quiet, same

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("folder", [False, True])
def test_the_original_is_never_replaced(people, tmp_path, folder):
    path = tmp_path / ("in" if folder else "in.parquet")
    if folder:
        path.mkdir()
    people.to_parquet(path / "part.0.parquet" if folder else path)
    with pytest.raises(InputError, match="the original locations would be lost"):
        quiet(perturb_file, path, path, 4, overwrite=True)
    same(files.read(path), people)


def test_folders_around_and_inside_each_other(people, tmp_path):
    (tmp_path / "all" / "in").mkdir(parents=True)
    people.to_parquet(tmp_path / "all" / "in" / "part.0.parquet")
    with pytest.raises(InputError, match="or contains it: the original locations would be lost"):
        quiet(perturb_file, tmp_path / "all" / "in", tmp_path / "all", 4, overwrite=True)
    for out in ("new.parquet", "part.0.parquet", "new"):
        with pytest.raises(InputError, match="inside the folder `src`"):
            quiet(perturb_file, tmp_path / "all" / "in", tmp_path / "all" / "in" / out, 4, overwrite=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds other things than GeoParquet"):
        quiet(perturb_file, tmp_path / "all" / "in", tmp_path / "out", 4, overwrite=True)
    assert (tmp_path / "out" / "thesis.txt").exists()
    same(files.read(tmp_path / "all" / "in"), people)


@pytest.mark.parametrize("rows", [None, 70])
def test_parts_of_shapefiles_are_not_replaced(people, tmp_path, rows):
    path = files.write(people.dropna().drop(columns="t"), tmp_path / "in.shp")
    for out, match in (
        ("in.SHP", "a part of the same shapefile as `src`"),
        ("in.dbf", "a part of the same shapefile as `src`"),
    ):
        with pytest.raises(InputError, match=match):
            quiet(perturb_file, path, tmp_path / out, 4, batch_rows=rows, overwrite=True)
    (tmp_path / "out.dbf").write_text("a table")
    with pytest.raises(InputError, match=r"'out.dbf' is there and belongs to a former file 'out.shp'"):
        quiet(perturb_file, path, tmp_path / "out.shp", 4, batch_rows=rows)
    assert (tmp_path / "out.dbf").read_text() == "a table"
    assert len(files.read(path)) == len(people.dropna())
