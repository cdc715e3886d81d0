"""A recorded step of `DistributedDataParallel`, as it would be with other ranks and networks."""

from collections.abc import Callable
from typing import NamedTuple

from tools.scaling.costs import Network


class Step(NamedTuple):
    """A step of one rank: how long it computes, and when each bucket is full, of how many bytes."""

    compute_s: float
    buckets: list[tuple[float, int]]

    @property
    def n_bytes(self) -> int:
        return sum(n for _, n in self.buckets)


def step_time(step: Step, p: int, cost: Callable, net: Network) -> float:
    """The time of a step on `p` ranks: buckets are reduced one after another beside the backward.

    Every rank computes as long as the recorded one, and none waits for another's gradients.
    """
    free = 0.0
    for ready, n in step.buckets:
        free = max(free, ready) + (cost(n, p, net) if p > 1 else 0.0)
    return max(step.compute_s, free)
