"""The pages about other engines, followed as they are written."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geotracs.io import wkb

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def fixes(tmp_path, monkeypatch):
    """The columns that the pages name, in the folder where they are followed."""
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(1), 400
    xy = rng.uniform((139.6, 35.6), (139.8, 35.8), (n, 2))
    columns = {"vehicle": np.arange(n) // 20, "t": np.arange(n) % 20}
    pq.write_table(pa.table({**columns, "geometry": wkb.encode(xy, np.ones(n, dtype=bool))}), "fixes.parquet")
    pd.DataFrame({**columns, "lon": xy[:, 0], "lat": xy[:, 1]}).to_csv("fixes.csv", index=False)
    return n


@pytest.mark.filterwarnings("ignore::geotracs.GeotracsWarning")
def test_duckdb(fixes):
    known = {}
    for code in re.findall(r"```python\n(.*?)```", (DOCS / "duckdb.md").read_text(), re.DOTALL):
        exec(code, known)
    private = pq.read_table("private.parquet")
    assert private.column_names == ["vehicle", "t", "geometry"]
    assert private.num_rows == fixes // 2  # those with t >= 10
    found, original = pd.read_csv("private.csv"), pd.read_csv("fixes.csv")
    assert found[["vehicle", "t"]].equals(original[["vehicle", "t"]])
    assert found["lon"].between(139.47, 139.92).all()
    assert not np.isin(found["lon"], original["lon"]).any()
