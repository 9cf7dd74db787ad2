import pytest

from geotracs import InputError
from geotracs.errors import MissingExtraError
from geotracs.views.maps import photograph

pytestmark = pytest.mark.slow


def fake(folder, script):
    """A browser that does what a script says."""
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


TAKES = 'for flag; do case "$flag" in --screenshot=*) echo picture > "${flag#--screenshot=}";; esac; done'


def test_a_picture_is_written_when_it_is_complete(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOTRACS_CHROMIUM", fake(tmp_path, TAKES))
    target = tmp_path / "map.png"
    assert photograph.photograph(tmp_path / "map.html", target) == target
    assert target.read_text() == "picture\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chromium", "map.png"]


@pytest.mark.parametrize("script", ["exit 1", "exit 0"])
def test_a_browser_that_fails(tmp_path, monkeypatch, script):
    monkeypatch.setenv("GEOTRACS_CHROMIUM", fake(tmp_path, script))
    with pytest.raises(InputError, match="picture of the page"):
        photograph.photograph(tmp_path / "map.html", tmp_path / "map.png")
    assert not (tmp_path / "map.png").exists()


def test_without_a_browser_and_other_names(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"ends with \.png"):
        photograph.photograph(tmp_path / "map.html", tmp_path / "map.jpg")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GEOTRACS_CHROMIUM", raising=False)
    with pytest.raises(MissingExtraError, match="needs a browser"):
        photograph.photograph(tmp_path / "map.html", tmp_path / "map.png")
