"""The figures that the paper's authors published: read from a folder of the user's, or quoted from the text."""

from pathlib import Path

import pandas as pd

from geotracs.errors import InputError

COLUMNS = {
    "tracs_c": "tracs-c",
    "tracs_d": "tracs-d",
    "strawman": "strawman k=6",
    "2d_laplace": "planar-laplace",
    "sw": "tracs-d r-sw",
    "tp": "atp",
    "ngram": "ngram",
    "srr": "l-srr",
    "lsrr": "l-srr",
    "3-RR": "strawman k=3",
    "6-RR": "strawman k=6",
    "12-RR": "strawman k=12",
    "results_10": "exponential 10x10",
    "results_100": "exponential 100x100",
    "results_tracs_c": "tracs-c",
}
"""What the columns of the published files are called here."""

MILLISECONDS = {"atp": 145.7, "ngram": 100.9, "l-srr": 6.2, "tracs-d": 0.06, "tracs-c": 0.05}
"""The paper's table "Time cost comparison": total, per location, on TKY."""

RATIOS = {
    ("continuous-experiment_1_1", "tracs-d", "strawman k=6"): 0.911,
    ("continuous-experiment_1_1", "tracs-c", "strawman k=6"): 0.755,
    ("continuous-experiment_1_2", "tracs-d", "strawman k=6"): 0.866,
    ("continuous-experiment_1_2", "tracs-c", "strawman k=6"): 0.640,
    ("continuous-experiment_1_3", "tracs-d", "tracs-c"): 0.498,
    ("continuous-experiment_3", "tracs-d", "tracs-d r-sw"): 0.526,
    ("continuous-experiment_5_tky", "tracs-d", "strawman k=6"): 0.968,
    ("continuous-experiment_5_tky", "tracs-c", "strawman k=6"): 0.897,
    ("continuous-experiment_5_chi", "tracs-d", "strawman k=6"): 0.945,
    ("continuous-experiment_5_chi", "tracs-c", "strawman k=6"): 0.612,
    ("discrete-experiment_1_1", "tracs-c", "ngram"): 0.661,
    ("discrete-experiment_1_1", "tracs-c", "l-srr"): 0.571,
    ("discrete-experiment_1_1", "tracs-c", "atp"): 0.638,
    ("discrete-experiment_1_1", "tracs-d", "ngram"): 0.769,
    ("discrete-experiment_1_1", "tracs-d", "l-srr"): 0.664,
    ("discrete-experiment_1_1", "tracs-d", "atp"): 0.742,
    ("discrete-experiment_1_2", "tracs-c", "ngram"): 0.576,
    ("discrete-experiment_1_2", "tracs-c", "l-srr"): 0.526,
    ("discrete-experiment_1_2", "tracs-c", "atp"): 0.611,
    ("discrete-experiment_1_2", "tracs-d", "ngram"): 0.712,
    ("discrete-experiment_1_2", "tracs-d", "l-srr"): 0.650,
    ("discrete-experiment_1_2", "tracs-d", "atp"): 0.755,
}
"""The paper's claims in its section "Evaluation" and its appendix: one mean error as a part of another."""


def read(folder: str | Path | None, name: str) -> pd.DataFrame:
    """Return a published file as rows of method, epsilon and figure; no rows without a folder.

    Examples
    --------
    >>> read(None, "continuous-experiment_1_1").columns.tolist()
    ['method', 'epsilon', 'published']
    """
    nothing = pd.DataFrame({"method": pd.Series(dtype=str), "epsilon": [], "published": []}, dtype=float)
    if folder is None:
        return nothing.astype({"method": str})
    path = Path(folder) / f"{name}.csv"
    if not path.exists():
        raise InputError(f"`published` must be the folder of the published figures; it has no {path.name}.")
    wide = pd.read_csv(path, skipinitialspace=True).dropna(how="all").rename(columns=COLUMNS)
    return wide.melt("epsilon", var_name="method", value_name="published").astype({"epsilon": float})


def ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's claims about this experiment: the ratio of two methods' mean errors, published and ours."""
    rows = []
    for (experiment, one, other), value in RATIOS.items():
        if experiment == frame["experiment"].iloc[0]:
            means = [frame.loc[frame["method"] == method, "ours"].mean() for method in (one, other)]
            rows.append({"ratio": f"{one} / {other}", "published": value, "ours": means[0] / means[1]})
    return pd.DataFrame(rows, columns=["ratio", "published", "ours"])
