"""`save` and `async_save`: states to a folder, each rank its parts."""

import os
from concurrent.futures import Future, ThreadPoolExecutor

from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.errors import runtime_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.size import from_shape
from tapegrad.distributed.checkpoint import metadata as md
from tapegrad.distributed.checkpoint._nested_dict import flatten_state_dict
from tapegrad.distributed.checkpoint.default_planner import DefaultSavePlanner
from tapegrad.distributed.checkpoint.filesystem import (
    LOCK,
    UNDER_WAY,
    FileSystemWriter,
    finish_earlier,
    value_of,
    written,
)
from tapegrad.distributed.checkpoint.planner import Item, assigned, checked, items_of
from tapegrad.distributed.checkpoint.ranks import Ranks
from tapegrad.distributed.checkpoint.stateful import is_stateful
from tapegrad.distributed.constants import default_pg_timeout


class _Save:
    """What one rank does of a save: its plan is agreed upon at once."""

    def __init__(self, state_dict: dict, writer: FileSystemWriter, planner: Any, ranks: Ranks):
        self.writer, self.ranks = writer, ranks
        stated = {k: x.state_dict() if is_stateful(x) else x for k, x in state_dict.items()}

        def prepare() -> tuple:
            flat, paths = flatten_state_dict(stated)
            number = writer.generation() if ranks.rank == 0 else 0
            self.flat = flat
            return items_of(flat), paths, number

        said = ranks.all("planning", prepare)
        plans = assigned([items for items, _, _ in said], planner.dedup_save_to_lowest_rank)
        self.items = plans[ranks.rank]
        self.names = [f"__{rank}_{said[0][2]}.distcp" for rank in range(ranks.size)]
        self.plans = plans
        self.paths = {name: path for _, paths, _ in said for name, path in paths.items()}

    def pieces(self, lengths: list[int]) -> Any:
        """The bytes of this rank's parts, one after another."""
        for item in self.items:
            data = written(value_of(item, self.flat))
            lengths.append(len(data))
            yield data

    def manifest(self, lengths: Sequence[Sequence[int]]) -> md.Metadata:
        """The manifest, of the lengths of all ranks' parts."""
        described: dict[str, Any] = {}
        where: dict[md.MetadataIndex, md._StorageInfo] = {}
        for name, items, sizes in zip(self.names, self.plans, lengths, strict=True):
            offset = 0
            for item, n in zip(items, sizes, strict=True):
                chunks = _described(described, item)
                index = md.MetadataIndex(item.fqn, item.offsets, chunks)
                where[index] = md._StorageInfo(name, offset, n)
                offset += n
        return md.Metadata(described, self.paths, where, version="1.0.0")


def _described(found: dict[str, Any], item: Item) -> int | None:
    """Add a part to what is known of its tensor; the number that it gets."""
    if item.offsets is None:
        found[item.fqn] = md.BytesStorageMetadata()
        return None
    if item.fqn not in found:
        properties = md.TensorProperties(BY_NAME[item.dtype])
        found[item.fqn] = md.TensorStorageMetadata(properties, from_shape(item.size), [])
    chunks = found[item.fqn].chunks
    chunks.append(md.ChunkStorageMetadata(from_shape(item.offsets), from_shape(item.sizes)))
    return len(chunks) - 1


def _writer(checkpoint_id: Any, given: Any) -> FileSystemWriter:
    if given is None and checkpoint_id is None:
        raise runtime_error(
            "Must provide either checkpoint_id or storage_writer", "Give the path of a folder."
        )
    writer = FileSystemWriter(checkpoint_id) if given is None else given
    if checkpoint_id is not None:
        writer.path = os.fspath(checkpoint_id)
    return writer


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> md.Metadata:
    """Write a nested state to a folder; all ranks call it, and each writes its parts.

    Of tensors that several ranks have whole, one writes them. PyTorch reads the folder, too. It
    has a whole checkpoint at any time: the one before until the new one is complete.

    Args:
        state_dict: Tensors, `DTensor`s and objects in dicts and lists, and what has a `state_dict`.
        checkpoint_id: The path of the folder.
        storage_writer: A `FileSystemWriter` with options.
        no_dist: This process alone saves.

    Raises: CheckpointException on every rank where one fails.

    >>> import tempfile
    >>> from tapegrad.distributed import checkpoint
    >>> folder = tempfile.mkdtemp()
    >>> found = checkpoint.save({"w": torch.ones(2), "step": 3}, checkpoint_id=folder)
    >>> state = {"w": torch.zeros(2), "step": 0}
    >>> checkpoint.load(state, checkpoint_id=folder)
    >>> state
    {'w': tensor([1., 1.]), 'step': 3}
    """
    writer = _writer(checkpoint_id, storage_writer)
    finish_earlier(writer.path)
    ranks = Ranks(process_group, no_dist)
    task = _Save(state_dict, writer, checked(planner, DefaultSavePlanner), ranks)

    def write() -> list[int]:
        lengths: list[int] = []
        writer.write(task.names[ranks.rank], task.pieces(lengths))
        return lengths

    found = task.manifest(ranks.all("writing", write))
    ranks.all("finishing", lambda: writer.finish(found) if ranks.rank == 0 else None)
    return found


def async_save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    async_checkpointer_type: Any = None,
    async_stager: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future:
    """`save` that copies the state and writes it in a thread; what it gives back is a `Future`.

    The ranks agree before it returns, and meet in the folder afterwards: rank 0's thread writes the
    manifest when it sees all files. A next save to the folder waits for this one.
    """
    writer = _writer(checkpoint_id, storage_writer)
    finish_earlier(writer.path)
    ranks = Ranks(process_group, no_dist)
    task = _Save(state_dict, writer, checked(planner, DefaultSavePlanner), ranks)
    copied: list[bytes] = []

    def stage() -> list[int]:
        lengths: list[int] = []
        copied.extend(task.pieces(lengths))
        return lengths

    found = task.manifest(ranks.all("staging", stage))

    def write() -> md.Metadata:
        writer.write(task.names[ranks.rank], iter(copied))
        copied.clear()
        if ranks.rank == 0:
            writer.wait_for(task.names, default_pg_timeout.total_seconds())
            writer.finish(found)
        return found

    executor = ThreadPoolExecutor(1, "tapegrad checkpoint")
    future = executor.submit(write)
    executor.shutdown(wait=False)
    with LOCK:
        UNDER_WAY[os.path.realpath(writer.path)] = future
    return future


__getattr__ = _refuses(__name__)
