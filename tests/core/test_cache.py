"""What is kept on disk: whole, public, and nothing of a region that was fitted to private data."""

import pytest

from geotracs.core import cache
from geotracs.core.methods import book_cache
from tests.conftest import TOKYO
from tests.helpers import quiet


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    book_cache.forget()
    yield tmp_path / "cache"
    book_cache.forget()


def test_what_was_written_is_read_again(folder):
    assert cache.read("a.tokens") is None
    cache.write("a.tokens", b"content")
    assert cache.read("a.tokens") == b"content"
    (folder / "b.tokens").write_bytes((folder / "a.tokens").read_bytes())
    assert cache.read("b.tokens") is None
    (folder / "a.tokens").write_bytes((folder / "a.tokens").read_bytes()[:-1])
    assert cache.read("a.tokens") is None
    assert sorted(path.name for path in folder.iterdir()) == ["a.tokens", "b.tokens"]


def test_off(folder):
    cache.write("a.tokens", b"content")
    with cache.off():
        assert cache.read("a.tokens") is None
        cache.write("b.tokens", b"content")
    assert [path.name for path in folder.iterdir()] == ["a.tokens"]


@pytest.mark.parametrize("fit", ["envelope", "best"])
def test_nothing_is_kept_of_a_region_that_was_fitted_to_private_data(folder, tracks, fit):
    private = quiet(tracks.tracs.perturb, 4, "optimal", keep=[], fit=fit)
    assert private.tracs.guarantee.tables == {}
    assert not folder.exists()
    private = quiet(tracks.tracs.perturb, 4, "optimal", domain=TOKYO, keep=[], fit=fit)
    assert private.tracs.guarantee.tables["books"][0]["level"] == 4.0
    assert len(list(folder.iterdir())) >= 1
