"""Who writes what: the parts of every rank, and of those that several have, one."""

from dataclasses import dataclass

from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.errors import not_implemented
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.size import from_shape
from tapegrad.distributed.tensor import DTensor
from tapegrad.distributed.tensor._utils import compute_local_shape_and_global_offset
from tapegrad.tensors.tensor import Tensor


class SavePlanner:
    """What decides which rank writes what: `DefaultSavePlanner` is the one there is."""


class LoadPlanner:
    """What decides which parts are read: `DefaultLoadPlanner` is the one there is."""


def checked(planner: Any, kind: type) -> Any:
    """The planner, a fresh default one for None."""
    if planner is None:
        return kind()
    if type(planner) is not kind:
        raise not_implemented(
            f"tapegrad has no planner but {kind.__name__}, and got {type(planner).__name__}",
            "Leave it away.",
        )
    return planner


@dataclass
class Item:
    """A part of a tensor that a rank has, or an object."""

    fqn: str
    offsets: tuple[int, ...] | None  # None: an object
    sizes: tuple[int, ...]
    n_bytes: int
    size: tuple[int, ...]  # of the whole
    dtype: Any = None  # by its name: it goes to the other ranks

    @property
    def key(self) -> tuple:
        """What is the same for all ranks that have this part."""
        return self.fqn, self.offsets


def items_of(flat: dict[str, Any]) -> list[Item]:
    """The parts that this rank has of a flat state."""
    found = []
    for fqn, x in flat.items():
        if not isinstance(x, Tensor):
            found.append(Item(fqn, None, (), 1, ()))
            continue
        offsets, sizes = part_of(x)
        if offsets is None:
            continue
        dtype = str(x.dtype).removeprefix("torch.")
        n_bytes = from_shape(sizes).numel() * x.element_size()
        found.append(Item(fqn, offsets, sizes, n_bytes, tuple(x.shape), dtype))
    return found


def part_of(x: Tensor) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Where this rank's part of a tensor begins, and its shape; None where it has none."""
    if not isinstance(x, DTensor):
        return (0,) * x.dim(), tuple(x.shape)
    if any(p.is_partial() for p in x.placements):
        raise not_implemented(
            "tapegrad does not save a DTensor that is partial",
            "redistribute() it to Replicate() before.",
        )
    sizes, offsets = compute_local_shape_and_global_offset(x.shape, x.device_mesh, x.placements)
    if 0 in sizes and 0 not in x.shape:
        return None, sizes
    return tuple(offsets), tuple(sizes)


def assigned(plans: Sequence[Sequence[Item]], to_lowest: bool) -> list[list[Item]]:
    """What each rank writes, of what each has; every rank finds the same."""
    having: dict[tuple, list[int]] = {}
    for rank, items in enumerate(plans):
        for item in items:
            having.setdefault(item.key, []).append(rank)
    load = [0] * len(plans)
    found: list[list[Item]] = [[] for _ in plans]
    by_key = {item.key: item for items in plans for item in items}
    for key in sorted(having, key=lambda k: (len(having[k]), -by_key[k].n_bytes)):
        ranks, item = having[key], by_key[key]
        rank = min(ranks) if to_lowest else min(ranks, key=lambda r: (load[r], r))
        load[rank] += item.n_bytes
        found[rank].append(item)
    return found


__getattr__ = _refuses(__name__)
