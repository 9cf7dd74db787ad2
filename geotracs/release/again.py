"""From the record of a release back to its channel: what a reader needs, and nobody else has."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyproj

import geotracs.core.methods as methods
import geotracs.geo.crs as crs_
import geotracs.geo.layers as layers
import geotracs.geo.region as regions
import geotracs.geo.remap as remaps
import geotracs.geo.rounding as roundings
from geotracs.core.guarantee import Guarantee
from geotracs.errors import CRSError, InputError
from geotracs.geo.originals import Originals
from geotracs.release.request import Request
from geotracs.release.setting import in_working_crs


@dataclass(frozen=True, eq=False, repr=False)
class Setting:
    """The public things of a release, built again from its record.

    Attributes
    ----------
    guarantee : Guarantee
        The record.
    region : Region
    rounding : Rounding or None
        The places to which reports were rounded, or that were reported.
    recipe : Method
        In the working CRS.
    levels : array
        The epsilons that locations have.
    remap_layer : optional
        What the remap's prior was made of, if it was a layer.
    """

    guarantee: Guarantee
    region: regions.Region
    rounding: roundings.Rounding | None
    recipe: methods.Method
    levels: np.ndarray
    remap_layer: Any = None

    @cached_property
    def channel(self) -> methods.Channel:
        """The channel of the release, for all of its epsilons."""
        levels = float(self.levels[0]) if len(self.levels) == 1 else self.levels
        if self.rounding is not None and self.recipe.over == "places":
            self.rounding.check_points()
            channel = self.recipe.on(self.region.domain, self.rounding.places, levels, remap=self._remap(levels))
        else:
            places = None if self.rounding is None else self.rounding.places
            channel = self.recipe.on(self.region.chart, places, levels, remap=self._remap(levels))
        if self.guarantee.tables and self.guarantee.tables != _plain(channel.tables()):
            raise InputError(
                "The tables that this release was drawn from cannot be made again: it was made by another version of "
                "geotracs, or with other layers."
            )
        return channel

    def _remap(self, levels: float | np.ndarray) -> methods.Remap | methods.PlaceRemap | None:
        record = self.guarantee.remap
        if record is None or not record.get("kept"):
            return None
        given = True if self.remap_layer is None else self.remap_layer
        more = self.guarantee.unit != "location"
        nobody = Originals.nobody(self.region.data_crs)
        return remaps.prepare(given, self.recipe, self.region, self.rounding, levels, nobody, more=more)


def setting(
    guarantee: Guarantee,
    crs: pyproj.CRS,
    levels: np.ndarray,
    *,
    domain: Any = None,
    round_to: Any = None,
    prior: Any = None,
    weight: str | None = None,
) -> Setting:
    """Return the public things of a release, from its record and the layers that it does not hold.

    Parameters
    ----------
    crs : pyproj.CRS
        That of the frame, for a ``domain`` that has none.
    domain, round_to, prior, weight
        As they were given to `geotracs.perturb`; another layer than on record raises.
    """
    known = guarantee.layers
    own = crs_.parse(guarantee.domain["crs"]) if "crs" in guarantee.domain else crs
    chart_prior, chart_weight = _prior(known, own, prior, weight)
    region = _region(guarantee, own, domain, chart_prior, chart_weight)
    rounding = _rounding(guarantee, region, round_to)
    recipe = _recipe(guarantee, region, rounding, levels)
    layer = _layer("remap", known, own, prior, "prior") if "remap" in known else None
    return Setting(guarantee, region, rounding, recipe, levels, layer)


def request(guarantee: Guarantee) -> Request:
    """Return as much of the request as decides how locations are grouped and which epsilon each has."""
    eps: Any = guarantee.epsilon if guarantee.column is None else guarantee.column
    allocation: Any = guarantee.allocation
    return Request.of(
        eps,
        trajectory=guarantee.trajectory,
        time=guarantee.time,
        unit=guarantee.unit,
        person=guarantee.person,
        allocation=allocation if isinstance(allocation, str) else tuple(allocation),
    )


def _prior(known: Mapping[str, Any], crs: pyproj.CRS, given: Any, weight: str | None) -> tuple[Any, str | None]:
    """Return the prior of the release, if it had one, and its weights; what is given may be for another purpose."""
    if "prior" not in known:
        return None, None
    if given is not None and layers.is_same(known["prior"], given, crs, weight):
        return given, weight
    embedded = layers.restored(known["prior"])
    if embedded is None:
        raise InputError(
            "This release was made with a public prior, which its record recognises but does not hold; give the same "
            "one with `prior` (and `weight`), or make releases with embed=True."
        )
    return embedded, "weight" if "weights" in known["prior"] else None


def _region(guarantee: Guarantee, crs: pyproj.CRS, domain: Any, prior: Any, weight: str | None) -> regions.Region:
    known = guarantee.layers.get("domain", {})
    region = regions.recorded(guarantee.to_attrs(), crs, domain, prior=prior, weight=weight)
    if region is None:
        why = "was fitted to private data" if guarantee.fitted else "is on record by its bounds only"
        raise InputError(
            f"The region of this release {why}; give the one that it was made with as `domain`"
            f"{'' if guarantee.fitted else ', or make releases with embed=True'}."
        )
    if "digest" in known and (region.shape is None or layers.of_shape(region.shape, crs)["digest"] != known["digest"]):
        raise InputError("`domain` is not the region that this release was made with; give the same one.")
    if domain is not None and not known and not guarantee.fitted and not _alike(region.record, guarantee.domain):
        raise InputError("`domain` is not the region that this release was made with; give the same one.")
    return region


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two records of regions tell the same, up to last digits."""
    if one.get("kind") != other.get("kind"):
        return False
    numbers = [[record.get(key) for key in ("bounds", "centre", "radius")] for record in (one, other)]
    flat = [np.hstack([np.ravel(part) for part in own if part is not None] or [np.zeros(0)]) for own in numbers]
    return flat[0].shape == flat[1].shape and bool(np.allclose(flat[0], flat[1], rtol=1e-9, atol=1e-9))


