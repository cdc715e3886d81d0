"""state_dict and load_state_dict. The messages are PyTorch's."""

import gc
from collections import OrderedDict

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def model():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))


def test_names_lead_through_the_tree():
    state = model().state_dict()
    assert type(state) is OrderedDict
    assert list(state) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert state._metadata == {"": {"version": 1}} | {k: {"version": 1} for k in "012"}


def test_values_are_detached_and_share_memory():
    m = nn.Linear(1, 1)
    state = m.state_dict()
    assert not state["weight"].requires_grad
    state["weight"].fill_(7.0)
    assert m.weight.item() == 7.0
    assert m.state_dict(keep_vars=True)["weight"] is m.weight
    assert list(m.state_dict(prefix="a.")) == ["a.weight", "a.bias"]


def test_what_is_not_persistent_or_none_is_left_out():
    m = nn.Module()
    m.register_buffer("here", torch.ones(1))
    m.register_buffer("gone", torch.ones(1), persistent=False)
    m.register_buffer("none", None)
    m.register_parameter("nothing", None)
    assert list(m.state_dict()) == ["here"]


def test_a_state_is_taken_back():
    a, b = model(), model()
    assert repr(a.load_state_dict(b.state_dict())) == "<All keys matched successfully>"
    x = torch.ones(1, 2)
    assert torch.equal(a(x), b(x))


def test_what_does_not_fit_is_listed_and_nothing_changed():
    m = model()
    before = {k: v.clone() for k, v in m.state_dict().items()}
    state = {
        "0.weight": torch.ones(1),
        "2.weight": torch.zeros(2, 3),
        "3.x": 1,
        "2.bias": torch.ones(3),
    }
    message = (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "3.x". \n'
        "\tsize mismatch for 0.weight: copying a param with shape torch.Size([1]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2]).\n"
        "\tsize mismatch for 2.bias: copying a param with shape torch.Size([3]) from checkpoint, "
        "the shape in current model is torch.Size([2])."
    )
    with raises(RuntimeError, message):
        m.load_state_dict(state)
    assert all(torch.equal(v, before[k]) for k, v in m.state_dict().items())


def test_values_that_are_no_tensors_are_named():
    message = (
        "Error(s) in loading state_dict for Linear:\n"
        '\tWhile copying the parameter named "bias", expected torch.Tensor or Tensor-like object '
        "from checkpoint but received <class 'int'>"
    )
    with raises(RuntimeError, message):
        nn.Linear(2, 3).load_state_dict({"weight": torch.ones(3, 2), "bias": 3})


def test_names_may_differ_if_not_strict():
    m = nn.Linear(2, 3)
    keys = m.load_state_dict({"a": 1, "weight": torch.ones(3, 2)}, strict=False)
    assert repr(keys) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['a'])"
    assert m.weight.sum().item() == 6.0
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        m.load_state_dict({"weight": torch.ones(2)}, strict=False)


def test_a_state_is_a_mapping():
    with raises(TypeError, "Expected state_dict to be dict-like, got <class 'int'>."):
        nn.Linear(2, 3).load_state_dict(3)


def test_values_are_cast_to_the_dtype_of_the_model():
    m = nn.Linear(1, 1)
    m.load_state_dict({"weight": torch.ones(1, 1, dtype=torch.int64), "bias": torch.ones(1)})
    assert m.weight.dtype is torch.float32


def test_a_scalar_may_have_been_saved_with_one_dimension():
    m = nn.Module()
    m.register_buffer("s", torch.tensor(1.0))
    m.load_state_dict({"s": torch.full((1,), 2.0)})
    assert m.s.shape == ()
    assert m.s.item() == 2.0


def test_assign_takes_the_tensors_themselves():
    m = nn.Linear(2, 2).requires_grad_(False)
    weight = torch.full((2, 2), 3.0, dtype=torch.float64)
    m.load_state_dict({"weight": weight, "bias": torch.ones(2)}, assign=True)
    assert type(m.weight) is nn.Parameter
    assert not m.weight.requires_grad
    assert m.weight.dtype is torch.float64
    weight[0, 0] = 5
    assert m.weight[0, 0].item() == 5.0


