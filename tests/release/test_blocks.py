import numpy as np
import pytest

from geotracs import InputError
from geotracs.release import blocks


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)


LENGTHS = [3, 25, 0, 1, 9, 12, 2]
OFFSETS = np.append(0, np.cumsum(LENGTHS))


def ends(found):
    return [block.part.start for block in found] + [found[-1].part.stop]


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("starts", [None, np.unique(OFFSETS[:-1])])
def test_every_location_is_done_once(small, workers, inside, starts):
    done = np.zeros(OFFSETS[-1], dtype=int)
    found = blocks.cut(len(done), starts, inside=inside)

    def task(block, handover):
        done[block.part] += 1

    blocks.run(task, found, workers=workers)
    assert (done == 1).all()
    assert len({block.number for block in found}) == len(found)


def test_cuts(small):
    starts = np.unique(OFFSETS[:-1])  # 0, 3, 28, 29, 38, 50
    assert ends(blocks.cut(52, None)) == [0, 10, 20, 30, 40, 50, 52]
    assert ends(blocks.cut(52, starts)) == [0, 28, 38, 50, 52]
    within = blocks.cut(52, starts, inside=True)
    assert ends(within) == [0, 10, 28, 38, 40, 50, 52]
    assert [block.number for block in within] == [0, 1, 2, 3, 4, 5]
    assert [block.continues for block in within] == [False, True, False, False, True, False]
    # Rows of several locations stay whole.
    assert ends(blocks.cut(52, starts, np.array([0, 3, 14, 28, 29, 38, 49, 50]), inside=True)) == [
        0, 14, 28, 38, 49, 50, 52,
    ]  # fmt: skip


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("size", [1, 3, 7, 11, 40])
@pytest.mark.parametrize("seed", range(5))
def test_pieces_are_cut_like_the_whole(small, inside, size, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 45, 20)
    starts = np.append(0, np.cumsum(lengths))[:-1]
    n = int(lengths.sum())
    whole = [(block.part.start, block.number, block.continues) for block in blocks.cut(n, starts, inside=inside)]
    pieces, first, continues, end = [], 0, False, 0
    while first < n:
        end = min(end + size, n)
        known = starts[(starts >= first) & (starts < end)] - first
        found = blocks.cut(end - first, known, inside=inside, first=first, continues=continues)
        done = blocks.finished(end - first, found, first) if end < n else n - first
        pieces += [(first + b.part.start, b.number, b.continues) for b in found if b.part.start < done]
        later = [b.continues for b in found if b.part.start == done]
        continues = later[0] if later else continues
        first += done
    assert pieces == whole


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_block_that_goes_on_gets_what_the_one_before_told(small, workers):
    got = {}

    def task(block, handover):
        got[block.number] = handover.receive()
        handover.send(block.number)

    last = blocks.run(task, blocks.cut(52, np.array([0, 35]), inside=True), before="outside", workers=workers)
    assert got == {0: None, 1: 0, 2: 1, 3: None, 4: 3, 5: 4}
    assert last == 5


def test_nothing_to_do(small):
    blocks.run(lambda block, handover: pytest.fail("called"), blocks.cut(0, None))


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("workers", [1, 3])
def test_errors_come_through(small, workers, inside):
    def task(block, handover):
        if inside and block.number > 2:
            handover.receive()
        if block.number == 2:
            raise ValueError("third block")

    with pytest.raises(ValueError, match="third block"):
        blocks.run(task, blocks.cut(101, np.array([0]) if inside else None, inside=inside), workers=workers)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_bad_workers(workers):
    with pytest.raises(InputError, match="`workers` must be"):
        blocks.check_workers(workers)


def test_progress_counts_locations(small, capsys):
    blocks.run(lambda block, handover: None, blocks.cut(100, None), progress=True)
    assert "100/100" in capsys.readouterr().err
