"""Publish movement data with a provable privacy guarantee, without leaving GeoPandas.

Importing geotracs registers ``GeoDataFrame.tracs``. Everything else is loaded when it is first used.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING, Any

import geotracs.accessor as _accessor  # noqa: F401  (registers GeoDataFrame.tracs)
from geotracs.errors import (
    BudgetError,
    CRSError,
    DomainError,
    GeotracsError,
    GeotracsWarning,
    InputError,
    PrivacyWarning,
)

if TYPE_CHECKING:
    from geotracs.answers.density import density
    from geotracs.answers.flows import flows
    from geotracs.answers.lengths import lengths
    from geotracs.answers.popularity import popularity
    from geotracs.answers.reconstruct import reconstruct
    from geotracs.answers.synthesize import synthesize
    from geotracs.core import domains, mechanisms, methods, places
    from geotracs.core.guarantee import Guarantee
    from geotracs.geo import prepare
    from geotracs.geo.advise import advise
    from geotracs.geo.optimum import optimum
    from geotracs.io import datasets, files, loaders
    from geotracs.release.arrow import perturb_arrow
    from geotracs.release.file import perturb_file
    from geotracs.release.frame import perturb
    from geotracs.trust.audit import audit
    from geotracs.trust.ledger import Ledger
    from geotracs.trust.report import report
    from geotracs.trust.risk import risk
    from geotracs.trust.risk_curves import risk_curves
    from geotracs.utility import metrics
    from geotracs.utility.compare import compare, displacement
    from geotracs.utility.records import with_record
    from geotracs.utility.sweep import sweep
    from geotracs.views import plots

__version__ = version("geotracs")

_MODULES = {
    "datasets": "geotracs.io.datasets",
    "domains": "geotracs.core.domains",
    "files": "geotracs.io.files",
    "loaders": "geotracs.io.loaders",
    "mechanisms": "geotracs.core.mechanisms",
    "methods": "geotracs.core.methods",
    "metrics": "geotracs.utility.metrics",
    "places": "geotracs.core.places",
    "plots": "geotracs.views.plots",
    "spark": "geotracs.release.spark",
    "prepare": "geotracs.geo.prepare",
}
"""Modules that are known by shorter names, too: ``from geotracs.domains import Disc``..."""
_FUNCTIONS = {
    "Guarantee": "geotracs.core.guarantee",
    "Ledger": "geotracs.trust.ledger",
    "advise": "geotracs.geo.advise",
    "audit": "geotracs.trust.audit",
    "compare": "geotracs.utility.compare",
    "density": "geotracs.answers.density",
    "displacement": "geotracs.utility.compare",
    "flows": "geotracs.answers.flows",
    "lengths": "geotracs.answers.lengths",
    "optimum": "geotracs.geo.optimum",
    "perturb": "geotracs.release.frame",
    "perturb_arrow": "geotracs.release.arrow",
    "perturb_file": "geotracs.release.file",
    "popularity": "geotracs.answers.popularity",
    "reconstruct": "geotracs.answers.reconstruct",
    "report": "geotracs.trust.report",
    "risk": "geotracs.trust.risk",
    "risk_curves": "geotracs.trust.risk_curves",
    "sweep": "geotracs.utility.sweep",
    "synthesize": "geotracs.answers.synthesize",
    "with_record": "geotracs.utility.records",
}
"""...and where the other public names come from."""

__all__ = [
    "BudgetError",
    "CRSError",
    "DomainError",
    "GeotracsError",
    "GeotracsWarning",
    "Guarantee",
    "InputError",
    "Ledger",
    "PrivacyWarning",
    "advise",
    "audit",
    "compare",
    "datasets",
    "density",
    "displacement",
    "domains",
    "files",
    "flows",
    "lengths",
    "loaders",
    "mechanisms",
    "methods",
    "metrics",
    "optimum",
    "perturb",
    "perturb_arrow",
    "perturb_file",
    "places",
    "plots",
    "popularity",
    "prepare",
    "reconstruct",
    "report",
    "risk",
    "risk_curves",
    "sweep",
    "synthesize",
    "with_record",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"geotracs.{name}")
    if name in _FUNCTIONS:
        value = getattr(importlib.import_module(_FUNCTIONS[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'geotracs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _ShortNames(MetaPathFinder, Loader):
    """Finds the modules that are known by shorter names."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        package, _, short = name.partition(".")
        return ModuleSpec(name, self) if package == "geotracs" and short in _MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(_MODULES[spec.name.partition(".")[2]])
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own  # it is loaded already, under its own name


sys.meta_path.insert(0, _ShortNames())  # before a folder that an earlier version left behind
