"""Data for training: data sets, the order of their samples, and batches of them."""

from typing import Any

from tapegrad.core.missing import missing as _missing
from tapegrad.utils.data._utils.collate import default_collate, default_convert
from tapegrad.utils.data._utils.worker import get_worker_info
from tapegrad.utils.data.dataloader import DataLoader
from tapegrad.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from tapegrad.utils.data.distributed import DistributedSampler
from tapegrad.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

_PIPES = {
    **dict.fromkeys(("DataChunk", "DFIterDataPipe", "IterDataPipe", "MapDataPipe"), "datapipe"),
    **dict.fromkeys(
        ("functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic"),
        "_decorator",
    ),
}


def __getattr__(name: str) -> Any:
    """Data pipes, on their first use."""
    from importlib import import_module

    if name in _PIPES:
        return getattr(import_module(f"tapegrad.utils.data.datapipes.{_PIPES[name]}"), name)
    if name in ("datapipes", "graph", "graph_settings"):
        return import_module(f"tapegrad.utils.data.{name}")
    raise _missing(__name__, name)
