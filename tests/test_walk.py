"""The way of a location through the house is short, and its steps come in order."""

from tools.walk import changes, walk


def test_the_way_of_a_location():
    calls = walk()
    assert list(dict.fromkeys(call.step for call in calls)) == ["Enter", "Draw", "Project", "Round", "Leave"]
    assert changes(calls) <= 12
