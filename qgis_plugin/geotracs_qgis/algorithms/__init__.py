"""The algorithms, one file each."""

from .advise import ExpectedError
from .compare import Compare
from .density import Density
from .expected_risk import ExpectedRisk
from .flows import Flows
from .perturb import Perturb
from .prepare import Prepare
from .reconstruct import Reconstruct
from .report import Report
from .risk import Risk

ALGORITHMS = (ExpectedError, ExpectedRisk, Prepare, Perturb, Report, Compare, Risk, Density, Flows, Reconstruct)
