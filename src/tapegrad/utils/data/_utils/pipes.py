"""What a DataLoader does for data pipes: seeds for their shuffling, parts for its workers."""

import sys
from typing import Any

from tapegrad.core import errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.sampler import drawn_seed

_MODULE = "tapegrad.utils.data.datapipes.datapipe"


def is_pipe(dataset: Any, kinds: str = "IterDataPipe MapDataPipe") -> bool:
    """Whether a data set is a pipe; nothing is where no program has imported any."""
    module = sys.modules.get(_MODULE)
    return module is not None and isinstance(
        dataset, tuple(getattr(module, kind) for kind in kinds.split())
    )


def begin_pass(loader: Any) -> int | None:
    """Seed the pipes of a loader for another pass; the seed, None where there are no pipes."""
    dataset = loader.dataset
    if not is_pipe(dataset):
        return None
    _need_one_process()
    if not loader.num_workers:
        divide(dataset, 1, 0)
    if not is_pipe(dataset, "IterDataPipe"):
        return None
    seed = drawn_seed(loader.generator)
    seed_pipes(dataset, seed)
    return seed


def seed_pipes(dataset: Any, seed: int) -> None:
    """Give each pipe that shuffles a seed of its own, drawn from `seed`."""
    from tapegrad.random import Generator
    from tapegrad.utils.data.graph_settings import apply_random_seed

    apply_random_seed(dataset, Generator().manual_seed(seed))


def divide(dataset: Any, n: int, i: int) -> None:
    """Let `sharding_filter` give part `i` of `n`."""
    from tapegrad.utils.data.graph_settings import apply_sharding

    apply_sharding(dataset, n, i)


def _need_one_process() -> None:
    distributed = sys.modules.get("tapegrad.distributed")
    if distributed is not None and distributed.is_initialized():
        n = distributed.get_world_size()
        if n > 1:
            raise errors.not_implemented(
                f"tapegrad's DataLoader does not divide data pipes among {n} processes",
                "Call torch.utils.data.graph_settings.apply_sharding and set_seed in each.",
            )


__getattr__ = _refuses(__name__)
