"""`DTensor` in a world of one rank: what it says and what it refuses. Ranks: ../mpi."""

import copy
import io

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad.distributed import tensor as dt
from tapegrad.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from tests.messages import raises_beginning


@pytest.fixture
def mesh(world):
    return dist.init_device_mesh("cpu", (1,))


def test_placements_are_values():
    assert Shard(1) == Shard(1) != Shard(0) and Shard(1).is_shard(1) and not Shard(1).is_shard(0)
    assert repr((Shard(1), Replicate(), Partial())) == "(Shard(dim=1), Replicate(), Partial(sum))"


def test_the_gradient_of_a_leaf_is_spread_as_it_is(mesh):
    x = distribute_tensor(torch.ones(2, 3), mesh, [Shard(-1)]).requires_grad_()
    seen = []
    x.register_hook(lambda g: seen.append(g.placements))
    (x.to_local() * 2).sum().backward()
    assert seen == [(Shard(1),)] and x.grad.placements == (Shard(1),) and x.grad is x.grad
    assert x.grad.full_tensor().equal(torch.full((2, 3), 2.0))


def test_gradients_that_are_asked_for_are_spread(mesh):
    x = distribute_tensor(torch.ones(3), mesh, [Shard(0)]).requires_grad_()
    (g,) = torch.autograd.grad((x * x).sum(), x)
    assert g.placements == (Shard(0),) and g.full_tensor().equal(torch.full((3,), 2.0))


def test_other_data_has_other_placements(mesh):
    x = distribute_tensor(torch.ones(3), mesh, [Shard(0)])
    x.data = distribute_tensor(torch.ones(4, 2), mesh, [Replicate()])
    assert x.shape == (4, 2) and x.placements == (Replicate(),)


def test_a_parameter_stays_one_when_it_is_copied(mesh):
    p = torch.nn.Parameter(distribute_tensor(torch.ones(2), mesh, [Shard(0)]))
    q = copy.deepcopy(p)
    assert isinstance(p, torch.nn.Parameter) and isinstance(q, torch.nn.Parameter)
    assert type(p).__name__ == "DTensor" and q.requires_grad and q.equal(p) and q is not p


@pytest.mark.parametrize("name", "empty full ones rand randn zeros".split())
def test_wholes_are_made_in_parts(mesh, name):
    args = ((2, 3), 7.0) if name == "full" else (2, 3)
    torch.manual_seed(0)
    x = getattr(dt, name)(*args, device_mesh=mesh, placements=[Shard(0)], requires_grad=True)
    torch.manual_seed(0)
    assert (x.shape, x.is_leaf, x.requires_grad) == ((2, 3), True, True)
    assert name == "empty" or x.full_tensor().equal(getattr(torch, name)(*args))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda x, m: x @ x, NotImplementedError, "tapegrad does not compute matmul"),
        (lambda x, m: x[0], NotImplementedError, "tapegrad does not compute __getitem__"),
        (lambda x, m: x.T, NotImplementedError, "tapegrad does not compute T"),
        (lambda x, m: torch.where(x > 0), NotImplementedError, "tapegrad does not compute where("),
        (
            lambda x, m: torch.linalg.norm(x, 2),
            NotImplementedError,
            "tapegrad does not compute lin",
        ),
        (lambda x, m: x.max(0), NotImplementedError, "tapegrad does not compute max(dim=...)"),
        (lambda x, m: x.tolist(), RuntimeError, ".tolist() is not supported for tensor subclasses"),
        (lambda x, m: x.item(), RuntimeError, "a Tensor with 4 elements cannot be converted"),
        (lambda x, m: x + torch.ones(2, 2), RuntimeError, "aten.add.default got mixed"),
        (
            lambda x, m: setattr(x, "data", torch.ones(2, 2)),
            RuntimeError,
            "aten.set_data.default got mixed",
        ),
        (lambda x, m: torch.save(x, io.BytesIO()), NotImplementedError, "tapegrad does not pickle"),
        (
            lambda x, m: torch.optim.LBFGS([x]),
            NotImplementedError,
            "LBFGS needs all of a parameter",
        ),
        (lambda x, m: DTensor(x), TypeError, "a DTensor is not made by its constructor"),
        (lambda x, m: DTensor.from_local(x, m), RuntimeError, "the local_tensor argument only"),
        (lambda x, m: DTensor.from_local(torch.ones(1)), RuntimeError, "No device mesh is"),
        (lambda x, m: x.redistribute(), RuntimeError, "placements is needed for redistribute!"),
        (
            lambda x, m: x.redistribute(placements=[Partial()]),
            RuntimeError,
            "Can not redistribute from S(0) to P(sum)",
        ),
        (
            lambda x, m: distribute_tensor(torch.ones(3), m, [Shard(1)]),
            IndexError,
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
        ),
        (
            lambda x, m: distribute_tensor(torch.ones(3), m, []),
            ValueError,
            "`placements` must have the same length as `device_mesh.ndim`!",
        ),
        (
            lambda x, m: distribute_tensor(x, m, [Replicate()]),
            ValueError,
            "Cannot distribute a DTensor with placements (Shard(dim=0),)",
        ),
    ],
)
def test_what_needs_other_parts_is_refused(mesh, call, kind, text):
    x = distribute_tensor(torch.ones(2, 2), mesh, [Shard(0)])
    with raises_beginning(kind, text):
        call(x, mesh)


def test_functions_of_lists_compute_with_each(mesh):
    xs = [
        distribute_tensor(torch.full((4,), 9.0), mesh, [place]) for place in (Shard(0), Replicate())
    ]
    roots = torch._foreach_sqrt(torch._foreach_add(xs, 7))
    assert [x.full_tensor().tolist() for x in roots] == [[4.0] * 4] * 2
    assert [x.placements for x in roots] == [(Shard(0),), (Replicate(),)]
    torch._foreach_lerp_(xs, roots, 0.5)
    assert [x.full_tensor().tolist() for x in xs] == [[6.5] * 4] * 2
