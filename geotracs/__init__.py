"""Publish movement data with a provable privacy guarantee, without leaving GeoPandas.

Importing geotracs registers ``GeoDataFrame.tracs``.
"""

from importlib.metadata import version

import geotracs.accessor as _accessor  # noqa: F401  (registers GeoDataFrame.tracs)
import geotracs.io.datasets as datasets
import geotracs.core.domains as domains
import geotracs.io.files as files
import geotracs.io.loaders as loaders
import geotracs.core.mechanisms as mechanisms
import geotracs.utility.metrics as metrics
import geotracs.core.places as places
import geotracs.views.plots as plots
from geotracs.geo.advise import advise
from geotracs.core.budget import Guarantee
from geotracs.utility.compare import compare, displacement
from geotracs.errors import CRSError, DomainError, GeotracsError, GeotracsWarning, InputError, PrivacyWarning
from geotracs.release.frame import perturb
from geotracs.release.file import perturb_file
from geotracs.utility.sweep import sweep

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
