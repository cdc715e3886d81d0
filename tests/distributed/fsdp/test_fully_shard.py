"""`fully_shard` in a world of one rank: what it makes of a module, and what it refuses."""

import copy
import os
import sys

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad.distributed.fsdp import FSDPModule, fully_shard, wrap
from tapegrad.distributed.fsdp.memory import Memory
from tapegrad.distributed.tensor import Shard
from tests.messages import raises_beginning


def test_a_module_is_still_one_of_its_class(world):
    layer = torch.nn.Linear(2, 3)
    assert fully_shard(layer) is layer
    assert isinstance(layer, FSDPModule) and isinstance(layer, torch.nn.Linear)
    assert repr(layer).startswith("FSDPLinear(in_features=2")
    assert list(layer.state_dict()) == ["weight", "bias"]
    with raises_beginning(AssertionError, "FSDP does not support deepcopy"):
        copy.deepcopy(layer)


def test_modules_of_a_list_are_gathered_by_the_first_and_let_go_by_the_last(world):
    a, b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    within = torch.nn.Sequential(torch.nn.ReLU())
    given = [a, b, within, within[0]]
    assert fully_shard(given, reshard_after_forward=True) is given
    assert not isinstance(within[0], FSDPModule)
    model = fully_shard(torch.nn.Sequential(a, torch.nn.Tanh(), b, within))
    seen = []
    model[1].register_forward_hook(lambda *_: seen.append(type(b.weight).__name__))
    with raises_beginning(RuntimeError, "mat1 and mat2 shapes"):
        model(torch.ones(1, 5))  # a pass that is broken off
    y = model(torch.ones(1, 3))
    seen.append(type(a.weight).__name__)
    group, gathers = a._fsdp_state.group, []
    gather = group.begin_gathering
    group.begin_gathering = lambda: (gathers.append(group.is_gathered), gather())
    y.sum().backward()
    assert gathers.count(False) == 1  # for both
    assert seen == ["Parameter", "DTensor"]
    assert [type(p.grad).__name__ for p in model.parameters()] == ["DTensor"] * 4
    assert list(model.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]


def test_tied_parameters_stay_tied(world):
    a, b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    b.weight = a.weight
    model = fully_shard(torch.nn.Sequential(a, b))
    model(torch.ones(1, 3)).sum().backward()
    assert a.weight is b.weight and len(list(model.parameters())) == 3
    assert a.weight.grad.placements == (Shard(0),)


def test_another_dtype_is_gathered_as_such(world):
    model = fully_shard(torch.nn.Linear(2, 1))
    model(torch.ones(1, 2))
    model.double()
    assert model(torch.ones(1, 2, dtype=torch.float64)).dtype is torch.float64


def test_a_method_besides_forward_gathers(world):
    class Two(torch.nn.Linear):
        def twice(self, x):
            return 2 * self(x)

    model = fully_shard(Two(2, 1))
    dist.fsdp.register_fsdp_forward_method(model, "twice")
    model.twice(torch.ones(1, 2)).sum().backward()
    assert model.weight.grad.full_tensor().tolist() == [[2, 2]]


def test_what_the_backward_pass_enters_by_no_output_is_an_error(world):
    class Hides(torch.nn.Linear):
        def forward(self, x):
            self.hidden = super().forward(x).sum()
            return x

    layer = fully_shard(Hides(2, 1))
    model = fully_shard(torch.nn.Sequential(layer))
    model(torch.ones(1, 2))
    with raises_beginning(
        RuntimeError, "a gradient reached the parameter bias while it was not gathered"
    ):
        layer.hidden.backward()


@pytest.mark.parametrize(
    ("make", "options", "kind", "text"),
    [
        (lambda: torch.nn.ModuleList(), {}, ValueError, "fully_shard does not support containers"),
        (lambda: None, {}, ValueError, "Expected a Module but got"),
        (lambda: [], {}, ValueError, "fully_shard was given no module"),
        (lambda: [torch.nn.ReLU(), 3], {}, ValueError, "Expected a Module but got"),
        (
            lambda: fully_shard(torch.nn.ReLU()),
            {},
            AssertionError,
            "Each distinct composable distributed API can only be applied to a module once.",
        ),
        (
            lambda: torch.nn.Linear(1, 1),
            {"reshard_after_forward": 2},
            ValueError,
            "If passing reshard_after_forward as an int, it should be a factor of 1, not 2",
        ),
        (
            lambda: torch.nn.Linear(1, 1),
            {"shard_placement_fn": lambda p: Shard(p.dim() - 1)},
            NotImplementedError,
            "tapegrad has no fully_shard along S(1)",
        ),
        (
            lambda: torch.nn.ParameterList([torch.nn.Parameter(torch.ones(()))]),
            {},
            ValueError,
            "fully_shard doesn't support scalar parameters.",
        ),
    ],
)
def test_what_cannot_be_spread_is_refused(world, make, options, kind, text):
    with raises_beginning(kind, text):
        fully_shard(make(), **options)


def test_parameters_without_memory_are_named(world):
    with torch.device("meta"):
        model = fully_shard(torch.nn.Linear(2, 1))
    with raises_beginning(RuntimeError, "FSDP parameters should be materialized from meta device"):
        model(torch.ones(1, 2))


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process")
def test_released_memory_is_given_back():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    n = 64 << 20
    memory = Memory([(n // 4,), (3,)], [torch.float32.numpy, torch.float64.numpy])
    before = resident()
    memory.arrays[0].fill(1)
    assert resident() - before > 0.9 * n
    memory.release()
    assert resident() - before < 0.1 * n
    memory.arrays[1][:] = 2
    assert memory.arrays[1].sum() == 6


def test_policies_choose_modules():
    from functools import partial

    layer = torch.nn.Linear(2, 2)
    policy = partial(wrap.transformer_auto_wrap_policy, transformer_layer_cls={torch.nn.Linear})
    both = partial(wrap._or_policy, policies=[policy])
    assert both(layer, False, 0) and not both(torch.nn.ReLU(), False, 0)
    assert wrap.size_based_auto_wrap_policy(layer, False, 6, min_num_params=6)
    assert not wrap.size_based_auto_wrap_policy(layer, False, 5, min_num_params=6)
