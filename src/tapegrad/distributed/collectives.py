"""Collectives on tensors, with PyTorch's arguments and checks."""

import functools
from datetime import timedelta

from tapegrad.core.annotations import Any, Sequence, Tensor
from tapegrad.core.errors import advised, value_error
from tapegrad.distributed.groups import (
    _get_default_group,
    _rank_not_in_group,
    _resolved,
    get_backend,
    get_group_rank,
    warn_deprecated,
)
from tapegrad.distributed.reduce_op import (
    AllreduceCoalescedOptions,
    AllreduceOptions,
    BroadcastOptions,
    GatherOptions,
    RedOpType,
    ReduceOp,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from tapegrad.tensors.tensor import Tensor as _Tensor


def check_tensor(x: Any, name: str) -> None:
    """TypeError where a tensor is asked for and something else came."""
    if not isinstance(x, _Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(x)} instead."
        )


def check_tensors(x: Any, name: str) -> None:
    """The same for a list of tensors."""
    if not isinstance(x, list):
        shown = str(type(x))
    elif not all(isinstance(each, _Tensor) for each in x):
        shown = str([type(each) for each in x])
    else:
        return
    raise TypeError(
        f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
        f"             but got {shown} instead."
    )


def _check_one_dtype(*tensors: Any) -> None:
    flat = [x for each in tensors for x in (each if isinstance(each, list) else [each])]
    for x in flat:
        if x.dtype != flat[0].dtype:
            raise value_error(
                f"Invalid usage of tensors with different dtypesFound {flat[0].dtype} and "
                f" {x.dtype}",
                "Convert one of them.",
            )


def group_rank_of(group: Any, rank: int | None, group_rank: int | None, name: str = "rank") -> int:
    """A rank that is given either as one of the world or as one of the group."""
    if group_rank is not None:
        if rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return group_rank
    if rank is None:
        raise value_error("Must specify global_rank or group_rank", "Give one of the two.")
    return get_group_rank(group, rank)


def _done(work: Any, async_op: bool) -> Any:
    """What a collective gives: the work, or None when it is done."""
    if async_op:
        return work
    if work is not None:
        work.wait()
    return None


def _not_a_member(name):
    from warnings import warn

    warn(f"Running {name} on global rank that does not belong to the given group.", stacklevel=3)


def supports_complex(reduceOp: Any) -> bool:
    """Whether a reduction is one of complex numbers."""
    op = reduceOp.op if isinstance(reduceOp, ReduceOp) else reduceOp
    return op not in (
        RedOpType.MAX,
        RedOpType.MIN,
        RedOpType.PRODUCT,
        RedOpType.BAND,
        RedOpType.BOR,
        RedOpType.BXOR,
    )


def _real_pairs(x: Tensor, op: Any, name: str) -> Tensor:
    """Complex numbers as pairs of real ones, which sums and means may take instead."""
    if not x.is_complex():
        return x
    if not supports_complex(op):
        raise advised(
            ValueError(f"{name} does not support {op} on complex tensors"), "Take SUM or AVG."
        )
    from tapegrad import view_as_real

    return view_as_real(x)


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Write to the tensor its reduction over all ranks; of one rank, it stays.

    >>> store = torch.distributed.HashStore()
    >>> torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    >>> x = torch.ones(2)
    >>> torch.distributed.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _not_a_member("all_reduce")
    found = _resolved(group)
    if tensor.is_sparse:
        raise advised(
            NotImplementedError("all_reduce of a sparse tensor"), "Take tensor.to_dense()."
        )
    options = AllreduceOptions()
    options.reduceOp = op
    return _done(found.allreduce([_real_pairs(tensor, op, "all_reduce")], options), async_op)


