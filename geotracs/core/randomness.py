"""Where the randomness comes from: the ``rng`` argument becomes a source of random words."""

import hashlib
import secrets
from numbers import Integral

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from geotracs.errors import InputError, PrivacyWarning, quoted, warn

KEY_BYTES = 32


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


Source = Keystream | np.random.Generator


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
    if isinstance(rng, Keystream):
        return rng.words(n, dtype)
    return rng.integers(0, np.iinfo(dtype).max, n, dtype=dtype, endpoint=True)


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

    def __repr__(self) -> str:
        return "<Key of one release>"

    def __reduce__(self) -> tuple[type["Key"], tuple[bytes]]:
        return Key, (self._bits,)
