"""From one placement of a tensor to another, by collectives that gradients flow through.

The cotangent of a part is the part of the cotangent, that of a whole is whole, and that of a
partial sum is whole: each change of placement has the adjoint change as its backward pass.

    Shard -> Replicate    all-gather         backward: cut the own part out
    Replicate -> Shard    cut                backward: all-gather
    Partial -> Replicate  all-reduce         backward: as it is
    Partial -> Shard      reduce-scatter     backward: all-gather
"""

from math import inf

from tapegrad.autograd import Function
from tapegrad.core.annotations import Any, Sequence, Tensor
from tapegrad.core.errors import not_implemented, runtime_error
from tapegrad.distributed import collectives
from tapegrad.distributed.reduce_op import ReduceOp
from tapegrad.distributed.tensor.placement_types import (
    Partial,
    Placement,
    Replicate,
    Shard,
    _NormPartial,
)

_OPS = {
    "sum": ReduceOp.SUM,
    "avg": ReduceOp.AVG,
    "max": ReduceOp.MAX,
    "min": ReduceOp.MIN,
    "product": ReduceOp.PRODUCT,
}


def chunk_of(n: int, size: int, rank: int) -> tuple[int, int]:
    """Where the part of a rank begins and how long it is, as `torch.chunk` cuts `n`."""
    step = -(-n // size)
    start = min(step * rank, n)
    return start, min(step, n - start)


def cut(x: Tensor, dim: int, group: Any) -> Tensor:
    """This rank's part of a whole tensor, in memory of its own."""
    from tapegrad import contiguous_format

    part = x.narrow(dim, *chunk_of(x.shape[dim], group.size(), group.rank()))
    return part.clone(memory_format=contiguous_format)


def gathered(x: Tensor, dim: int, n: int, group: Any) -> Tensor:
    """The whole tensor of the ranks' parts, `n` long in the dimension that is cut."""
    size = group.size()
    if size == 1:
        return x.clone()
    step = chunk_of(n, size, 0)[1]
    rows = _padded(x.movedim(dim, 0), step)
    whole = rows.new_empty((size * step, *rows.shape[1:]))
    collectives.all_gather_single(whole, rows, group)
    return whole[:n].movedim(0, dim).contiguous()


def _padded(x: Tensor, n: int) -> Tensor:
    """Rows with zeros after them, `n` in all."""
    if x.shape[0] == n:
        return x.contiguous()
    longer = x.new_zeros((n, *x.shape[1:]))
    longer[: x.shape[0]] = x
    return longer


def reduce_scattered(x: Tensor, dim: int, op: Any, group: Any) -> Tensor:
    """This rank's part of the reduction of every rank's tensor."""
    n, size = x.shape[dim], group.size()
    step = chunk_of(n, size, 0)[1]
    rows = _padded(x.movedim(dim, 0), size * step)
    part = rows.new_empty((step, *rows.shape[1:]))
    collectives.reduce_scatter_single(part, rows, op, group)
    return part[: chunk_of(n, size, group.rank())[1]].movedim(0, dim).contiguous()


def reduced(x: Tensor, placement: Partial, group: Any) -> Tensor:
    """What a partial tensor means."""
    if not isinstance(placement, _NormPartial):
        y = x.clone()
        collectives.all_reduce(y, _OPS[placement.reduce_op], group)
        return y
    order = float(placement.norm_type)
    if abs(order) == inf or order == 0:
        y = x.clone()
        op = ReduceOp.SUM if order == 0 else ReduceOp.MAX if order > 0 else ReduceOp.MIN
        collectives.all_reduce(y, op, group)
        return y
    y = x.pow(order)
    collectives.all_reduce(y, group=group)
    return y.pow(1 / order)


class _Gather(Function):
    @staticmethod
    def forward(ctx, x, dim, n, group):
        ctx.args = dim, group
        return gathered(x, dim, n, group)

    @staticmethod
    def backward(ctx, g):
        return cut(g, *ctx.args), None, None, None


class _Cut(Function):
    @staticmethod
    def forward(ctx, x, dim, group):
        ctx.args = dim, x.shape[dim], group
        return cut(x, dim, group)

    @staticmethod
    def backward(ctx, g):
        return gathered(g, *ctx.args), None, None


class _Reduce(Function):
    @staticmethod
    def forward(ctx, x, placement, group):
        ctx.scale = 1 / group.size() if placement.reduce_op == "avg" else 1
        return reduced(x, placement, group)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale if ctx.scale != 1 else g.clone(), None, None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, x, dim, op, group):
        ctx.args = dim, x.shape[dim], group
        ctx.scale = 1 / group.size() if op == ReduceOp.AVG else 1
        return reduce_scattered(x, dim, op, group)

    @staticmethod
    def backward(ctx, g):
        return gathered(g * ctx.scale, *ctx.args), None, None, None


