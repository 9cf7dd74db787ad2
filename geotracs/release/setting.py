"""What a release works with: public things only, found from the arguments before any location is looked at."""

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

import geotracs.core.budget as budget
import geotracs.core.methods as methods
import geotracs.geo.layers as layers_
import geotracs.geo.region as regions
import geotracs.release.budgets as budgets_
import geotracs.release.steps as steps
from geotracs.core.domains import Domain
from geotracs.errors import DomainError, InputError
from geotracs.geo.advise import best_method
from geotracs.geo.originals import Originals
from geotracs.geo.remap import prepare as prepare_remap
from geotracs.geo.rounding import Rounding, prepare
from geotracs.geo.units import in_working_units
from geotracs.release.request import Request

SAMPLE = 2000
"""How many places are tried when they decide where TraCS-D starts."""

TELLING = 4.0
"""With less than this epsilon reports are better when they are remapped."""


def make(request: Request, data: Originals, lengths: np.ndarray, budgets: budgets_.Budgets | None) -> steps.Setting:
    """Return the public things that a release works with: region, places and method."""
    recipe = request.recipe
    if budgets is None:
        typical = budget.typical(cast(float, request.eps), request.unit, lengths)
    else:
        typical = budgets.levels.typical
    region = regions.resolve(
        request.domain,
        data,
        fit=request.fit,
        crs=request.crs,
        prior=request.prior,
        weight=request.weight,
        error=_error(recipe, typical),
    )
    rounding = None
    if request.round_to is not None:
        rounding = prepare(
            request.round_to, region, data, place=request.place, join=request.join, centroid=request.centroid
        )
    if request.method == "auto":
        recipe, region = best_method(region, rounding, typical, apart=request.repeat is not None)
    recipe = in_working_crs(recipe, region, rounding, typical).settled(typical, region.chart)
    epsilons = levels(request, lengths) if budgets is None else budgets.levels.values
    more = request.sharing.shares  # not all lengths may be known
    asked = request.remap
    if asked is None and _best_is_remapped(request, recipe, region, epsilons):
        asked = True
    remap = prepare_remap(False if asked is None else asked, recipe, region, rounding, epsilons, data, more=more)
    person = None if request.sharing.by_trajectory else request.person
    public = replace(request, rng=None, ledger=None, data=None, person=person)  # whoever knows rng knows the secrets
    return steps.Setting(public, recipe, region, rounding, remap)


def _best_is_remapped(
    request: Request, recipe: methods.Method, region: regions.Region, epsilons: float | np.ndarray
) -> bool:
    """Return whether reports are remapped although nobody asks for it.

    Those of moments whose number was chosen as the best, if they tell little: it is the best for such reports.
    """
    if request.schedule is None or not request.schedule.auto or float(np.min(epsilons)) >= TELLING:
        return False
    try:
        if recipe.over == "region":
            methods.Remap(recipe, region.chart, TELLING)
    except InputError:  # of a method whose reports cannot be moved
        return False
    return True


def in_working_crs(
    recipe: methods.Method, region: regions.Region, rounding: Rounding | None, eps: float
) -> methods.Method:
    """Bring the method's public points and lengths into the working CRS; choose points that places decide."""
    recipe = in_working_units(recipe, region.crs)
    recipe.check(region.chart)
    moved: dict[str, Any] = {}
    for name in recipe.public_points:
        value = getattr(recipe, name)
        if value == "places":
            if rounding is None:
                raise InputError(f'`{name}="places"` needs places; give them with `round_to`.')
            moved[name] = cast(methods.TracsD, recipe).best_start(rounding.places.sample(SAMPLE), eps, region.domain)
        elif not isinstance(value, str):
            moved[name] = tuple(region.enter(np.array([value], dtype=float))[0].tolist())
            if not np.isfinite(moved[name]).all():
                raise InputError(f"`{name}` must be a point that exists in the CRS of the data.")
    return methods.make(recipe.name, {**recipe.record(), **moved}) if moved else recipe


def levels(request: Request, lengths: np.ndarray) -> float | np.ndarray:
    """Return the epsilons that locations have."""
    eps = cast(float, request.eps)  # a column has levels of its own
    if request.unit == "location":
        return eps
    return np.unique(budget.even_share(eps, np.unique(lengths[lengths > 0])))


def layers(request: Request, region: regions.Region) -> dict[str, Any]:
    """Return what recognises the public layers of a release, or holds them."""
    known, embed = {}, bool(request.embed)
    if region.shape is not None and not region.record["fitted"]:
        known["domain"] = layers_.of_shape(region.shape, region.data_crs, embed)
    if request.prior is not None:
        known["prior"] = layers_.of_layer(request.prior, region.data_crs, weight=request.weight, embed=embed)
    if request.remap is not None and not isinstance(request.remap, (bool, np.bool_)):
        known["remap"] = layers_.of_layer(request.remap, region.data_crs, embed=embed)
    if request.round_to is not None:
        known["places"] = layers_.of_layer(request.round_to, region.data_crs, embed=embed)
        known["places"]["centroid"] = bool(request.centroid)
    return known


def _error(recipe: methods.Method, eps: float) -> Callable[[Domain], float]:
    """Return the expected error of a method on a domain, apart from where it starts."""
    if recipe.over == "places" or recipe.public_lengths:  # it works on its places, or by a length that is given
        return lambda domain: 0.0
    options = {name: value for name, value in recipe.record().items() if name not in recipe.public_points}
    plain = methods.make(recipe.name, options)

    def error(domain: Domain) -> float:
        try:
            plain.check(domain)
        except DomainError:  # the method itself raises this if there is nothing better
            return math.inf
        return methods.expected_error(plain, eps, domain)

    return functools.cache(error)
