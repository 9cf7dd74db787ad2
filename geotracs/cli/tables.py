"""Tables for programs: JSON."""

import json
from typing import Any

import numpy as np
import pandas as pd


def in_json(whole: dict[str, Any]) -> str:
    """Return plain values, and such of numpy and pandas, as JSON."""
    return json.dumps(_finite(whole), default=str, ensure_ascii=False)


def rows_of(table: pd.DataFrame | pd.Series) -> list[dict[str, Any]]:
    """Return the rows of a table without their geometries; a series is one row.

    Examples
    --------
    >>> rows_of(pd.DataFrame({"mean": [1.5]}, index=pd.Index(["joint"], name="method")))
    [{'method': 'joint', 'mean': 1.5}]
    """
    if isinstance(table, pd.Series):
        return [{str(key): value for key, value in table.items()}]
    table = table.reset_index() if table.index.name is not None else table
    return [{str(key): value for key, value in row.items()} for row in plain(table).to_dict("records")]


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without its geometry."""
    geometry = getattr(table, "active_geometry_name", None)
    return pd.DataFrame(table.drop(columns=[geometry] if geometry is not None else []))


def _finite(value: Any) -> Any:
    """Return plain values: JSON has no numpy numbers and no NaN."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
