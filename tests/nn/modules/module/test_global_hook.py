"""Hooks on every module. Order and messages are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import hook as tables
from tapegrad.nn.modules import module as hooks
from tests.messages import raises


class Double(nn.Module):
    def forward(self, x, k=0):
        return x * 2


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


@pytest.fixture
def log():
    return []


@pytest.fixture
def note(log):
    return lambda name: lambda module, *_: log.append((name, type(module).__name__))


@pytest.fixture(autouse=True)
def no_kind_of_backward_hook(monkeypatch):
    monkeypatch.setattr(tables.BACKWARD, "is_full", None)


def test_hooks_of_all_modules_run_before_those_of_one(log, note):
    m = Double()
    m.register_forward_pre_hook(note("pre"), prepend=True)
    m.register_forward_hook(note("after"), prepend=True)
    m.register_full_backward_pre_hook(note("back pre"), prepend=True)
    m.register_full_backward_hook(note("back"), prepend=True)
    with (
        hooks.register_module_forward_pre_hook(note("all pre")),
        hooks.register_module_forward_hook(note("all after")),
        hooks.register_module_full_backward_pre_hook(note("all back pre")),
        hooks.register_module_full_backward_hook(note("all back")),
    ):
        m(leaf(1.0)).backward()
    order = ["all pre", "pre", "all after", "after", "all back pre", "back pre", "all back", "back"]
    assert [name for name, _ in log] == order
    log.clear()
    nn.Tanh()(leaf(1.0)).backward()
    assert log == []


def test_every_module_is_seen(log, note):
    m = nn.Sequential(nn.Identity(), nn.ReLU())
    with (
        hooks.register_module_forward_pre_hook(note("pre")),
        hooks.register_module_full_backward_hook(note("back")),
    ):
        m(leaf(1.0, -2.0)).sum().backward()
    names = ["Sequential", "Identity", "ReLU"]
    assert log == [*[("pre", n) for n in names], *[("back", n) for n in reversed(names)]]


def test_hooks_may_change_what_passes():
    with hooks.register_module_forward_pre_hook(lambda m, args: args[0] * 10):
        assert Double()(leaf(1.0)).item() == 20.0
    with hooks.register_module_forward_hook(lambda m, args, out: out + 1):
        assert Double()(leaf(1.0)).item() == 3.0
    with hooks.register_module_full_backward_hook(lambda m, gi, go: (gi[0] * 10,)):
        Double()(x := leaf(1.0)).backward()
    assert x.grad.tolist() == [20.0]


def test_a_hook_may_be_called_although_forward_failed(log):
    with (
        hooks.register_module_forward_hook(lambda m, a, out: log.append(out), always_call=True),
        pytest.raises(TypeError),
    ):
        Double()(None)
    assert log == [None]


def test_a_failing_hook_does_not_hide_the_error_of_forward():
    message = "global module forward hook with ``always_call=True`` raised an exception that was"
    with (
        hooks.register_module_forward_hook(lambda *_: 1 / 0, always_call=True),
        pytest.warns(UserWarning, match=message),
        pytest.raises(TypeError),
    ):
        Double()(None)


def test_a_hook_may_see_keywords(log):
    see = lambda m, args, kwargs, out: log.append(kwargs)  # noqa: E731
    with hooks.register_module_forward_hook(see, with_kwargs=True):
        Double()(leaf(1.0), k=3)
    assert log == [{"k": 3}]


def test_backward_hooks_of_all_modules_are_of_one_kind(log, note):
    message = (
        "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
        "Please use only one of them."
    )
    with hooks.register_module_backward_hook(note("old")):
        with raises(RuntimeError, message):
            hooks.register_module_full_backward_hook(print)
        nn.Tanh()(leaf(1.0) * 1).backward()
    assert log == [("old", "Tanh")]


# --- what is registered ---


def test_what_becomes_part_of_a_module_is_told(log):
    see = lambda m, name, x: log.append((name, type(x).__name__))  # noqa: E731
    with (
        hooks.register_module_parameter_registration_hook(see),
        hooks.register_module_buffer_registration_hook(see),
        hooks.register_module_module_registration_hook(see),
    ):
        m = nn.Linear(2, 3)
        m.register_buffer("b", torch.ones(2))
        m.register_buffer("none", None)
        m.register_parameter("nothing", None)
        m.add_module("child", None)
        m.p = nn.Parameter(torch.ones(1))
        m.p = None
        m.act = nn.ReLU()
        m.act = None
        m.b = torch.zeros(3)
    m.later = nn.ReLU()
    assert log == [
        ("weight", "Parameter"),
        ("bias", "Parameter"),
        ("b", "Tensor"),
        ("none", "NoneType"),
        ("child", "NoneType"),
        ("p", "Parameter"),
        ("act", "ReLU"),
        ("act", "NoneType"),
        ("b", "Tensor"),
    ]


def test_what_a_hook_returns_is_registered():
    with hooks.register_module_parameter_registration_hook(
        lambda m, name, p: nn.Parameter(torch.full_like(p, 5.0))
    ):
        m = nn.Module()
        m.p = nn.Parameter(torch.ones(1))
    assert m.p.tolist() == [5.0]
    with hooks.register_module_module_registration_hook(lambda m, name, child: nn.Tanh()):
        assert repr(nn.Sequential(nn.ReLU())[0]) == "Tanh()"
    with hooks.register_module_buffer_registration_hook(lambda m, name, b: b + 7):
        m = nn.Module()
        m.register_buffer("b", torch.ones(1))
        assert m.b.tolist() == [8.0]
        m.b = torch.zeros(1)
    assert m.b.tolist() == [7.0]
