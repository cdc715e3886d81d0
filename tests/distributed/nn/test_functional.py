"""Collectives through which gradients flow: of one rank, identities."""

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad.distributed import _functional_collectives as collectives
from tapegrad.distributed.nn import functional

CALLS = {
    "all_reduce": functional.all_reduce,
    "all_gather": lambda x: functional.all_gather(x)[0],
    "broadcast": lambda x: functional.broadcast(x, 0),
    "gather": lambda x: functional.gather(x)[0],
    "scatter": lambda x: functional.scatter([x]),
    "reduce": lambda x: functional.reduce(x, 0),
    "reduce_scatter": lambda x: functional.reduce_scatter(torch.zeros(4), [x]),
    "all_to_all": lambda x: functional.all_to_all([torch.zeros(4)], [x])[0],
    "all_to_all_single": lambda x: functional.all_to_all_single(torch.zeros(4), x),
    "wait_tensor": collectives.wait_tensor,
    "all_reduce by name": lambda x: collectives.all_reduce(x, "sum", "0"),
    "all_reduce by ranks": lambda x: collectives.all_reduce(x, "avg", [0]),
    "all_gather_tensor": lambda x: collectives.all_gather_tensor(x, 0, dist.group.WORLD),
    "reduce_scatter_tensor": lambda x: collectives.reduce_scatter_tensor(x, "sum", 0, [0]),
    "permute_tensor": lambda x: collectives.permute_tensor(x, [0], [0]),
}


@pytest.fixture
def world():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize("name", CALLS)
def test_numbers_and_gradients_pass_through(world, name):
    x = torch.arange(4.0, requires_grad=True)
    y = CALLS[name](x)
    (y * torch.arange(1.0, 5.0)).sum().backward()
    assert y.tolist() == [0, 1, 2, 3] and x.grad.tolist() == [1, 2, 3, 4] and y is not x