def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """`all_reduce` of several tensors."""
    warn_deprecated(
        "`torch.distributed.all_reduce_coalesced` will be deprecated. If you must use it, please "
        "revisit our documentation later at "
        "https://pytorch.org/docs/main/distributed.html#collective-functions"
    )
    tensors = [tensors] if isinstance(tensors, _Tensor) else tensors
    check_tensors(tensors, "tensor")
    _check_one_dtype(tensors)
    if _rank_not_in_group(group):
        return _not_a_member("all_reduce_coalesced")
    options = AllreduceCoalescedOptions()
    options.reduceOp = op
    pairs = [_real_pairs(x, op, "all_reduce") for x in tensors]
    return _done(_resolved(group).allreduce_coalesced(pairs, options), async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Any:
    """Write to the tensor that of rank `src`."""
    found = _resolved(group)
    root = group_rank_of(found, src, group_src)
    check_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _not_a_member("broadcast")
    options = BroadcastOptions()
    options.rootRank = root
    return _done(found.broadcast([tensor], options), async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Write to the tensor of rank `dst` the reduction over all ranks."""
    found = _resolved(group)
    root = group_rank_of(found, dst, group_dst)
    check_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _not_a_member("reduce")
    options = ReduceOptions()
    options.reduceOp, options.rootRank = op, root
    return _done(found.reduce([_real_pairs(tensor, op, "reduce")], options), async_op)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Any:
    """Write to `tensor_list[r]` the tensor of rank r."""
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    _check_one_dtype(tensor_list, tensor)
    if _rank_not_in_group(group):
        return _not_a_member("all_gather")
    return _done(_resolved(group).allgather([tensor_list], [tensor]), async_op)


def all_gather_coalesced(
    output_tensor_lists: list, input_tensor_list: list, group: Any = None, async_op: bool = False
) -> Any:
    """`all_gather` of several tensors: `output_tensor_lists[r][i]` is tensor i of rank r."""
    warn_deprecated(
        "`torch.distributed.all_gather_coalesced` will be deprecated. If you must use it, please "
        "revisit our documentation later at "
        "https://pytorch.org/docs/main/distributed.html#collective-functions"
    )
    if _rank_not_in_group(group):
        return _not_a_member("all_gather_coalesced")
    check_tensors(input_tensor_list, "tensor_list")
    _check_one_dtype(input_tensor_list)
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for output in output_tensor_lists:
        check_tensors(output, "output_tensor_lists")
        _check_one_dtype(output)
    found = _resolved(group)
    return _done(found.allgather_coalesced(output_tensor_lists, input_tensor_list), async_op)


def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Any:
    """Write to one tensor those of all ranks, one after another."""
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    if _rank_not_in_group(group):
        return _not_a_member("all_gather_single")
    return _done(_resolved(group)._allgather_base(output_tensor, input_tensor), async_op)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Write to rank r's `output` the reduction of every rank's `input_list[r]`."""
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    _check_one_dtype(output, input_list)
    if _rank_not_in_group(group):
        return _not_a_member("reduce_scatter")
    options = ReduceScatterOptions()
    options.reduceOp = op
    return _done(_resolved(group).reduce_scatter([output], [input_list], options), async_op)


def reduce_scatter_single(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Write to rank r's `output` the reduction of part r of every rank's `input`."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    if _rank_not_in_group(group):
        return _not_a_member("reduce_scatter_single")
    options = ReduceScatterOptions()
    options.reduceOp = op
    return _done(_resolved(group)._reduce_scatter_base(output, input, options), async_op)


def _renamed(name: str, function: Any, text: str) -> Any:
    """A function under its old name, with a warning."""

    @functools.wraps(function)
    def old(*args: Any, **kwargs: Any) -> Any:
        from warnings import warn

        warn(text, category=FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    return old


def _deprecated(name: str, function: Any) -> Any:
    text = (
        f"`torch.distributed.{name}` is deprecated. "
        f"Please use `torch.distributed.{function.__name__}` instead."
    )
    return _renamed(name, function, text)


all_gather_into_tensor = _deprecated("all_gather_into_tensor", all_gather_single)
reduce_scatter_tensor = _deprecated("reduce_scatter_tensor", reduce_scatter_single)
_all_gather_base = _deprecated("_all_gather_base", all_gather_single)
_reduce_scatter_base = _deprecated("_reduce_scatter_base", reduce_scatter_single)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Write to `gather_list[r]` of rank `dst` the tensor of rank r."""
    check_tensor(tensor, "tensor")
    if gather_list:
        check_tensors(gather_list, "gather_list")
    else:
        gather_list = []
    _check_one_dtype(tensor, gather_list)
    found = _resolved(group)
    if _rank_not_in_group(group):
        return _not_a_member("gather")
    root = 0 if dst is None and group_dst is None else group_rank_of(found, dst, group_dst)
    check_one_side(root == found.rank(), gather_list, "gather_list", "destination", "ranks")
    options = GatherOptions()
    options.rootRank = root
    outputs = [gather_list] if root == found.rank() else []
    return _done(found.gather(outputs, [tensor], options), async_op)


def check_one_side(is_root: bool, given: Any, name: str, side: str, others: str) -> None:
    """A list is given where the root is, and nowhere else."""
    if is_root and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {side} rank.")
    if not is_root and given:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{side} {others}.")


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Any:
    """Write to the tensor of rank r what rank `src` has as `scatter_list[r]`."""
    check_tensor(tensor, "tensor")
    if scatter_list:
        check_tensors(scatter_list, "scatter_list")
    else:
        scatter_list = []
    _check_one_dtype(tensor, scatter_list)
    if _rank_not_in_group(group):
        return _not_a_member("scatter")
    found = _resolved(group)
    root = 0 if src is None and group_src is None else group_rank_of(found, src, group_src)
    check_one_side(root == found.rank(), scatter_list, "scatter_list", "source", "ranks")
    options = ScatterOptions()
    options.rootRank = root
    inputs = [scatter_list] if root == found.rank() else []
    return _done(found.scatter([tensor], inputs, options), async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Send piece s of rank r's `input` to piece r of rank s's `output`."""
    if _rank_not_in_group(group):
        return _not_a_member("all_to_all_single")
    check_tensor(output, "output")
    check_tensor(input, "input")
    _check_one_dtype(output, input)
    sizes = (output_split_sizes or [], input_split_sizes or [])
    return _done(_resolved(group).alltoall_base(output, input, *sizes), async_op)


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Send rank r's `input_tensor_list[s]` to rank s's `output_tensor_list[r]`."""
    if _rank_not_in_group(group):
        return _not_a_member("all_to_all")
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    _check_one_dtype(output_tensor_list, input_tensor_list)
    return _done(_resolved(group).alltoall(output_tensor_list, input_tensor_list), async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Any:
    """Wait until every rank has come here."""
    if _rank_not_in_group(group):
        return _not_a_member("barrier")
    found = _resolved(group)
    if isinstance(device_ids, list) is False and device_ids is not None:
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    return _done(found.barrier(), async_op)


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """`barrier` that says which rank did not come."""
    if _rank_not_in_group(group):
        return _not_a_member("monitored_barrier")
    if get_backend(group) != "gloo":
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    found = _get_default_group() if group is None else group
    return found.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)
