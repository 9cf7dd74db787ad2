"""Publish movement data with a provable privacy guarantee, without leaving GeoPandas.

Importing geotracs registers ``GeoDataFrame.tracs``.
"""

from importlib.metadata import version

import geotracs.accessor as _accessor  # noqa: F401  (registers GeoDataFrame.tracs)
import geotracs.datasets as datasets
import geotracs.domains as domains
import geotracs.files as files
import geotracs.loaders as loaders
import geotracs.mechanisms as mechanisms
import geotracs.metrics as metrics
import geotracs.places as places
import geotracs.plots as plots
from geotracs.advise import advise
from geotracs.budget import Guarantee
from geotracs.compare import compare, displacement
from geotracs.errors import CRSError, DomainError, GeotracsError, GeotracsWarning, InputError, PrivacyWarning
from geotracs.perturb import perturb
from geotracs.streaming import perturb_file
from geotracs.sweep import sweep

__version__ = version("geotracs")

__all__ = [
    "CRSError",
    "DomainError",
    "GeotracsError",
    "GeotracsWarning",
    "Guarantee",
    "InputError",
    "PrivacyWarning",
    "advise",
    "compare",
    "datasets",
    "displacement",
    "domains",
    "files",
    "loaders",
    "mechanisms",
    "metrics",
    "perturb",
    "perturb_file",
    "places",
    "plots",
    "sweep",
]
