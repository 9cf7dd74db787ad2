import hashlib
import os
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from geotracs import InputError, PrivacyWarning
from geotracs.core import randomness
from geotracs.core.randomness import Key, Keystream, Streams, of_rows, source, words


def test_none_is_chacha20_with_a_fresh_key():
    assert isinstance(source(), Keystream)
    assert not np.array_equal(words(source(), 8, np.uint64), words(source(), 8, np.uint64))


def test_key_comes_from_the_operating_system(monkeypatch):
    asked = []
    monkeypatch.setattr(randomness.secrets, "token_bytes", lambda n: asked.append(n) or bytes(range(n)))
    stream = source()
    assert asked == [32]
    cipher = Cipher(ChaCha20(bytes(range(32)), bytes(16)), mode=None).encryptor()
    assert words(stream, 16, np.uint32).tobytes() == cipher.update(bytes(64))


def test_chacha20_test_vector():
    """RFC 8439, section 2.3.2: the counter is 1 and the nonce is not ours, so through the cipher we use."""
    key, nonce = bytes(range(32)), bytes.fromhex("01000000000000090000004a00000000")
    block = Cipher(ChaCha20(key, nonce), mode=None).encryptor().update(bytes(64))
    assert block.hex().startswith("10f1e7e4d13b5915500fdd1fa32071c4")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_words_cover_their_range(dtype):
    for rng in (source(), np.random.default_rng(0)):
        drawn = words(rng, 20_000, dtype)
        assert drawn.dtype == dtype
        top = float(np.iinfo(dtype).max)
        # 6 standard deviations: a false alarm in 5e8
        assert abs(drawn.astype(float).mean() / top - 0.5) < 6 / np.sqrt(12 * 20_000)
        assert drawn.max() > 0.99 * top


def test_streams_differ_and_depend_on_the_generator_only():
    def all_of(key):
        keys = [key, key.part(0), key.part(1)]
        return [tuple(words(k.stream(number), 4, np.uint64).tolist()) for k in keys for number in range(3)]

    one, again = (all_of(Key.fresh(np.random.default_rng(1))) for _ in range(2))
    assert one == again
    assert len(set(one)) == 9


def test_a_key_travels_and_never_shows_its_bits():
    bits = os.urandom(32)
    key = pickle.loads(pickle.dumps(Key(bits)))
    assert words(key.stream(3), 4, np.uint64).tolist() == words(Keystream(bits, 3), 4, np.uint64).tolist()
    for shown in (repr(key), str(key), f"{key}", repr([key]), repr({"key": key}), str(vars(type(key)))):
        assert bits.hex() not in shown
        assert repr(bits) not in shown
    with pytest.raises(TypeError):
        vars(key)


def test_key_cannot_be_read_or_stored():
    key = os.urandom(32)
    stream = Keystream(key)
    assert key.hex() not in repr(stream)
    assert not any(isinstance(value, (bytes, bytearray)) for value in vars(stream).values())
    with pytest.raises(TypeError):
        pickle.dumps(stream)


def test_seeds_warn_and_reproduce():
    with pytest.warns(PrivacyWarning, match="tests and papers only"):
        a = source(5)
    with pytest.warns(PrivacyWarning):
        b = source(np.random.default_rng(5))
    assert words(a, 3, np.uint64).tolist() == words(b, 3, np.uint64).tolist()


@pytest.mark.parametrize("rng", [-1, 1.5, "a", True, np.random.RandomState(0)])
def test_bad_rng(rng):
    with pytest.raises(InputError, match="`rng` must be"):
        source(rng)


def test_parts_have_other_streams_than_the_whole():
    """The key of a part is made of no word that locations are drawn with."""
    key = Key(bytes(32))
    made_of_a_stream = [Key.fresh(key.stream(number))._bits for number in range(9)]
    made_of_it = [hashlib.blake2b(key=bits, digest_size=32).digest() for bits in made_of_a_stream]
    parts = [key.part(number)._bits for number in range(9)]
    assert len({*made_of_a_stream, *made_of_it, *parts}) == 27


def names(n, length=5):
    return np.random.default_rng(0).integers(0, 256, (n, length), dtype=np.uint8)


def test_words_of_a_stream_are_keyed_digests_of_its_name_and_a_counter():
    key, own = bytes(range(32)), names(1)
    found = Streams(key, own).words(20, np.uint64)
    blocks = [
        hashlib.blake2b(own.tobytes() + n.to_bytes(8, "little"), key=key, person=b"geotracs stream").digest()
        for n in range(3)
    ]
    assert found.astype("<u8").tobytes() == b"".join(blocks)[:160]


def test_what_a_stream_gives_does_not_depend_on_the_others():
    own, key = names(50), bytes(32)
    whole = Streams(key, own)
    first = whole.words(100, np.uint32).reshape(2, -1)
    again = np.arange(0, 50, 7)
    second = whole.of(again).words(3 * len(again), np.uint16).reshape(3, -1)
    last = whole.of(slice(10, 20)).of(np.array([4])).words(1, np.uint64)
    for row in (0, 14, 3):
        alone = Streams(key, own[[row]])
        assert np.array_equal(alone.words(2, np.uint32), first[:, row])
        if row in again:
            assert np.array_equal(alone.words(3, np.uint16), second[:, again.tolist().index(row)])
            if row == 14:
                assert alone.words(1, np.uint64) == last


def test_streams_by_themselves_differ_and_are_the_same_every_time():
    drawn = [[one.words(2, np.uint64).tobytes() for one in Streams(bytes(32), names(9)).each()] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 9


def test_rows_of_other_sources_are_the_source():
    rng = source()
    assert of_rows(rng, slice(3)) is rng
    assert len(of_rows(Streams(bytes(32), names(9)), slice(3))) == 3


def test_words_that_are_not_as_many_for_each_stream_are_an_error():
    assert not len(Streams(bytes(32), names(0)).words(0, np.uint8))
    for n in (0, 2):
        with pytest.raises(ValueError, match="alike"):
            Streams(bytes(32), names(n)).words(3, np.uint8)


def test_names_are_secret_and_streams_depend_on_the_key():
    one, other = Key(bytes(32)), Key(bytes(31) + b"\1")
    assert not np.array_equal(one.names(["ann"]), other.names(["ann"]))
    assert len(np.unique(one.names(["ann", "bob", "", "\ud800"]), axis=0)) == 4
    assert not np.array_equal(one.streams(names(3)).words(3, np.uint64), other.streams(names(3)).words(3, np.uint64))
