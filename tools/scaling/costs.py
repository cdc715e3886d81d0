"""How long an all-reduce takes by the algorithms of MPI libraries.

Source: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in
MPICH, International Journal of High Performance Computing Applications 19(1), 2005, sections 3 and
4. A message of n bytes takes `alpha + n beta`, adding two `n gamma`. Links are not shared.
"""

from collections.abc import Callable
from math import log2
from typing import NamedTuple


class Network(NamedTuple):
    """A network, and a processor's sums."""

    alpha: float  # seconds a message
    beta: float  # seconds a byte
    gamma: float  # seconds a byte that is added


def ring(n: float, p: int, net: Network) -> float:
    """Parts go round twice: reduced, then gathered."""
    part = (p - 1) / p * n
    return 2 * (p - 1) * net.alpha + 2 * part * net.beta + part * net.gamma


def tree(n: float, p: int, net: Network) -> float:
    """Recursive doubling: all of it to a partner, log2 p times; one more each way for the rest."""
    steps = int(log2(p)) + (2 if p & (p - 1) else 0)
    return steps * (net.alpha + n * net.beta + n * net.gamma)


def rabenseifner(n: float, p: int, net: Network) -> float:
    """Halves to partners, then doubling back; 2 more of all where p is no power of two."""
    part = (p - 1) / p * n
    rest = 2 * (net.alpha + n * net.beta) + n * net.gamma if p & (p - 1) else 0.0
    return 2 * int(log2(p)) * net.alpha + 2 * part * net.beta + part * net.gamma + rest


ALGORITHMS: dict[str, Callable[[float, int, Network], float]] = {
    "ring": ring,
    "tree": tree,
    "Rabenseifner": rabenseifner,
}
