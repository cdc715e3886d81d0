"""`load`: states from a folder, each rank what overlaps its parts."""

import os

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any
from tapegrad.core.errors import advised, runtime_error, value_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.checkpoint import metadata as md
from tapegrad.distributed.checkpoint._nested_dict import flatten_state_dict, set_at
from tapegrad.distributed.checkpoint.default_planner import DefaultLoadPlanner
from tapegrad.distributed.checkpoint.filesystem import FileSystemReader, finish_earlier
from tapegrad.distributed.checkpoint.planner import checked, part_of
from tapegrad.distributed.checkpoint.ranks import Ranks
from tapegrad.distributed.checkpoint.stateful import is_stateful
from tapegrad.tensors.tensor import Tensor


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_reader: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Fill a nested state from a folder that `save`, or PyTorch's, has written.

    Tensors are written in place: each rank reads the parts that overlap its own, however many ranks
    have written them. Other objects take the place of those in the state, and what has a
    `load_state_dict` is called with its part.

    Raises: CheckpointException on every rank where one fails: a name or a shape that does not fit.
    """
    if storage_reader is None and checkpoint_id is None:
        raise runtime_error(
            "Must provide either checkpoint_id or storage_reader", "Give the path of a folder."
        )
    place: Any = checkpoint_id
    reader = FileSystemReader(place) if storage_reader is None else storage_reader
    if checkpoint_id is not None:
        reader.path = os.fspath(checkpoint_id)
    finish_earlier(reader.path)
    ranks = Ranks(process_group, no_dist)
    partial = checked(planner, DefaultLoadPlanner).allow_partial_load
    stated = {k: x.state_dict() if is_stateful(x) else x for k, x in state_dict.items()}
    ranks.all("loading", lambda: read_into(stated, reader, partial))
    for key, x in state_dict.items():
        if is_stateful(x):
            x.load_state_dict(stated[key])
        else:
            state_dict[key] = stated[key]


def read_into(state: dict, reader: FileSystemReader, partial: bool) -> None:
    """Fill a nested state of tensors and objects."""
    found = reader.read_metadata()
    flat, paths = flatten_state_dict(state)
    for fqn, x in flat.items():
        described = found.state_dict_metadata.get(fqn)
        if described is None:
            if partial:
                continue
            raise runtime_error(
                f"Missing key in checkpoint state_dict: {fqn}.",
                "DefaultLoadPlanner(allow_partial_load=True) leaves it as it is.",
            )
        is_tensor = isinstance(described, md.TensorStorageMetadata)
        if isinstance(x, Tensor) is not is_tensor:
            wanted = "TensorStorageMetadata" if isinstance(x, Tensor) else "BytesStorageMetadata"
            raise value_error(
                f"Invalid checkpoint metadata for {fqn}, expected {wanted} but found "
                f"{type(described)}",
                "Give a value of the kind that was saved.",
            )
        if is_tensor:
            _fill(fqn, x, described, found, reader)
        else:
            info = found.storage_data[md.MetadataIndex(fqn)]
            set_at(state, paths[fqn], reader.read(info))


def _fill(fqn: str, x: Tensor, described: Any, found: md.Metadata, reader: FileSystemReader):
    if tuple(described.size) != tuple(x.shape):
        raise value_error(
            f"Size mismatch between saved {described.size} and current: {x.shape} for {fqn}",
            "Give a tensor of the shape that was saved.",
        )
    begin, sizes = part_of(x)
    if begin is None:
        return
    with no_grad():
        target = x.to_local() if hasattr(x, "to_local") else x
        for chunk in described.chunks:
            overlap = [
                (max(a, b), min(a + n, b + m))
                for a, n, b, m in zip(begin, sizes, chunk.offsets, chunk.sizes, strict=True)
            ]
            if any(low >= high for low, high in overlap):
                continue
            info = found.storage_data[md.MetadataIndex(fqn, chunk.offsets)]
            part = reader.read(info)
            if tuple(part.shape) != tuple(chunk.sizes):
                raise advised(
                    RuntimeError(f"{info.relative_path} has another part of {fqn} than it should"),
                    "The checkpoint is damaged.",
                )
            here, there = target, part
            for dim, (low, high) in enumerate(overlap):
                here = here.narrow(dim, low - begin[dim], high - low)
                there = there.narrow(dim, low - chunk.offsets[dim], high - low)
            here.copy_(there)


__getattr__ = _refuses(__name__)
