import numpy as np
import pytest

from geotracs import blocks


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("whole", [True, False])
def test_every_location_is_done_once(small, workers, whole):
    offsets = np.append(0, np.cumsum([3, 25, 0, 1, 9, 12, 2]))
    done = np.zeros(offsets[-1], dtype=int)

    def task(part, number):
        done[part] += 1
        if whole:
            assert {part.start, part.stop} <= set(offsets.tolist())

    blocks.run(task, blocks.cuts(offsets, whole=whole), workers=workers)
    assert (done == 1).all()


def test_nothing_to_do(small):
    blocks.run(lambda part, number: pytest.fail("called"), blocks.cuts(np.array([0]), whole=True))


@pytest.mark.parametrize("workers", [1, 3])
def test_errors_come_through(small, workers):
    def task(part, number):
        if number == 2:
            raise ValueError("third block")

    with pytest.raises(ValueError, match="third block"):
        blocks.run(task, np.arange(0, 101, 10), workers=workers)


def test_progress_counts_locations(small, capsys):
    blocks.run(lambda part, number: None, np.arange(0, 101, 10), progress=True)
    assert "100/100" in capsys.readouterr().err
