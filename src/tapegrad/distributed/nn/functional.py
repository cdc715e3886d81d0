"""Collectives through which gradients flow: the backward pass is the adjoint collective."""

from tapegrad.autograd import Function
from tapegrad.core.annotations import Any, Sequence, Tensor
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed import collectives
from tapegrad.distributed.groups import get_rank, get_world_size, group
from tapegrad.distributed.reduce_op import ReduceOp


def _group_of(given):
    return group.WORLD if given is None else given


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, x):
        ctx.op, ctx.group = op, group
        y = x.clone()
        collectives.all_reduce(y, op, group)
        return y

    @staticmethod
    def backward(ctx, g):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, g)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, x):
        ctx.src, ctx.group = src, group
        y = x.clone()
        collectives.broadcast(y, src, group)
        return y

    @staticmethod
    def backward(ctx, g):
        total = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, g)
        return None, None, total if get_rank(ctx.group) == ctx.src else total * 0


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, x):
        ctx.dst, ctx.group = dst, group
        y = x.clone()
        collectives.reduce(y, dst, op, group)
        return y

    @staticmethod
    def backward(ctx, g):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, g.contiguous())


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, x):
        from tapegrad import empty_like

        ctx.group = group
        y = [empty_like(x) for _ in range(get_world_size(group))]
        collectives.all_gather(y, x.contiguous(), group)
        return tuple(y)

    @staticmethod
    def backward(ctx, *g):
        from tapegrad import empty_like

        mine = empty_like(g[get_rank(ctx.group)])
        parts = [each.contiguous() for each in g]
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, mine, *parts)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *x):
        ctx.group = group
        y = output.clone()
        collectives.reduce_scatter(y, [each.contiguous() for each in x], op, group)
        return y

    @staticmethod
    def backward(ctx, g):
        return None, None, None, *_AllGather.apply(ctx.group, g)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, x):
        from tapegrad import zeros_like

        ctx.dst, ctx.group = dst, group
        y = [zeros_like(x) for _ in range(get_world_size(group))]
        is_root = get_rank(group) == dst
        collectives.gather(x.contiguous(), y if is_root else None, dst, group)
        return tuple(y)

    @staticmethod
    def backward(ctx, *g):
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *g)


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *x):
        from tapegrad import zeros_like

        ctx.src, ctx.group = src, group
        y = zeros_like(x[0])
        is_root = get_rank(group) == src
        parts = [each.contiguous() for each in x] if is_root else None
        collectives.scatter(y, parts, src, group)
        return y

    @staticmethod
    def backward(ctx, g):
        return None, None, *_Gather.apply(ctx.src, ctx.group, g)


class _AlltoAll(Function):
    @staticmethod
    def forward(ctx, group, shapes, *x):
        from tapegrad import empty

        ctx.group, ctx.shapes = group, [each.shape for each in x]
        y = [empty(shape, dtype=x[0].dtype, device=x[0].device) for shape in shapes]
        collectives.all_to_all(y, [each.contiguous() for each in x], group)
        return tuple(y)

    @staticmethod
    def backward(ctx, *g):
        return None, None, *_AlltoAll.apply(ctx.group, ctx.shapes, *g)


class _AlltoAllSingle(Function):
    @staticmethod
    def forward(ctx, group, shape, output_split_sizes, input_split_sizes, x):
        from tapegrad import empty

        ctx.group, ctx.shape = group, x.shape
        ctx.sizes = input_split_sizes, output_split_sizes
        y = empty(shape, dtype=x.dtype, device=x.device)
        sizes = (output_split_sizes, input_split_sizes)
        collectives.all_to_all_single(y, x.contiguous(), *sizes, group=group)
        return y

    @staticmethod
    def backward(ctx, g):
        return None, None, None, None, _AlltoAllSingle.apply(ctx.group, ctx.shape, *ctx.sizes, g)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction over all ranks, as a new tensor.

    >>> torch.distributed.init_process_group(
    ...     "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.distributed.nn.functional.all_reduce(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()
    """
    return _AllReduce.apply(op, _group_of(group), tensor)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of rank `src`."""
    return _Broadcast.apply(src, _group_of(group), tensor)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction over all ranks, on rank `dst`."""
    return _Reduce.apply(dst, op, _group_of(group), tensor)


def all_gather(tensor: Tensor, group: Any = None) -> tuple:
    """The tensors of all ranks."""
    return _AllGather.apply(_group_of(group), tensor)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple:
    """The tensors of all ranks, on rank `dst`; zeros elsewhere."""
    return _Gather.apply(dst, _group_of(group), tensor)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """On rank r, what rank `src` has as `tensors[r]`."""
    return _Scatter.apply(src, _group_of(group), *tensors)


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """On rank r, the reduction of every rank's `input_list[r]`."""
    return _ReduceScatter.apply(op, _group_of(group), output, *input_list)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple:
    """On rank s, every rank r's `input_tensor_list[s]`, with the shapes of the outputs given."""
    shapes = [x.shape for x in output_tensor_list]
    return _AlltoAll.apply(_group_of(group), shapes, *input_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Tensor:
    """The pieces that all ranks have for this one, with the shape of the output given."""
    sizes = (output_split_sizes, input_split_sizes)
    return _AlltoAllSingle.apply(_group_of(group), output.shape, *sizes, input)


__getattr__ = _refuses(__name__)
