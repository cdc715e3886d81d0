"""Modules whose activations are computed again, or kept in main memory."""

from functools import partial

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    ActivationWrapper,
    CheckpointImpl,
    CheckpointWrapper,
    OffloadWrapper,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)
from tapegrad.distributed.fsdp.wrap import ModuleWrapPolicy, size_based_auto_wrap_policy

WRAPPERS = {
    "reentrant": partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT),
    "not reentrant": checkpoint_wrapper,
    "offloaded": offload_wrapper,
}


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.register_buffer("shift", torch.ones(2))
        self.calls = 0

    def forward(self, x, *, scale=1.0):
        self.calls += 1
        return (self.inner(x).tanh() * scale + self.shift).exp()


def gradients(module, parameters):
    x = torch.tensor([[1.0, -2.0]], requires_grad=True)
    scale = torch.tensor(3.0, requires_grad=True)
    module(x, scale=scale).sum().backward()
    return [y.grad.clone() for y in (x, scale, *parameters)]


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_gradients_are_those_of_the_module(wrap):
    module = Scaled()
    expected = gradients(module, module.parameters())
    module.zero_grad()
    found = gradients(wrap(module), module.parameters())
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("name", "calls"), [("reentrant", 2), ("not reentrant", 2), ("offloaded", 1)]
)
def test_activations_are_computed_again(name, calls):
    module = Scaled()
    gradients(WRAPPERS[name](module), module.parameters())
    assert module.calls == calls


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_names_in_a_state_dict_are_those_of_the_module(wrap):
    plain = nn.Sequential(Scaled(), nn.Linear(2, 1))
    wrapped = nn.Sequential(wrap(Scaled()), nn.Linear(2, 1))
    assert list(wrapped.state_dict()) == list(plain.state_dict())
    wrapped.load_state_dict(plain.state_dict())
    assert torch.equal(wrapped[0].inner.weight, plain[0].inner.weight)
    assert [k for k, _ in wrapped[0].named_parameters()] == ["inner.weight", "inner.bias"]


def test_attributes_and_items_are_those_of_the_module():
    module = nn.Sequential(nn.Linear(2, 3))
    wrapped = checkpoint_wrapper(module)
    assert wrapped[0] is module[0]
    assert checkpoint_wrapper(module[0]).in_features == 2
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'nothing'"):
        _ = wrapped.nothing


def test_a_function_takes_the_place_of_checkpoint():
    seen = []

    def run(module, *args, note):
        seen.append(note)
        return module(*args)

    checkpoint_wrapper(nn.Linear(2, 2), checkpoint_fn=run, note="mine")(torch.ones(1, 2))
    assert seen == ["mine"]


def test_the_class_they_share_is_abstract():
    with pytest.raises(TypeError, match="abstract class ActivationWrapper"):
        ActivationWrapper(nn.Linear(2, 2))


def model():
    return nn.Sequential(
        nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 3)), nn.Linear(3, 1)
    )


def wrapped_names(module, kind=CheckpointWrapper):
    return [name for name, each in module.named_modules() if isinstance(each, kind)]


def test_modules_that_a_function_names_are_wrapped():
    found = model()
    assert apply_activation_checkpointing(found, check_fn=lambda x: type(x) is nn.Linear) is None
    assert wrapped_names(found) == ["0", "1.1", "2"]


def test_all_modules_below_the_model_are_wrapped():
    found = model()
    apply_activation_checkpointing(found)
    inside = "1._checkpoint_wrapped_module"
    assert wrapped_names(found) == ["0", "1", f"{inside}.0", f"{inside}.1", "2"]


def test_modules_that_a_policy_names_are_wrapped():
    found = model()
    policy = ModuleWrapPolicy({nn.Linear})
    apply_activation_checkpointing(found, offload_wrapper, auto_wrap_policy=policy)
    assert wrapped_names(found, OffloadWrapper) == ["0", "1.1", "2"]


def test_a_policy_counts_what_no_wrapped_child_has():
    found = model()
    policy = partial(size_based_auto_wrap_policy, min_num_params=12)
    apply_activation_checkpointing(found, auto_wrap_policy=policy)
    assert wrapped_names(found) == ["1.1"]
