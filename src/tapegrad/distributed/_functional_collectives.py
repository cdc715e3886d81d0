"""Collectives that give new tensors, which are there when the call returns.

PyTorch's wait when they are first used, and say so in their type; these are plain tensors.
"""

from tapegrad.core.annotations import Any, Sequence, Tensor
from tapegrad.core.errors import type_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.groups import _world, get_process_group_ranks, get_world_size
from tapegrad.distributed.nn import functional
from tapegrad.distributed.process_group import ProcessGroup
from tapegrad.distributed.reduce_op import ReduceOp
from tapegrad.tensors.tensor import Tensor as _Tensor

REDUCE_OP_TO_STR = {
    ReduceOp.SUM: "sum",
    ReduceOp.AVG: "avg",
    ReduceOp.PRODUCT: "product",
    ReduceOp.MIN: "min",
    ReduceOp.MAX: "max",
    ReduceOp.BAND: "band",
    ReduceOp.BOR: "bor",
    ReduceOp.BXOR: "bxor",
}
_OPS = {name: op for op, name in REDUCE_OP_TO_STR.items()}


class AsyncCollectiveTensor(_Tensor):
    """PyTorch's tensor that is still on its way; no tensor is one here."""


def _resolve_group(given: Any) -> Any:
    """A group, given as one, by name, by its ranks, by a mesh, or by a mesh and a dimension."""
    if isinstance(given, ProcessGroup):
        return given
    if isinstance(given, tuple) and not isinstance(given[0], int):
        return given[0].get_group(given[1])
    if hasattr(given, "get_group"):
        return given.get_group()
    if isinstance(given, str):
        found = [each for each in _world.ranks if each.group_name == given]
    else:
        found = [each for each in _world.ranks if get_process_group_ranks(each) == list(given)]
    if not found:
        raise type_error(f"no process group for {given!r}", "Make one by new_group().")
    return found[0]


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, which is there."""
    return tensor.view_as(tensor)


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The reduction over all ranks; "sum", "avg", "max", ..."""
    return functional.all_reduce(self, _OPS[reduceOp.lower()], _resolve_group(group))


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """The tensor of rank `src`."""
    return functional.broadcast(self, src, _resolve_group(group))


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """The tensors of all ranks, joined along a dimension."""
    from tapegrad import cat

    return cat(functional.all_gather(self, _resolve_group(group)), gather_dim)


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = ""
) -> Tensor:
    """The part of this rank, along a dimension, of the reduction over all."""
    found = _resolve_group(group)
    size = get_world_size(found)
    if self.shape[scatter_dim] % size:
        raise AssertionError(
            f"input dimension 0 ({self.size(0)} must be a multiple of group_size {size})"
        )
    parts = self.chunk(size, scatter_dim)
    return functional.reduce_scatter(parts[0], parts, _OPS[reduceOp.lower()], found)


def all_to_all_single(
    self: Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any,
    tag: str = "",
) -> Tensor:
    """The pieces that all ranks have for this one, along the first dimension."""
    rows = self.shape[0] if output_split_sizes is None else sum(output_split_sizes)
    output = self.new_empty((rows, *self.shape[1:]))
    sizes = (output_split_sizes, input_split_sizes)
    return functional.all_to_all_single(output, self, *sizes, group=_resolve_group(group))


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any, tag: str = "") -> Tensor:
    """The tensor of the rank that sends to this one: rank r sends to `src_dst[r]`."""
    found = _resolve_group(group)
    rank = found.rank()
    to, frm = ([0] * get_world_size(found) for _ in range(2))
    to[src_dst[rank]] = frm[list(src_dst).index(rank)] = self.shape[0]
    return all_to_all_single(self, frm, to, found)


all_gather_single = all_gather_tensor
all_gather_tensor_autograd = all_gather_tensor
all_gather_single_autograd = all_gather_tensor
reduce_scatter_single = reduce_scatter_tensor
reduce_scatter_tensor_autograd = reduce_scatter_tensor
reduce_scatter_single_autograd = reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single

__getattr__ = _refuses(__name__)
