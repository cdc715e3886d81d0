"""Collectives of one rank, as PyTorch's gloo of one rank computes and refuses them."""

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tests.messages import raises

OPS = "SUM AVG PRODUCT MIN MAX BAND BOR BXOR".split()


@pytest.mark.parametrize("op", OPS)
def test_a_reduction_over_one_rank_keeps_the_numbers(world, op):
    x = torch.tensor([1, 2, 3])
    if op == "AVG":
        x = x.float()
    expected = x.clone()
    assert dist.all_reduce(x, getattr(dist.ReduceOp, op)) is None
    dist.reduce(x, 0, getattr(dist.ReduceOp, op))
    assert x.equal(expected) and x._version == 0


@pytest.mark.parametrize(
    ("op", "dtype", "message"),
    [
        ("BAND", "float32", "Cannot use ReduceOp.BAND with non-integral dtype"),
        ("AVG", "int64", "result type Float can't be cast to the desired output type Long"),
        ("SUM", "int16", "Invalid scalar type"),
    ],
)
def test_what_gloo_cannot_reduce_raises(world, op, dtype, message):
    with raises(RuntimeError, message):
        dist.all_reduce(torch.ones(2, dtype=getattr(torch, dtype)), getattr(dist.ReduceOp, op))


def test_complex_numbers_are_summed_but_not_compared(world):
    x = torch.tensor([1 + 2j])
    dist.all_reduce(x)
    assert x.item() == 1 + 2j
    with raises(ValueError, "all_reduce does not support RedOpType.MAX on complex tensors"):
        dist.all_reduce(x, dist.ReduceOp.MAX)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_gathers_and_scatters_copy(world, dtype):
    x = torch.tensor([[1, 0], [1, 1]]).to(getattr(torch, dtype))
    found = [torch.zeros_like(x) for _ in range(7)]
    columns = torch.zeros_like(x).t()  # not contiguous
    dist.all_gather([columns], x)
    dist.all_gather([found[0]], x.t().contiguous().t())
    dist.all_gather_single(found[1], x)
    dist.gather(x, [found[2]])
    dist.scatter(found[3], [x])
    dist.reduce_scatter(found[4], [x])
    dist.reduce_scatter_single(found[5], x)
    dist.all_to_all_single(found[6], x)
    assert all(each.equal(x) for each in (*found, columns))


def test_all_to_all_takes_lists(world):
    y = torch.zeros(2)
    dist.all_to_all([y], [torch.tensor([1.0, 2.0])])
    assert y.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: dist.broadcast(x, 1), RuntimeError, "::broadcast: invalid root rank: 1"),
        (lambda x: dist.reduce(x, 3), RuntimeError, "::reduce: invalid root rank: 3"),
        (
            lambda x: dist.all_gather([torch.zeros(3)], x),
            RuntimeError,
            "::allgather: invalid tensor size at index 0 (expected (4), got (3))",
        ),
        (
            lambda x: dist.all_gather([], x),
            RuntimeError,
            "::allgather: invalid output tensor list at index 0 (expected length 1, got 0)",
        ),
        (
            lambda x: dist.scatter(x, [x, x]),
            RuntimeError,
            "::scatter: Incorrect input list size 2. Input list size should be 1, same as size of "
            "the process group.",
        ),
        (
            lambda x: dist.all_to_all([x], [x, x]),
            RuntimeError,
            "::alltoall: input tensor list size 2 does not match world size 1",
        ),
        (
            lambda x: dist.all_to_all_single(x, x, [3], [4]),
            RuntimeError,
            "Split sizes doesn't match total dim 0 size",
        ),
        (
            lambda x: dist.reduce_scatter(x, [x, x]),
            RuntimeError,
            "invalid input tensor list size, must be world size",
        ),
        (
            lambda x: dist.gather(x),
            ValueError,
            "Argument ``gather_list`` must be specified on destination rank.",
        ),
        (
            lambda x: dist.scatter(x, [x], 1),
            ValueError,
            "Argument ``scatter_list`` must NOT be specified on non-source ranks.",
        ),
        (lambda x: dist.broadcast(x), ValueError, "Must specify global_rank or group_rank"),
        (
            lambda x: dist.all_reduce([x]),
            TypeError,
            "Invalid function argument. Expected parameter `tensor` of type torch.Tensor\n"
            "             but got <class 'list'> instead.",
        ),
    ],
)
def test_errors_are_gloos(world, call, error, message):
    message = f"ProcessGroupGloo{message}" if message[:2] == "::" else message
    with raises(error, message):
        call(torch.ones(4))


def test_without_a_group_each_says_so():
    for call in (dist.barrier, dist.get_rank, lambda: dist.all_reduce(torch.ones(1))):
        with raises(
            ValueError,
            "Default process group has not been initialized, please make sure to call "
            "init_process_group.",
        ):
            call()


def test_a_work_is_done_and_has_what_was_written(world):
    x = torch.tensor([3.0])
    work = dist.all_reduce(x, async_op=True)
    assert isinstance(work, dist.Work) and work.is_completed() and work.wait()
    assert work.result()[0] is x and work.exception() is None
    assert work.get_future().then(lambda future: future.value()[0] * 2).wait().item() == 6
    assert dist.barrier(async_op=True).get_future().wait() == []
    with raises(RuntimeError, "Work::getFuture not implemented."):
        dist.reduce_scatter(x, [x], async_op=True).get_future()


def test_gradients_do_not_see_a_reduction(world):
    x = torch.ones(2, requires_grad=True)
    dist.all_reduce(x)
    y = x * 2
    dist.all_reduce(y)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_old_names_warn(world):
    y = torch.zeros(2)
    with pytest.warns(FutureWarning, match="Please use `torch.distributed.all_gather_single`"):
        dist.all_gather_into_tensor(y, torch.ones(2))
    with pytest.warns(FutureWarning, match="please use `torch.distributed.ReduceOp` instead"):
        assert dist.reduce_op.SUM is dist.ReduceOp.SUM
