"""`DistributedDataParallel` of one process computes what the module alone does."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad import nn
from tapegrad.distributed.algorithms.ddp_comm_hooks import default_hooks
from tapegrad.distributed.work_future import WorkFuture
from tapegrad.nn.parallel import DistributedDataParallel
from tests.messages import raises, raises_beginning

X = torch.arange(8.0).view(4, 2)


class Halves(nn.Module):
    """Two layers, of which a call uses one."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x):
        return {"out": [self.a(x)]}


def gradients(model):
    return [None if p.grad is None else p.grad.tolist() for p in model.parameters()]


def test_a_step_is_that_of_the_module(world):
    alone = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    model = DistributedDataParallel(copy.deepcopy(alone))
    for each in (alone, model):
        optimizer = torch.optim.SGD(each.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            each(X).square().mean().backward()
            optimizer.step()
    assert [f"module.{key}" for key in alone.state_dict()] == list(model.state_dict())
    for a, b in zip(alone.state_dict().values(), model.state_dict().values(), strict=True):
        assert a.equal(b)


def test_no_sync_adds_up(world):
    model = DistributedDataParallel(nn.Linear(2, 1))
    with model.no_sync():
        model(X).sum().backward()
        assert not model.require_backward_grad_sync and not model.require_forward_param_sync
    model(X).sum().backward()
    assert gradients(model) == [[[24, 32]], [8]]
    assert model.require_backward_grad_sync


def test_a_hook_sees_buckets_of_the_last_layers_first(world):
    seen = []

    def doubled(state, bucket):
        shapes = [tuple(g.shape) for g in bucket.gradients()]
        seen.append((state, bucket.index(), bucket.is_last(), shapes, len(bucket.parameters())))
        future = torch.jit.Future()
        future.set_result(bucket.buffer() * 2)
        return future

    model = DistributedDataParallel(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)))
    model(X).sum().backward()
    expected = [(2 * p.grad).tolist() for p in model.parameters()]
    model.zero_grad()
    model.register_comm_hook("state", doubled)
    model(X).sum().backward()
    assert seen == [("state", 0, True, [(1,), (1, 3), (3,), (3, 2)], 4)]
    assert gradients(model) == expected
    with raises(
        RuntimeError, "register_comm_hook or register_builtin_comm_hook can only be called once."
    ):
        model.register_comm_hook(None, doubled)
    with raises(TypeError, "Communication hook must be callable."):
        model.register_comm_hook(None, 3)


def test_many_buckets_are_reduced_each(world):
    seen = []

    def noted(state, bucket):
        seen.append((bucket.index(), bucket.is_last(), bucket.buffer().numel()))
        return default_hooks.allreduce_hook(state, bucket)

    layers = [nn.Linear(512, 512, bias=False) for _ in range(3)]
    model = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=1)
    model.register_comm_hook(None, noted)
    model(torch.ones(1, 512)).sum().backward()
    n = 512 * 512
    assert seen == [(0, False, n), (1, False, n), (2, True, n)]


def test_buckets_are_under_way_together_and_go_on_with_each_gradient(world):
    events = []

    def begun(state, bucket):
        def drive(waits):
            assert waits
            events.append(("waits for", bucket.index()))
            future.set_result(bucket.buffer())

        events.append(("begins", bucket.index()))
        future = WorkFuture(drive, lambda: events.append(("asks", bucket.index())))
        return future

    layers = [nn.Linear(512, 512, bias=False) for _ in range(3)]
    model = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=1)
    model.register_comm_hook(None, begun)
    model(torch.ones(1, 512)).sum().backward()
    begins, asks = [("begins", i) for i in range(3)], ("asks", 0)
    waits = [("waits for", i) for i in range(3)]
    assert events == [begins[0], asks, begins[1], asks, begins[2], *waits]


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_may_stay_in_the_buckets(world, set_to_none):
    model = DistributedDataParallel(nn.Linear(2, 1), gradient_as_bucket_view=True)
    model.register_comm_hook(None, default_hooks.allreduce_hook)
    for _ in range(2):
        model(X).sum().backward()
        weight, bias = (p.grad for p in model.parameters())
        assert gradients(model) == [[[12, 16]], [4]]
        assert weight.untyped_storage().data_ptr() == bias.untyped_storage().data_ptr()
        model.zero_grad(set_to_none)


@pytest.mark.parametrize("hook", ["allreduce_hook", "fp16_compress_hook", "noop_hook"])
def test_hooks_that_average_keep_gradients_of_one_rank(world, hook):
    model = DistributedDataParallel(nn.Linear(2, 1))
    model.register_comm_hook(None, getattr(default_hooks, hook))
    model(X).sum().backward()
    assert gradients(model) == [[[12, 16]], [4]]


def test_a_hook_of_nccl_is_refused(world):
    model = DistributedDataParallel(nn.Linear(2, 1))
    with raises_beginning(TypeError, "BF16 all reduce communication hook required CUDA 11+"):
        model.register_comm_hook(None, default_hooks.bf16_compress_hook)


def test_unused_parameters_are_an_error_unless_looked_for(world):
    model = DistributedDataParallel(Halves())
    model(X)["out"][0].sum().backward()
    with raises_beginning(
        RuntimeError, "Expected to have finished reduction in the prior iteration"
    ) as caught:
        model(X)
    assert str(caught.value).endswith("which did not receive grad for rank 0: 2 3")
    for options in ({"find_unused_parameters": True}, {"static_graph": True}):
        model = DistributedDataParallel(Halves(), **options)
        model.register_comm_hook(None, default_hooks.allreduce_hook)
        for _ in range(2):
            model(X)["out"][0].sum().backward()
        assert gradients(model) == [[[24, 32]], [8], None, None]


def test_what_it_cannot_take_is_refused(world):
    none = "DistributedDataParallel is not needed when a module doesn't have any parameter that "
    with raises(RuntimeError, none + "requires a gradient."):
        DistributedDataParallel(nn.ReLU())
    with raises(ValueError, "device_ids can only be None or contain a single element."):
        DistributedDataParallel(nn.Linear(2, 2), device_ids=[0, 1])
    with raises(
        ValueError,
        "DistributedDataParallel device_ids and output_device arguments only work with "
        "single-device/multiple-device GPU modules or CPU modules, but got device_ids [0], "
        "output_device None, and module parameters {device(type='cpu')}.",
    ):
        DistributedDataParallel(nn.Linear(2, 2), device_ids=[0])
    with raises_beginning(RuntimeError, "Modules with uninitialized parameters can't be used"):
        DistributedDataParallel(nn.LazyLinear(2))


def test_it_needs_a_group():
    with raises_beginning(ValueError, "Default process group has not been initialized"):
        DistributedDataParallel(nn.Linear(2, 2))


def test_copies_have_hooks_of_their_own(world):
    model = DistributedDataParallel(nn.Linear(2, 1))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other(X).sum().backward()
        assert gradients(other) == [[[12, 16]], [4]]
        assert other.process_group is world and other.reducer is not model.reducer
    assert gradients(model) == [None, None]


def test_join_of_one_rank_has_nothing_to_wait_for(world):
    model = DistributedDataParallel(nn.Linear(2, 1))
    with model.join():
        for _ in range(2):
            model(X).sum().backward()
    assert gradients(model) == [[[24, 32]], [8]]


def test_a_synchronised_batch_norm_of_one_rank_is_a_batch_norm(world):
    layer = nn.BatchNorm1d(2)
    other = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(layer), dist.new_group([0]))
    assert other(X).equal(layer(X)) and dist.get_world_size(other.process_group) == 1
