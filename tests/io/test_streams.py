"""Tables of one size, whatever sizes a file is read in."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from geopandas.testing import assert_geodataframe_equal

from geotracs import InputError
from geotracs.io.streams import Layout, Source, Stream, Summary, fitted, held


@dataclass(frozen=True)
class Numbers(Source):
    sizes: tuple[int, ...] = ()

    def pieces(self, schema):
        for size in self.sizes:
            yield pa.table({"number": np.arange(size)}).select(schema.names)


@pytest.mark.parametrize("sizes", [(), (0,), (3,), (5,), (5, 0, 5), (1,) * 12, (23, 2)])
def test_tables_have_the_size_that_is_asked_for(sizes):
    source = Numbers(Path("in"), pa.schema([("number", pa.int64())]), "number", None, None, None, sizes=sizes)
    tables = list(source.tables(5))
    assert [len(table) for table in tables[:-1]] == [5] * (len(tables) - 1)
    expected = np.concatenate([[], *map(np.arange, sizes)])
    assert np.array_equal(np.concatenate([table["number"] for table in tables]), expected)
    assert len(tables) == max(1, -(-len(expected) // 5))


@pytest.mark.parametrize("columns", [[], ["person"]])
def test_a_frame_in_memory_is_a_source_and_a_stream(tracks, columns):
    frame = tracks[[*columns, "geometry"]].reset_index(drop=True)
    source = held(frame, Path("in"))
    assert source.rows == len(frame)
    tables = source.tables(7)
    assert_geodataframe_equal(source.frame(pa.concat_tables(tables)), frame)
    layout = Layout(source.schema, "geometry", frame.crs, [], {}, {})
    stream = Stream(layout, source.tables(60), Summary)
    assert_geodataframe_equal(next(stream.frames()), frame)


def test_values_that_do_not_fit_are_not_quoted():
    table = pa.table({"lat": ["35.612345 N"]})
    with pytest.raises(InputError, match=r"'lat' \(string, not double\)") as caught:
        fitted(table, pa.schema([("lat", pa.float64())]), Path("in"))
    assert "35.6" not in str(caught.value)
