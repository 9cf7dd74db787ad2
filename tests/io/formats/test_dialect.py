import pandas as pd
import pytest

from geotracs import InputError, files
from geotracs.io.formats.dialect import Dialect, asked
from geotracs.release.file import perturb_file
from tests.helpers import quiet

TABLE = pd.DataFrame({"who": ["a, b", "c"], "lon": [139.71, 139.72], "lat": [35.61, 35.62], "n": [1, 2]})


@pytest.mark.parametrize(
    "written",
    [
        {"sep": ";"},
        {"sep": ";", "decimal": ","},
        {"sep": "\t", "decimal": ","},
        {"sep": "|"},
        {"decimal": ","},  # pandas puts quotation marks around the numbers
        {"encoding": "utf-8-sig"},
        {"sep": "\t", "encoding": "utf-16"},
        {"sep": ";", "encoding": "utf-16-be"},
    ],
)
def test_a_table_is_read_however_it_is_written(written, tmp_path):
    path = tmp_path / "in.csv"
    if written.get("encoding") == "utf-16-be":
        text = "\ufeff" + TABLE.to_csv(index=False, sep=";")
        path.write_bytes(text.encode("utf-16-be"))
    else:
        TABLE.to_csv(path, index=False, quoting=1 if written == {"decimal": ","} else 0, **written)
    frame = files.read(path)
    assert frame["who"].tolist() == ["a, b", "c"]
    assert frame["n"].tolist() == [1, 2]
    assert frame.geometry.x.tolist() == TABLE["lon"].tolist()
    assert frame.geometry.y.tolist() == TABLE["lat"].tolist()


def test_batches_are_read_alike(tmp_path):
    TABLE.to_csv(tmp_path / "in.csv", sep=";", decimal=",", index=False)
    arguments = {"domain": (139, 35, 140, 36), "keep": ["n"], "rng": 1, "overwrite": True}
    found = []
    for rows in (None, 1):
        quiet(perturb_file, tmp_path / "in.csv", tmp_path / "out.csv", 4, batch_rows=rows, **arguments)
        found.append((tmp_path / "out.csv").read_text())
    assert found[0] == found[1]
    assert found[0].startswith("n,lon,lat\n1,139.")


def test_what_is_given_is_taken(tmp_path):
    (tmp_path / "in.txt").write_bytes("7 caf\xe9 139.7 35.7\n".encode("latin-1"))
    names = ["user", "venue", "lon", "lat"]
    frame = files.read(tmp_path / "in.txt", sep="space", columns=names, encoding="latin-1")
    assert frame["venue"].tolist() == ["caf\xe9"]
    assert frame.geometry.y.tolist() == [35.7]
    with pytest.raises(InputError, match="not in UTF-8; save it as UTF-8, or say its encoding"):
        files.read(tmp_path / "in.txt", sep="space", columns=names)


def test_separators_inside_of_quotation_marks_do_not_count():
    assert Dialect.of_text('"a;b;c;d",lon,lat\n1,2,3\n').separator == ","
    assert Dialect.of_text("lon\n1\n").separator == ","
    assert Dialect.of_text("", usual="\t").separator == "\t"


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"sep": "--"}, "`sep` must be one character"),
        ({"sep": 1}, "`sep` must be one character"),
        ({"columns": "user"}, "`columns` must be a list of names"),
        ({"columns": ["lat", "lat"]}, "two columns alike"),
        ({"encoding": "utf-99"}, "`encoding` must be the name of one"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(InputError, match=match):
        asked(**arguments)