class _Used(Function):
    """A whole tensor that each rank uses with parts of others: its cotangents are added."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return reduced(g, Partial(), ctx.group), None


def shared_by_parts(x: Tensor, groups: Sequence) -> Tensor:
    """A whole tensor, to be used by each rank with its parts of others."""
    if x.requires_grad:
        for group in groups:
            x = _Used.apply(x, group)
    return x


def _check_gradient(x: Tensor, placement: Partial) -> None:
    linear = placement.reduce_op in ("sum", "avg") and not isinstance(placement, _NormPartial)
    if x.requires_grad and not linear:
        raise not_implemented(
            f"tapegrad has no gradient through {placement!r}",
            "Compute it of the full_tensor(), or of detach().",
        )


def redistributed(
    x: Tensor,
    shape: Sequence[int],
    mesh: Any,
    current: Sequence[Placement],
    target: Sequence[Placement],
) -> Tensor:
    """A rank's tensor under other placements; `shape` is that of the whole."""
    current = list(current)
    if tuple(current) == tuple(target):
        return x
    for source, to in zip(current, target, strict=True):
        if isinstance(to, Partial) and source != to:
            raise runtime_error(
                f"Can not redistribute from {source} to {to}, redistributing to Partial is for "
                "internal use only!",
                "Redistribute to Replicate() or Shard(dim).",
            )
    changed = {i for i in range(mesh.ndim) if current[i] != target[i]}
    # Parts of parts are joined from the inside, also where only what is around them changes.
    dims = {p.dim for i in changed for p in (current[i], target[i]) if isinstance(p, Shard)}
    first = min(changed)
    changed |= {i for i in range(first, mesh.ndim) if getattr(current[i], "dim", None) in dims}
    for i in sorted(changed, reverse=True):
        source, group = current[i], mesh.get_group(i)
        if isinstance(source, Shard):
            n = length_inside(shape, mesh, current[:i], source.dim)
            x = _Gather.apply(x, source.dim, n, group)
        elif isinstance(source, Partial):
            _check_gradient(x, source)
            aim: Any = target[i]
            if i == max(changed) and _scatters(source, aim, current[:i]):
                x = _ReduceScatter.apply(x, aim.dim, _OPS[source.reduce_op], group)
                current[i] = aim
                continue
            x = _Reduce.apply(x, source, group)
        current[i] = Replicate()
    for i in sorted(changed):
        to = target[i]
        if isinstance(to, Shard) and current[i] != to:
            x = _Cut.apply(x, to.dim, mesh.get_group(i))
            current[i] = to
    return x


def _scatters(source: Partial, to: Placement, outer: Sequence[Placement]) -> bool:
    """Whether a partial tensor becomes parts in one step."""
    if isinstance(source, _NormPartial) or not isinstance(to, Shard):
        return False
    return not any(isinstance(p, Shard) and p.dim == to.dim for p in outer)


def length_inside(shape: Sequence[int], mesh: Any, outer: Sequence[Placement], dim: int) -> int:
    """How long a dimension is for this rank once the outer dimensions of the mesh have cut it."""
    n = shape[dim]
    for i, placement in enumerate(outer):
        if isinstance(placement, Shard) and placement.dim == dim:
            group = mesh.get_group(i)
            n = chunk_of(n, group.size(), group.rank())[1]
    return n
