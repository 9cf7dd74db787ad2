import pytest

from geotracs.core import cache
from geotracs.core.methods import book_cache, codebooks


@pytest.fixture
def quick(monkeypatch):
    """Codebooks that are rough, and fitted a hundred times faster; nobody else gets them."""
    for name, value in {
        "FEW": 32, "MANY": 128, "FEWEST_STAND_INS": 256, "ROUNDS": 3, "TRIED": 1, "DISTANCES": 2**12,
    }.items():  # fmt: skip
        monkeypatch.setattr(codebooks, name, value)
    monkeypatch.setenv(cache.FOLDER, "")
    book_cache.forget()
    yield
    book_cache.forget()
