"""CSV files, whose columns show what they hold at the end only."""

import numpy as np
import pytest

import geotracs
from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.release.file.streamed import COLUMNS, quiet, refused

pytestmark = pytest.mark.slow


def test_a_csv_column_that_shows_what_it_is_at_the_end(people, tmp_path):
    table = files.to_table(people.dropna()).astype({"person": str, "stops": object})
    table.iloc[-1, table.columns.get_loc("stops")] = "many"
    table["person"] = [label[1:] for label in table["person"]]
    table.to_csv(tmp_path / "in.csv", index=False)
    whole = quiet(geotracs.perturb, files.read(tmp_path / "in.csv"), 4, "tracs-d", keep=["stops"], **COLUMNS)
    files.write(whole, tmp_path / "whole.csv")
    quiet(
        perturb_file, tmp_path / "in.csv", tmp_path / "out.csv", 4, "tracs-d", batch_rows=60, keep=["stops"], **COLUMNS
    )
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "whole.csv").read_text()


def test_csv_columns_of_flags_with_gaps_of_geometries_and_of_large_numbers(people, tmp_path):
    table = files.to_table(people.dropna())
    table["flag"] = np.where(np.arange(len(table)) % 3 == 1, "", "True")
    table["person"] = np.arange(len(table), dtype=np.uint64) // 40 + np.uint64(2**63 - 6)
    table["geometry"] = "POINT (139.70012 35.70012)"
    table.to_csv(tmp_path / "in.csv", index=False)
    arguments = {"trajectory": "person", "keep": ["flag"]}
    whole = quiet(geotracs.perturb, files.read(tmp_path / "in.csv"), 4, **arguments)
    files.write(whole, tmp_path / "whole.csv")
    told = quiet(perturb_file, tmp_path / "in.csv", tmp_path / "out.csv", 4, batch_rows=60, **arguments)
    assert told.longest == 40
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "whole.csv").read_text()


def test_a_header_of_coordinates_is_not_quoted(tmp_path):
    for line in ("p1,POINT (139.7123 35.6123)", "p1,139.7123E,35.6123N"):
        (tmp_path / "in.csv").write_text(f"{line}\n{line}\n")
        refused(tmp_path, "no header line", "in.csv", x="lon")


@pytest.mark.parametrize("rows", [None, 5])
def test_lines_that_are_longer_than_the_header(tmp_path, rows):
    """Decimal commas make two columns of one; pandas would shift all columns and make an index of the first."""
    lines = [f"{row % 2},139,7{row},35,6{row}" for row in range(20)]
    (tmp_path / "in.csv").write_text("\n".join(["person,lon,lat", *lines]))
    with pytest.raises(InputError, match="more columns than its first line"):
        files.read(tmp_path / "in.csv")
    with pytest.raises(InputError, match="more columns than its first line"):
        perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", 4, batch_rows=rows, domain=(139, 35, 140, 36))
