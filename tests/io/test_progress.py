import sys

import pytest

from geotracs.io.progress import bar


@pytest.mark.parametrize("looks", [True, False])
def test_a_bar_is_shown_where_someone_looks(looks, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looks, raising=False)
    with bar(10, None, " rows", "Counting") as advance:
        advance(10)
    assert ("Counting: 100%" in capsys.readouterr().err) == looks
