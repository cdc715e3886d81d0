"""A share of a data set for each of several processes that train together."""

import math
from collections.abc import Iterator
from typing import Any

from tapegrad.core import errors
from tapegrad.core.generator import Generator
from tapegrad.operators.random.rand_randint_randperm import randperm
from tapegrad.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index of a data set, from `rank` on: the share of one process.

    Shares have the same length: the first indices are repeated at the end, or with `drop_last` the
    last ones left out. The order depends on `seed` and `set_epoch` alone. Without `num_replicas`
    and `rank` they are those of the default process group.

    >>> sampler = torch.utils.data.DistributedSampler(range(5), 2, 1, shuffle=False)
    >>> list(sampler)
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            from tapegrad import distributed  # only who leaves them out needs a process group

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise errors.value_error(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]",
                "The ranks of n processes are 0 to n - 1.",
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch = 0
        self.drop_last = drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle, self.seed = shuffle, seed

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        order = list(range(n))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = randperm(n, generator=generator).tolist()
        if len(order) < self.total_size:
            order = order * math.ceil(self.total_size / n)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Give the next pass another order: call it before each epoch, in all processes."""
        self.epoch = epoch
