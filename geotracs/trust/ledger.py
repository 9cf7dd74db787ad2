"""A ledger: how much epsilon each person has spent, over all releases, and what is left."""

import os
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from geotracs.core.budget import billionths
from geotracs.errors import BudgetError, GeotracsError, InputError, PrivacyWarning, quoted, sealed, warn
from geotracs.geo.people import text
from geotracs.trust.store import Store

PER = ("person", "data")
MAX_BUDGET = 10**9
"""The largest budget; sums of billionths up to it are exact."""
CEILING = 2**61
"""What a person is charged at most, in billionths: more than any budget allows, and no sum of two overflows."""
WAIT = 30.0
QUANTILES = {"median": 0.5, "90%": 0.9, "largest": 1.0}
OF_ALL = "(all)"


class Ledger:
    """An account for each person: every release is charged before it is drawn, and never beyond the budget.

    Parameters
    ----------
    path : path
        A SQLite file. It is made if it is not there and ``budget`` is given, readable by its owner only.
    budget : float, optional
        The epsilon that each person may spend. Of a ledger that exists it must be the one that it has; `set_budget`
        changes it.
    per : {"person", "data"}, optional
        Whether the budget is for a person, over all data ("person", the default), or for each person and each name of
        data. With "person" a label means the same person in all data; with "data" labels of different data are
        different people.
    timeout : float
        How many seconds to wait while other processes use the ledger.

    Notes
    -----
    *What is charged.* The sum of what was spent on a person: epsilon for each location, or for each trajectory with
    ``unit="trajectory"``. Sums are exact, in billionths of epsilon, rounded up. A person is a value of ``person``, or
    of ``trajectory``; 7, 7.0 and "7" are the same.

    *When.* Before the draw, in one transaction that is on disk before anything is drawn: all people of a release are
    charged, or none. Whenever a process is killed, what was charged is at least what was released. A release that
    raises before anything of it was written gives its charge back.

    *What is not charged again.* Only the same draw, which tells nothing new:

    - A fixed ``rng``: the same rows, arguments and seed give the same reports. The ledger recognises them. (With a
      ledger the draws depend on the rows and the arguments, too. So the same seed gives other rows other draws, as a
      sum of epsilons needs.)
    - A release that was charged but not finished, because the process was killed or the disk was full: with its charge
      the ledger keeps the key of its draws until the release is written, by `perturb_file`, or returned, by `perturb`.
      The same rows with the same arguments then give exactly the release that was begun. Nothing new would be learned
      if parts of it had been seen. After that the key is erased.

    Anything else is another release and costs again: fresh randomness for the same data above all, since two reports of
    one location tell more than one. A dask frame is charged when `perturb` is called, and is finished then: computing
    it again costs nothing, calling `perturb` again does.

    *What the file holds.* Keyed hashes of labels (HMAC-SHA256), sums, the names of data, when releases were charged. No
    label, no location, no time of a row. The key of the hashes is in the file: whoever reads it can try labels, and
    can undo a release that is not finished yet. So keep it where the originals are. An older copy of the file forgets
    what was spent since.

    Examples
    --------
    >>> import geotracs, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ledger.db"
    >>> ledger = geotracs.Ledger(path, budget=1000)
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = geotracs.perturb(
    ...     city.tracks, 0.5, domain=city.boundary, trajectory="person", time="t", keep=[], ledger=ledger, data="city"
    ... )
    >>> ledger.spent(0) == 0.5 * len(city.tracks[city.tracks["person"] == 0])
    True
    >>> ledger.spent().loc["city", "people"]
    np.int64(3)
    """

    _store: Store
    _per: str

    @sealed
    def __init__(
        self, path: str | Path, budget: float | None = None, per: str | None = None, *, timeout: float = WAIT
    ) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise InputError(f"`path` must be the name of a file, got {type(path).__name__}.")
        if isinstance(timeout, bool) or not isinstance(timeout, Real) or not 0 <= timeout <= 1e6:
            raise InputError(f"`timeout` must be a number of seconds, got {quoted(timeout)}.")
        if per is not None and (not isinstance(per, str) or per not in PER):
            raise InputError(f"`per` must be one of {list(PER)}, got {quoted(per)}.")
        given = None if budget is None else _budget(budget)
        self._store = Store(Path(path), float(timeout))
        if not self._store.exists():
            if given is None:
                raise InputError(f"There is no ledger {str(path)!r}; give `budget` to make one.")
            self._store.create({"budget": given, "per": per or PER[0]})
        facts = self._store.open()
        self._per = str(facts["per"])
        for name, asked in (("budget", given), ("per", per)):
            if asked is not None and asked != facts[name]:
                has = f"{_eps(facts[name]):g}" if name == "budget" else repr(facts[name])
                fix = "change it with set_budget(...)" if name == "budget" else "make another ledger"
                raise InputError(f"The ledger {str(path)!r} has {name}={has}, not the one that is given; {fix}.")

    def __repr__(self) -> str:
        return f"<Ledger {self.path.name!r}, a budget per {self._per}>"

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._store.path

    @property
    def per(self) -> str:
        """What the budget is for."""
        return self._per

    @property
    def budget(self) -> float:
        """The epsilon that each may spend."""
        with self._store.reading() as db:
            return _eps(_budget_of(db))

    @sealed
    def set_budget(self, budget: float) -> None:
        """Change the budget; the change is entered. Who has spent more than a lower one can spend no more."""
        wanted = _budget(budget)
        with self._store.writing() as db:
            if wanted != _budget_of(db):
                db.execute("UPDATE facts SET value = ? WHERE name = 'budget'", [wanted])
                _enter(db, "budget", None, None, wanted)

    @sealed
    def charge(self, people: Mapping[Any, float] | pd.Series, data: str) -> None:
        """Charge people for a release that was made elsewhere; all of them, or raise and charge none.

        Parameters
        ----------
        people : mapping or Series
            Epsilon by label.
        data : str
            The name of the data.
        """
        if not isinstance(people, (Mapping, pd.Series)):
            raise InputError(f"`people` must map labels to epsilons, got {type(people).__name__}.")
        if not isinstance(data, str) or not data.strip():
            raise InputError(f"`data` must be the name of the data, got {quoted(data)}.")
        due: dict[str, int] = {}
        for label, eps in people.items():
            missing = pd.api.types.is_scalar(label) and bool(pd.isna(label))  # type: ignore[arg-type]  # it is one
            if missing or isinstance(eps, bool) or not isinstance(eps, Real) or not 0 < float(eps) < float("inf"):
                raise InputError("`people` must map labels to epsilons greater than 0; some are missing or are not.")
            due[text(label)] = due.get(text(label), 0) + billionths(float(eps))
        hashed = self._hashed(due, data)
        with self._store.writing() as db:
            _charge(db, hashed, data)
            _enter(db, "charge", data, len(hashed), max(hashed.values(), default=0))

    def spent(self, person: Any = None, data: str | None = None) -> Any:
        """Return how much epsilon was spent.

        Parameters
        ----------
        person : label or Series of labels, optional
            Return the epsilon of that person; of a Series of labels, a Series of epsilons.
        data : str, optional
            On these data only. For a ``person`` it is required if the budget is per data.

        Returns
        -------
        DataFrame, float or Series
            Without a person, a row for each name of data and one for all: how many ``people``, the ``mean``, the
            ``median``, the 90% quantile and the ``largest`` of what was spent, and the least that is ``left`` to
            somebody. No label is in it.
        """
        if person is None:
            return self._summary(data)
        if self._per == "data" and data is None:
            raise InputError("The budget of this ledger is per data: say of which, with `data`.")
        many = isinstance(person, (pd.Series, pd.Index, list, tuple))
        labels = pd.Series(person) if many else pd.Series([person], dtype=object)
        if labels.isna().any():
            raise InputError(f"{int(labels.isna().sum())} labels of `person` are missing; drop them.")
        query, more = "SELECT coalesce(sum(eps), 0) FROM spent WHERE person = ?", []
        if data is not None:
            query, more = f"{query} AND data = ?", [data]
        with self._store.reading() as db:
            known = {
                label: _eps(db.execute(query, [self._hash(text(label), data), *more]).fetchone()[0])
                for label in labels.unique()
            }
        return labels.map(known).astype(float) if many else next(iter(known.values()))

    def entries(self) -> pd.DataFrame:
        """Return what was entered: releases, charges and changes of the budget, the oldest first.

        ``largest`` is the largest charge of a person, or the new budget; ``finished`` whether a release was completed.
        """
        with self._store.reading() as db:
            rows = db.execute("SELECT id, made, kind, data, people, largest, bits IS NULL FROM entries ORDER BY id")
            table = pd.DataFrame(
                rows.fetchall(), columns=["entry", "made", "kind", "data", "people", "largest", "finished"]
            )
        table["largest"] = table["largest"].map(_eps).astype(float)
        table = table.astype({"people": "Int64", "finished": bool})
        return table.set_index("entry")

    def enter(self, data: str, people: dict[str, int], mark: bytes, bits: bytes | None) -> tuple[int, bytes | None]:
        """Charge a release, unless it was charged; `geotracs.perturb` calls this.

        Parameters
        ----------
        people : dict
            Billionths of epsilon by label.
        mark : bytes
            Recognises the release.
        bits : bytes or None
            The key of the draws, if it is fresh: kept until the release is finished.

        Returns
        -------
        (int, bytes or None)
            The number of the entry, and the key to draw with: that of the same release if it was begun before.
        """
        hashed, own = self._hashed(people, data), self._store.marked(mark)
        with self._store.writing() as db:
            found = db.execute("SELECT id, bits FROM entries WHERE mark = ?", [own]).fetchone()
            if found is not None:
                db.execute("UPDATE entries SET runs = runs + 1 WHERE id = ?", [found[0]])
                return int(found[0]), found[1]
            _charge(db, hashed, data)
            return _enter(db, "release", data, len(hashed), max(hashed.values(), default=0), own, bits), bits

    def finish(self, entry: int) -> None:
        """Note that a release exists: its key is erased, and fresh randomness costs again."""
        try:
            with self._store.writing() as db:
                db.execute("UPDATE entries SET mark = NULL, bits = NULL WHERE id = ? AND bits IS NOT NULL", [entry])
        except GeotracsError:
            warn(
                f"The release is complete and charged, but the ledger {str(self.path)!r} cannot be written now: it "
                "still holds the key of the release. Make it writable and make the same release again, which costs "
                "nothing.",
                PrivacyWarning,
            )

    def withdraw(self, entry: int, data: str, people: dict[str, int]) -> None:
        """Give a charge back, unless another run uses it too: its release failed, and nothing of it is left."""
        hashed = self._hashed(people, data)
        try:
            with self._store.writing() as db:
                (alone,) = db.execute("SELECT count(*) FROM entries WHERE id = ? AND runs = 1", [entry]).fetchone()
                if alone:
                    each = [(eps, person, data) for person, eps in hashed.items()]
                    db.executemany("DELETE FROM spent WHERE eps = ? AND person = ? AND data = ?", each)
                    db.executemany("UPDATE spent SET eps = eps - ? WHERE person = ? AND data = ?", each)
                    change = "kind = 'withdrawn', mark = NULL, bits = NULL"
                    db.execute(f"UPDATE entries SET {change} WHERE id = ?", [entry])
        except GeotracsError:  # the charge stays, and the same release may be made for it
            pass

    def _hash(self, label: str, data: str | None) -> bytes:
        return self._store.hashed(label) if self._per == "person" else self._store.hashed(label, str(data))

    def _hashed(self, people: dict[str, int], data: str) -> dict[bytes, int]:
        """Return what each is charged by hash; nothing for those who have no location."""
        return {self._hash(label, data): min(eps, CEILING) for label, eps in people.items() if eps > 0}

    def _summary(self, data: str | None) -> pd.DataFrame:
        with self._store.reading() as db:
            budget = _budget_of(db)
            rows = db.execute("SELECT person, data, eps FROM spent").fetchall()
        table = pd.DataFrame(rows, columns=["person", "data", "eps"])
        left = (budget - table.groupby("person")["eps"].sum()).clip(lower=0)
        parts = {str(name): part for name, part in table.groupby("data")}
        parts = {OF_ALL: table, **parts} if data is None else {name: p for name, p in parts.items() if name == data}
        found = {}
        for name, part in parts.items():
            each = part.groupby("person")["eps"].sum() / 1e9
            known: dict[str, float] = {"people": len(each), "mean": float(each.mean())}
            known |= {word: float(each.quantile(share)) for word, share in QUANTILES.items()}
            found[name] = known | {"left": (left[each.index].min() if len(each) else budget) / 1e9}
        columns = ["people", "mean", *QUANTILES, "left"]
        result = pd.DataFrame.from_dict(found, orient="index", columns=columns).rename_axis("data")
        return result.astype({"people": "int64"})


