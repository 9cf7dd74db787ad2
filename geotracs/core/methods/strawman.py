"""The strawman: TraCS-D with k-RR over fixed sectors for the direction."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from geotracs.core.mechanisms.krr import check_k
from geotracs.core.mechanisms.sectors import MAX_SECTORS, Sectors
from geotracs.core.methods.tracs_d import TracsD


@dataclass(frozen=True)
class Strawman(TracsD):
    """Perturb the direction by k-RR over sectors and uniformly inside, and the distance as TraCS-D does.

    Parameters
    ----------
    k : int
        Number of sectors, at least 2; the paper's is 6.
    window, direction_share, start, reference
        As for TraCS-D; ``window`` is that of the distance.

    Notes
    -----
    Public: the region, the sectors, what was reported before. Paid for: the direction and the distance, whose shares of
    epsilon add up by sequential composition. However large epsilon is, the direction inside the sector is not told.

    The paper's section on directions, after the sectors of ATP (Zhang et al., 2023). Published code left the secret
    sector with probability 1 / (k - 1 + exp(eps)) instead of k - 1 times as much, which is not eps-LDP.
    """

    name: ClassVar[str] = "strawman"

    @property
    def caveat(self) -> str:
        """Nothing is lacking: the window is that of the distance, where "sdd" is never used."""
        return ""

    k: Any = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k, most=MAX_SECTORS)

    def _direction(self, eps: float | np.ndarray) -> Sectors:
        return Sectors(eps, self.k)
