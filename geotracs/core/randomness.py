"""Where the randomness comes from: the ``rng`` argument becomes a source of random words."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from numbers import Integral

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from geotracs.errors import InputError, PrivacyWarning, quoted, warn

KEY_BYTES = 32
NAMED = 2**62 + 1
"""The stream of a key from which streams by name take theirs; blocks of locations have smaller numbers."""


class Keystream:
    """Random words from ChaCha20 (OpenSSL's); the key is not kept where it can be read.

    Parameters
    ----------
    key : bytes
        256 bits.
    number : int
        Which of the key's 2**64 independent streams.
    """

    def __init__(self, key: bytes, number: int = 0) -> None:
        nonce = bytes(8) + number.to_bytes(8, "little")
        self._cipher = Cipher(ChaCha20(key, nonce), mode=None).encryptor()

    def words(self, n: int, dtype: type) -> np.ndarray:
        """Return n uniform unsigned integers of that type."""
        return np.frombuffer(self._cipher.update(bytes(n * np.dtype(dtype).itemsize)), dtype)


class Streams:
    """A stream of random words for each of many rows, by the row's name: what one row draws depends on no other row.

    However often the words of some rows are drawn again, and whichever rows there are beside it, a row of the same name
    gets the same words. They are the digests of its name and a counter by BLAKE2b with a secret key, a pseudorandom
    function. Every number that is asked for takes a 64-bit word of its own, of which the lowest bits are returned.

    Parameters
    ----------
    key : bytes
        256 bits.
    names : array of uint8, shape (n, length)
        Of one length, so that different ones are different messages.

    Examples
    --------
    >>> streams = Streams(bytes(32), np.array([[1], [2], [1]], dtype=np.uint8))
    >>> one, other, same = streams.words(3, np.uint32)
    >>> bool(one == same), bool(one == other)
    (True, False)
    >>> bool(streams.of(np.array([1])).words(1, np.uint32)[0] == streams.words(3, np.uint32)[1])
    False
    """

    PER_BLOCK = 8
    """Words of one digest."""

    def __init__(self, key: bytes, names: np.ndarray) -> None:
        self._digest = hashlib.blake2b(key=key, digest_size=8 * self.PER_BLOCK, person=b"geotracs stream")
        self._names = np.ascontiguousarray(names, dtype=np.uint8)
        self._tape = np.empty((len(names), self.PER_BLOCK), dtype=np.uint64)
        self._taken = np.zeros(len(names), dtype=np.int64)
        self._rows = np.arange(len(names))

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, rows: np.ndarray | slice) -> "Streams":
        """Return the streams of some rows; what is drawn from them is drawn from these."""
        some = object.__new__(Streams)
        vars(some).update(vars(self), _rows=self._rows[rows])
        return some

    def each(self) -> Iterator[Keystream]:
        """Yield a stream of its own for each row, where it is not known beforehand how many words that takes."""
        size = KEY_BYTES // 8
        keys = self.words(size * len(self), np.uint64).reshape(size, -1).T.astype("<u8")
        for row in range(len(self)):
            yield Keystream(keys[row].tobytes())

    def words(self, n: int, dtype: type) -> np.ndarray:
        """Return n uniform unsigned integers of that type: as many for each row, the first ones of all rows first."""
        if n == 0:
            return np.empty(0, dtype)
        times, rest = divmod(n, len(self)) if len(self) else (0, n)
        if rest:
            raise ValueError(f"{n} words cannot be drawn from {len(self)} streams alike.")
        return np.concatenate([self._next().astype(dtype) for _ in range(times)])

    def _next(self) -> np.ndarray:
        """Return one word of each row."""
        block, at = np.divmod(self._taken[self._rows], self.PER_BLOCK)
        fresh = self._rows[at == 0]
        if len(fresh):
            self._tape[fresh] = self._blocks(fresh, block[at == 0])
        self._taken[self._rows] += 1
        return self._tape[self._rows, at]

    def _blocks(self, rows: np.ndarray, block: np.ndarray) -> np.ndarray:
        counters = block.astype("<u8").view(np.uint8).reshape(-1, 8)
        messages = np.concatenate([self._names[rows], counters], axis=1)
        return digests(self._digest, messages.tobytes(), messages.shape[1]).view("<u8").astype(np.uint64)


def digests(keyed: "hashlib.blake2b", messages: bytes, length: int) -> np.ndarray:
    """Return the digest of each message of that length, one per row, by a hash that has its key already."""
    found = []
    for first in range(0, len(messages), length):
        one = keyed.copy()
        one.update(messages[first : first + length])
        found.append(one.digest())
    return np.frombuffer(b"".join(found), np.uint8).reshape(-1, keyed.digest_size)


Source = Keystream | Streams | np.random.Generator


def source(rng: int | np.random.Generator | None = None) -> Source:
    """Turn an ``rng`` argument into a source of randomness.

    Parameters
    ----------
    rng : None, int or numpy.random.Generator
        ``None`` is the only choice for a release: ChaCha20 keyed with 256 bits from the operating system.
        An int or a Generator reproduces the draws, for tests and papers, and raises a `PrivacyWarning`.

    Examples
    --------
    >>> source()
    <geotracs.core.randomness.Keystream object at ...>
    """
    check(rng)
    if rng is None:
        return Keystream(secrets.token_bytes(KEY_BYTES))
    chosen = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(int(rng))
    warn(
        "`rng` is fixed: whoever learns it can undo the perturbation. Use it for tests and papers only; "
        "leave rng=None for a release.",
        PrivacyWarning,
    )
    return chosen


def fresh_bits() -> bytes:
    """Return 256 bits from the operating system, for the `Key` of a release that is kept until it is finished."""
    return secrets.token_bytes(KEY_BYTES)


def check(rng: int | np.random.Generator | None) -> None:
    """Raise unless this is an ``rng`` argument."""
    seed = isinstance(rng, Integral) and not isinstance(rng, bool) and rng >= 0
    if not (rng is None or seed or isinstance(rng, np.random.Generator)):
        raise InputError(f"`rng` must be None, an integer >= 0 or a numpy.random.Generator, got {type(rng).__name__}.")


def public_stream(number: int = 0) -> Keystream:
    """Return a fixed public stream, to try things on public information; never for a private location."""
    return Keystream(bytes(KEY_BYTES), number)


def made_up(seed: int | None = None) -> np.random.Generator:
    """Return a generator for what is made up from public things, such as synthetic trips; never for a private location.

    >>> made_up(1).integers(10) == made_up(1).integers(10)
    np.True_
    """
    if not (seed is None or (isinstance(seed, Integral) and not isinstance(seed, bool) and seed >= 0)):
        raise InputError(f"`seed` must be None or an integer >= 0, got {quoted(seed)}.")
    return np.random.default_rng(None if seed is None else int(seed))


def words(rng: Source, n: int, dtype: type) -> np.ndarray:
    """Return n uniform unsigned integers of that type."""
    if isinstance(rng, (Keystream, Streams)):
        return rng.words(n, dtype)
    return rng.integers(0, np.iinfo(dtype).max, n, dtype=dtype, endpoint=True)


def of_rows(rng: Source, rows: np.ndarray | slice) -> Source:
    """Return what some rows draw from: the same source, unless each row has a stream of its own.

    Whatever draws words for some of the rows only says here which ones.
    """
    return rng.of(rows) if isinstance(rng, Streams) else rng


class Key:
    """The 256 secret bits of one release, from which every block of locations takes a stream of its own.

    So that the draws do not depend on which block is done first, or how often. It can be pickled, to travel to where
    the blocks are, and never shows its bits.

    Examples
    --------
    >>> key = Key.fresh(source())
    >>> key
    <Key of one release>
    >>> bool(np.all(key.stream(5).words(3, np.uint32) == key.stream(5).words(3, np.uint32)))
    True
    """

    __slots__ = ("_bits",)

    def __init__(self, bits: bytes) -> None:
        self._bits = bits

    @classmethod
    def fresh(cls, rng: Source) -> "Key":
        """Return a key taken from ``rng``."""
        return cls(words(rng, KEY_BYTES, np.uint8).tobytes())

    def stream(self, number: int) -> Keystream:
        """Return one of 2**63 independent streams."""
        return Keystream(self._bits, number)

    def part(self, number: int, *contents: np.ndarray) -> "Key":
        """Return a key for one of 2**63 parts of the release; their streams, and those of this key, are independent.

        So are those for other ``contents`` of the same part: were two locations ever reported with the same draws, the
        difference of the reports would be that of the locations. Without this key nobody can tell that they depend on
        the contents: BLAKE2b with a key is a pseudorandom function.
        """
        own = Key.fresh(Keystream(self._bits, 2**63 + number))
        digest = hashlib.blake2b(key=own._bits, digest_size=KEY_BYTES)
        for array in contents:
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(array.tobytes())
        return Key(digest.digest())

    def names(self, labels: Iterable[str]) -> np.ndarray:
        """Return a secret name for each label, 32 bytes in a row; without this key nobody can tell whose it is.

        >>> Key(bytes(32)).names(["ann", "bob"]).shape
        (2, 32)
        """
        own = Key.fresh(Keystream(self._bits, NAMED))
        found = [
            hashlib.blake2b(
                label.encode(errors="surrogatepass"), key=own._bits, digest_size=KEY_BYTES, person=b"geotracs name"
            ).digest()
            for label in labels
        ]
        return np.frombuffer(b"".join(found), np.uint8).reshape(-1, KEY_BYTES)

    def streams(self, names: np.ndarray) -> Streams:
        """Return a stream for each name, of bytes in a row; all other streams of this key are independent of them."""
        return Streams(Key.fresh(Keystream(self._bits, NAMED))._bits, names)

    def __repr__(self) -> str:
        return "<Key of one release>"

    def __reduce__(self) -> tuple[type["Key"], tuple[bytes]]:
        return Key, (self._bits,)
