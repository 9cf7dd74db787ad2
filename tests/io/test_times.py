import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs import InputError, files
from geotracs.io.times import Clock, Timed
from geotracs.release.file import perturb_file
from tests.helpers import quiet

DATES = pd.date_range("2026-03-12 23:59", periods=4, freq="6h")


def written(form):
    if form in ("s", "ms"):
        return DATES.as_unit(form).astype("int64")
    return DATES.strftime(form)


@pytest.mark.parametrize("form", ["%d/%m/%Y %H:%M", "%a %b %d %H:%M:%S +0000 %Y", "%d.%m.%y %H.%M", "s", "ms"])
def test_times_are_read_by_their_form(form):
    found = Clock("t", form).read(pd.Series(written(form)))
    assert found.dt.tz_localize(None).tolist() == DATES.tolist()


@pytest.mark.parametrize("form", ["%d/%m/%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%Y-%m-%d %H:%M"])
def test_the_form_is_guessed_with_the_day_first(form):
    found = Clock("t", dayfirst=True).read(pd.Series(["03" + written(form)[0][2:] if form[1] == "d" else "2026-03-12"]))
    assert found.dt.month.tolist() == [3]


def test_what_does_not_fit_is_counted_and_not_quoted():
    values = pd.Series(["13/02/2026", "Rue de la Paix", None, "02/13/2026"])
    with pytest.raises(InputError, match=r"2 value\(s\) of the time column 't' .* e.g. row 11, row 13") as caught:
        Clock("t", "%d/%m/%Y").read(values, first=10)
    assert "Paix" not in str(caught.value)
    with pytest.raises(InputError, match="does not hold dates that can be recognised"):
        Clock("t", dayfirst=True).read(pd.Series(["noon"]))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"dayfirst": True}, "name it with `time`"),
        ({"time": "t", "time_format": "dd/mm"}, "`time_format` must be like"),
        ({"time": "t", "dayfirst": 1}, "`dayfirst` must be True or False"),
        ({"time": "when", "dayfirst": True}, "There is no column 'when'; the columns are"),
    ],
)
def test_bad_arguments(arguments, match, tmp_path):
    pd.DataFrame({"t": ["13/02/2026"], "lon": 1.0, "lat": 2.0}).to_csv(tmp_path / "in.csv", index=False)
    with pytest.raises(InputError, match=match):
        files.read(tmp_path / "in.csv", **arguments)
    with pytest.raises(InputError, match=match):
        files.open_source(tmp_path / "in.csv", **arguments)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_read_in_batches_as_they_are_at_once(ending, tmp_path):
    n = 40
    table = pd.DataFrame({"t": np.resize(written("%d/%m/%Y %H:%M"), n), "lon": 139.5, "lat": 35.5})
    frame = gpd.GeoDataFrame(table[["t"]], geometry=gpd.points_from_xy(table["lon"], table["lat"]), crs=4326)
    files.write(frame, tmp_path / f"in.{ending}")
    arguments = {"domain": (139, 35, 140, 36), "keep": [], "rng": 1, "time": "t", "dayfirst": True, "overwrite": True}
    found = []
    for rows in (None, 7):
        quiet(perturb_file, tmp_path / f"in.{ending}", tmp_path / "out.csv", 4, batch_rows=rows, **arguments)
        found.append((tmp_path / "out.csv").read_text())
    assert found[0] == found[1]
    assert "2026-03-12 23:59" in found[0]


def test_a_column_of_dates_needs_no_clock(tmp_path):
    frame = gpd.GeoDataFrame({"t": DATES}, geometry=gpd.points_from_xy([1.0] * 4, [2.0] * 4), crs=4326)
    files.write(frame, tmp_path / "in.parquet")
    assert files.read(tmp_path / "in.parquet", time="t", dayfirst=True)["t"].tolist() == DATES.tolist()
    assert not isinstance(files.open_source(tmp_path / "in.parquet", time="t", dayfirst=True), Timed)