def _rounding(guarantee: Guarantee, region: regions.Region, given: Any) -> roundings.Rounding | None:
    known = guarantee.layers.get("places")
    if known is None:
        if guarantee.places is None:
            return None
        known = {}  # a record of an older release, or one whose region was fitted
    layer = _layer("places", {"places": known}, region.data_crs, given, "round_to")
    centroid = bool(known.get("centroid", False))
    nobody = Originals.nobody(region.data_crs)
    return roundings.prepare(layer, region, nobody, place="place", join=(), centroid=centroid)


def _layer(name: str, known: Mapping[str, Any], crs: pyproj.CRS, given: Any, argument: str) -> Any:
    """Return a layer of the release: the one that is given, if it is the same, or the one on record."""
    record = known[name]
    if given is not None:
        roundings.check(given) if argument == "round_to" else None
        if {"digest", "grid"} & set(record) and not layers.is_same(record, given, crs):
            raise InputError(f"`{argument}` is not the layer that this release was made with; give the same one.")
        return given
    found = layers.restored(record)
    if found is None:
        raise InputError(
            f"This release was made with public {name}, which its record recognises but does not hold; give the same "
            f"layer with `{argument}`, or make releases with embed=True."
        )
    return found


def _recipe(
    guarantee: Guarantee, region: regions.Region, rounding: roundings.Rounding | None, levels: np.ndarray
) -> methods.Method:
    known = set(methods.make(guarantee.method).options())
    options = guarantee.recipe or guarantee.options
    recipe = methods.make(guarantee.method, {name: value for name, value in options.items() if name in known})
    if not guarantee.recipe:
        recipe = in_working_crs(recipe, region, rounding, float(np.median(levels)))
    if recipe.both_ways:
        raise InputError(
            f"{recipe.name} reports a location from its neighbours in both directions, which the release does not tell "
            "apart from the location itself: nothing can be estimated from it."
        )
    try:
        recipe.check(region.chart)
    except CRSError:  # the working CRS is another one than on record
        raise InputError("`domain` is not the region that this release was made with; give the same one.") from None
    return recipe if rounding is None else recipe.with_places()


def _plain(value: Any) -> Any:
    """Return a value as it is after a round trip through JSON."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
