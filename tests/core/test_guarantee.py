"""What a record says: the kind of privacy, its sentences, and old and damaged records."""

import pytest

from geotracs.core.guarantee import Guarantee, caption, recorded
from geotracs.core.notions import Metric

METRIC = Metric(200.0, 0.4).to_record()
REGION = {"kind": "rectangle"}


def said(**values):
    return str(Guarantee(method="geo-ind", epsilon=2.0, longest=30, domain=REGION, privacy=METRIC, **values))


def test_metric_privacy_is_never_called_ldp():
    for unit in ("location", "trajectory"):
        text = said(unit=unit)
        assert f"Each {unit} was reported by geo-ind under metric privacy." in text
        assert "LDP" not in text
        assert text.count("differential privacy") == text.count("not local differential privacy") == 1
        assert "beyond 200 m the protection is less" in text
        assert "Not protected: time stamps" in text


def test_composition_of_metric_privacy():
    assert "the longest (30 locations) has epsilon 60 as a whole, among those that are nowhere more" in said()
    unknown = Guarantee(method="geo-ind", epsilon=2.0, longest=None, domain=REGION, privacy=METRIC)
    assert "one of n locations has epsilon n times 2 as a whole" in str(unknown)
    shared = said(unit="trajectory")
    assert "any two trajectories of as many locations that are nowhere more than 200 m apart" in shared
    assert "has 0.0666666666667" in shared


def test_old_records_are_pure():
    old = recorded({"tracs": {"method": "joint", "epsilon": 4.0}})
    assert "pure 4-local differential privacy" in str(Guarantee(**old))
    assert Guarantee(**old).to_attrs()["privacy"] == {"kind": "pure"}
    assert caption(old) == "joint, epsilon 4 per location"


@pytest.mark.parametrize(
    "privacy",
    ["metric", {}, {"kind": "other"}, {"kind": "metric"}, {"kind": "metric", "radius": "200", "least": 1}]
    + [{"kind": "metric", "radius": radius, "least": 1} for radius in (0, -1, float("nan"), float("inf"), True)],
)
def test_damaged_privacy_is_not_read_as_pure(privacy):
    assert recorded({"tracs": {"method": "geo-ind", "epsilon": 4.0, "privacy": privacy}}) == {}
