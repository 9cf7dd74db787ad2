"""The file of a ledger: one SQLite database, opened for one transaction at a time."""

import hmac
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from geotracs.errors import InputError, PrivacyWarning, debugging, warn

APPLICATION = 0x67745243
"""What marks a database as a ledger..."""
VERSION = 1
"""...and the version of its tables."""
KEY_BYTES = 32
WHAT = b"geotracs ledger"
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL, kind TEXT NOT NULL, data TEXT, people INTEGER,
    largest INTEGER, runs INTEGER NOT NULL DEFAULT 1, mark BLOB UNIQUE, bits BLOB
);
CREATE TABLE spent (
    person BLOB NOT NULL, data TEXT NOT NULL, eps INTEGER NOT NULL CHECK (eps > 0), PRIMARY KEY (person, data)
) WITHOUT ROWID;
"""
TROUBLES = {
    "SQLITE_BUSY": "another process uses it for longer than {timeout:g} s. Try again later",
    "SQLITE_LOCKED": "another process uses it for longer than {timeout:g} s. Try again later",
    "SQLITE_READONLY": "it cannot be written: the disk or the file is read-only. Give a ledger that can be written",
    "SQLITE_CANTOPEN": "it cannot be opened. Check the name and the permissions of the file and its folder",
    "SQLITE_PERM": "it cannot be opened. Check the permissions of the file and its folder",
    "SQLITE_FULL": "the disk is full. Make room and try again",
    "SQLITE_IOERR": "the disk reports an error. Check the disk and try again",
    "SQLITE_NOTADB": "it is not a SQLite database, and so not a ledger. Give another name",
}


class Store:
    """A database and its key; a connection lives as long as one transaction, so processes may share the file.

    Parameters
    ----------
    timeout : float
        How many seconds to wait for other processes.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self.path, self.timeout = path, timeout
        self._key = b""

    def create(self, facts: dict[str, object]) -> None:
        """Make the file, which only its owner can read, and its tables, unless another process was faster."""
        if not os.path.isdir(self.path.parent):
            raise InputError(f"There is no folder {str(self.path.parent)!r} for the ledger.")
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise InputError(f"The ledger {str(self.path)!r} cannot be made: {error.strerror}.") from None
        key = secrets.token_bytes(KEY_BYTES)
        with self._connected() as db:
            db.execute("BEGIN IMMEDIATE")
            if not self._is_empty(db):
                return
            for statement in TABLES.split(";")[:-1]:
                db.execute(statement)
            own = {"key": key, "check": _check(key), **facts}
            db.executemany("INSERT INTO facts VALUES (?, ?)", own.items())
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")

    def exists(self) -> bool:
        """Return whether something is there; an empty database is what a process that was killed left behind."""
        if not os.path.exists(self.path):
            return False
        if not self.path.is_file():
            raise InputError(f"{str(self.path)!r} is not a file; a ledger is one.")
        with self._connected() as db:
            return not self._is_empty(db)

    def open(self) -> dict[str, object]:
        """Check that this is a ledger, and return what is known of it."""
        with self.reading() as db:
            facts = dict(db.execute("SELECT name, value FROM facts"))
        self._key = bytes(facts["key"])
        if hasattr(os, "getuid") and stat.S_IMODE(self.path.stat().st_mode) & 0o077:
            warn(
                f"Others can read the ledger {str(self.path)!r}, and with its key find out whether somebody they know "
                "is in it; use chmod 600.",
                PrivacyWarning,
            )
        return facts

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees one state of the ledger."""
        with self._connected() as db:
            db.execute("BEGIN")
            self._check_kind(db)
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that is alone in writing; all of it is entered in the end, or nothing."""
        with self._connected() as db:
            db.execute("BEGIN IMMEDIATE")
            self._check_kind(db)
            yield db
            db.execute("COMMIT")

    def hashed(self, *texts: str) -> bytes:
        """Return the keyed hash of a label, by which the ledger knows a person."""
        return hmac.digest(self._key, "\0".join(["person", *texts]).encode("utf-8", "surrogatepass"), "sha256")[:16]

    def marked(self, mark: bytes) -> bytes:
        """Return the keyed hash of what recognises a release."""
        return hmac.digest(self._key, b"release\0" + mark, "sha256")

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect()) as db:
                db.execute("PRAGMA synchronous = EXTRA")  # what is entered stays, even if the power fails
                db.execute("PRAGMA secure_delete = ON")
                db.execute("PRAGMA temp_store = MEMORY")
                yield db
        except sqlite3.Error as error:
            if debugging():
                raise
            raise InputError(self._told(error)) from None

    def _connect(self) -> sqlite3.Connection:
        # "rw": a file that is not there is never made by the way.
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", self.timeout, isolation_level=None, uri=True)

    def _told(self, error: sqlite3.Error) -> str:
        name = getattr(error, "sqlite_errorname", "") or ""
        why = next((words for code, words in TROUBLES.items() if name.startswith(code)), "it is damaged. Restore it")
        return f"Nothing was changed in the ledger {str(self.path)!r}: {why.format(timeout=self.timeout)}."

    def _is_empty(self, db: sqlite3.Connection) -> bool:
        return db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0

    def _check_kind(self, db: sqlite3.Connection) -> None:
        """Raise unless this is a ledger of this version, with the key that its entries were made with."""
        name = f"{str(self.path)!r}"
        if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise InputError(f"{name} is a database, but not a ledger of geotracs; give another name.")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            raise InputError(
                f"The ledger {name} is of version {version}, and this version of geotracs knows {VERSION} only; use "
                "the geotracs that it was made with, or a newer one."
            )
        key, check = (db.execute("SELECT value FROM facts WHERE name = ?", [n]).fetchone() for n in ("key", "check"))
        right = key and check and hmac.compare_digest(_check(bytes(key[0])), bytes(check[0]))
        if not right or (self._key and not hmac.compare_digest(self._key, bytes(key[0]))):
            raise InputError(
                f"The ledger {name} has another key than its entries were made with, so that people would not be "
                "recognised; restore the file, or open the ledger again if it was replaced."
            )


def _check(key: bytes) -> bytes:
    """Return what recognises a key."""
    return hmac.digest(key, WHAT, "sha256")