def test_extra_state_goes_along():
    class Counter(nn.Module):
        count = 5

        def get_extra_state(self):
            return self.count

        def set_extra_state(self, state):
            self.count = state

    m = nn.Sequential(Counter())
    assert m.state_dict() == {"0._extra_state": 5}
    m.load_state_dict({"0._extra_state": 7})
    assert m[0].count == 7
    with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict: .0\._extra_state"):
        m.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"get_extra_state\(\) that should never be called"):
        nn.Module().get_extra_state()


def test_hooks_see_states_come_and_go():
    m = nn.Sequential(nn.Linear(2, 1))
    seen = []
    m.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append(("pre", prefix, keep)))
    m[0].register_state_dict_post_hook(
        lambda module, state, prefix, about: seen.append(("post", prefix, len(state)))
    )
    state = m.state_dict()
    assert seen == [("pre", "", False), ("post", "0.", 2)]
    seen.clear()
    m[0].register_load_state_dict_pre_hook(lambda module, *args: seen.append(args[1:]))
    m.register_load_state_dict_post_hook(lambda module, keys: seen.append(repr(keys)))
    m[0].register_load_state_dict_post_hook(lambda module, keys: seen.append(type(module).__name__))
    m.load_state_dict(state)
    assert seen == [
        ("0.", {"version": 1}, True, [], [], []),
        "Linear",
        "<All keys matched successfully>",
    ]


def test_arguments_by_position_warn():
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        state = nn.Linear(2, 2).state_dict({}, "b.", True)
    assert list(state) == ["b.weight", "b.bias"]


def test_a_hook_of_old_may_return_another_state():
    layer = nn.Linear(2, 1)
    layer._register_state_dict_hook(lambda module, state, prefix, about: {"a": 1})
    assert layer.state_dict() == {"a": 1}
    layer = nn.Linear(2, 1)
    layer.register_state_dict_post_hook(lambda module, state, prefix, about: {"a": 1})
    with raises(RuntimeError, "state_dict post-hook must return None"):
        layer.state_dict()


def test_a_loading_hook_of_old_is_not_given_the_module():
    layer, seen = nn.Linear(2, 1), []
    layer._register_load_state_dict_pre_hook(lambda state, prefix, *_: seen.append(list(state)))
    layer._register_load_state_dict_pre_hook(
        lambda module, state, *_: seen.append(module), with_module=True
    )
    layer.load_state_dict(layer.state_dict())
    assert seen == [["weight", "bias"], layer]


def test_the_keys_that_did_not_match_have_pytorchs_class():
    from tapegrad.nn.modules.module import _IncompatibleKeys

    found = torch.nn.Linear(2, 1).load_state_dict({"other": torch.ones(1)}, strict=False)
    assert type(found) is _IncompatibleKeys
    assert found == (["weight", "bias"], ["other"])


def test_loading_leaves_no_cycle_behind():
    layer = nn.Linear(2, 1)
    gc.collect()
    layer.load_state_dict(layer.state_dict())
    assert gc.collect() == 0


def test_a_hook_of_the_public_kind_is_not_registered_as_one_that_replaces_the_state():
    def hook(module, state, prefix, local_metadata):
        pass

    layer = nn.Linear(2, 1)
    layer.register_state_dict_post_hook(hook)
    with pytest.raises(RuntimeError, match="Cannot register the same function as the state dict"):
        layer._register_state_dict_hook(hook)


def test_a_module_on_meta_loads_its_own_state():
    layer = nn.Linear(2, 1, device="meta")
    layer.load_state_dict(layer.state_dict())
    assert layer.weight.is_meta


def test_a_module_that_waits_for_its_input_shares_no_memory():
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        nn.LazyLinear(3).share_memory()