def _charge(db: sqlite3.Connection, people: dict[bytes, int], data: str) -> None:
    """Charge everybody, or raise because that would be too much for somebody."""
    db.execute("CREATE TEMP TABLE due (person BLOB PRIMARY KEY, eps INTEGER) WITHOUT ROWID")
    db.executemany("INSERT INTO due VALUES (?, ?)", people.items())
    budget = _budget_of(db)
    total = "coalesce((SELECT sum(eps) FROM spent WHERE spent.person = due.person), 0)"
    over, most, least = db.execute(
        f"SELECT count(*), max(eps), min(? - {total}) FROM due WHERE eps + {total} > ?", [budget, budget]
    ).fetchone()
    if over:
        raise BudgetError(
            f"The budget of epsilon {_eps(budget):g} is not enough for {over:,} of {len(people):,} people: they would "
            f"be charged up to {_eps(most):g}, and one of them has {_eps(max(least, 0)):g} left. Nothing was drawn and "
            "nobody was charged. Use a smaller `eps`, fewer rows, or leave out those who have spent theirs."
        )
    db.execute(
        "INSERT INTO spent SELECT person, ?, eps FROM due WHERE true "
        "ON CONFLICT (person, data) DO UPDATE SET eps = eps + excluded.eps",
        [data],
    )


def _enter(
    db: sqlite3.Connection,
    kind: str,
    data: str | None,
    people: int | None,
    largest: int,
    mark: bytes | None = None,
    bits: bytes | None = None,
) -> int:
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    entered = db.execute(
        "INSERT INTO entries (made, kind, data, people, largest, mark, bits) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [made, kind, data, people, largest, mark, bits],
    )
    return int(entered.lastrowid or 0)


def _budget_of(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT value FROM facts WHERE name = 'budget'").fetchone()[0])


def _budget(budget: Any) -> int:
    """Return a budget in billionths, rounded down to the decimal that was typed, or raise."""
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise InputError(f"`budget` must be one number, got {type(budget).__name__}.")
    number = float(budget)
    if not 1e-9 <= number <= MAX_BUDGET:
        raise InputError(f"`budget` must be an epsilon greater than 0 and at most {MAX_BUDGET:g}, got {number:g}.")
    return -billionths(-number)


def _eps(number: Any) -> float:
    """Return billionths as an epsilon."""
    return int(number) / 1e9
