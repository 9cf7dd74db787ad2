"""The mark of a preparation, on its way to the guarantee."""

import dask_geopandas
import geopandas as gpd
import pytest
import shapely

import geotracs
from geotracs import InputError, prepare
from geotracs.geo.prepare.rows import marks, read
from tests.geo.prepare.frames import COLUMNS, walk
from tests.helpers import quiet

BOX = (-5000.0, -5000.0, 5000.0, 5000.0)
LOOKED = "prepared by where somebody was, at several moments or beside private areas (zones)"
BY_TIME = "prepared by their times and order only (trim)"


def ready():
    """A frame with two marks, one of which looked at places."""
    return prepare.trim(prepare.zones(walk(), shapely.box(290, -5, 310, 5)), "1min", **COLUMNS)


def released(frame, **arguments):
    return quiet(geotracs.perturb, frame, 4, domain=BOX, keep=[], **COLUMNS, **arguments)


def test_marks_add_up_and_the_guarantee_says_a_sentence():
    frame = ready()
    assert [mark["step"] for mark in marks(frame)] == ["zones", "trim"]
    guarantee = released(frame).tracs.guarantee
    assert [mark["step"] for mark in guarantee.prepared] == ["zones", "trim"]
    assert LOOKED in str(guarantee)
    assert "does not cover that" in str(guarantee)
    by_time = released(prepare.trim(walk(), "1min", **COLUMNS)).tracs.guarantee
    assert BY_TIME in str(by_time)
    assert "prepared" not in released(walk()).attrs["tracs"]


@pytest.mark.parametrize("ending", ["parquet", "gpkg"])
def test_the_mark_survives_files_streams_and_what_is_released_from_them(tmp_path, ending):
    source, target = tmp_path / f"ready.{ending}", tmp_path / f"private.{ending}"
    geotracs.files.write(ready(), source)
    assert [mark["step"] for mark in marks(geotracs.files.read(source))] == ["zones", "trim"]
    for rows in (None, 5):
        given = {"domain": BOX, "keep": [], "batch_rows": rows, "overwrite": True, **COLUMNS}
        guarantee = quiet(geotracs.perturb_file, source, target, 4, **given)
        assert LOOKED in str(guarantee)
        assert LOOKED in str(geotracs.files.read(target).tracs.guarantee)


def test_the_mark_survives_dask():
    private = quiet(
        dask_geopandas.from_geopandas(ready(), npartitions=2).tracs.perturb, 4, domain=BOX, keep=[], **COLUMNS
    )
    assert LOOKED in str(private.tracs.guarantee)
    assert LOOKED in str(private.compute().tracs.guarantee)


def test_pieces_keep_the_mark():
    frame = ready()
    for piece in (frame.iloc[:5], frame[frame["person"] == "a"], frame.sort_values("t"), frame.to_crs(4326)):
        assert [mark["step"] for mark in marks(piece)] == ["zones", "trim"]


def test_a_release_is_not_prepared_and_a_mark_of_somebody_else_is_none():
    with pytest.raises(InputError, match="a release already"):
        prepare.thin(released(walk()), fixes=2)
    assert read({"prepared": "much"}) == read({"prepared": [1]}) == read(None) == []
    odd = walk()
    odd.attrs["tracs"] = {"prepared": [{"step": "trim"}]}
    assert released(odd).tracs.guarantee.prepared == []


def test_what_is_prepared_holds_no_location_in_its_mark():
    frame = prepare.zones(walk(), gpd.GeoSeries([shapely.Point(1234.5, 0)], crs=32654), radius=200)
    assert "1234" not in str(marks(frame))
