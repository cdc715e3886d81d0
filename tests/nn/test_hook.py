"""Hooks of modules, forward and backward. Order and messages are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises, raises_beginning


def double():
    m = nn.Linear(1, 1, bias=False)
    nn.init.constant_(m.weight, 2.0)
    return m


def test_hooks_before_forward_see_and_change_the_arguments():
    m = double()
    seen = []
    m.register_forward_pre_hook(lambda module, args: seen.append(args[0].item()))
    handle = m.register_forward_pre_hook(lambda module, args: args[0] * 10)
    first = lambda module, args, kwargs: ((args[0] + 1,), kwargs)  # noqa: E731
    m.register_forward_pre_hook(first, with_kwargs=True, prepend=True)
    assert m(torch.ones(1)).item() == 40.0
    assert seen == [2.0]
    handle.remove()
    assert m(torch.ones(1)).item() == 4.0


def test_a_hook_with_keywords_returns_a_pair():
    m = double()
    m.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    message = "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got 3."
    with raises(RuntimeError, message):
        m(torch.ones(1))


def test_hooks_after_forward_see_and_change_the_output():
    m = double()
    seen = []
    m.register_forward_hook(lambda module, args, out: seen.append((args[0].item(), out.item())))
    m.register_forward_hook(lambda module, args, out: out * 10)
    m.register_forward_hook(
        lambda module, args, kwargs, out: seen.append((args, list(kwargs), out.item())),
        with_kwargs=True,
    )
    assert m(torch.ones(1)).item() == 20.0
    assert seen[0] == (1.0, 2.0)
    assert seen[1][2] == 20.0


def test_a_handle_is_a_block():
    m = double()
    seen = []
    with m.register_forward_hook(lambda *args: seen.append(1)):
        m(torch.ones(1))
    m(torch.ones(1))
    assert seen == [1]


def test_a_hook_may_be_called_although_forward_failed():
    m = double()
    seen = []
    m.register_forward_hook(lambda module, args, out: seen.append(out), always_call=True)
    with pytest.raises(RuntimeError):
        m(torch.ones(3))
    assert seen == [None]


def test_full_backward_hooks_see_the_gradients_of_inputs_and_outputs():
    m = double()
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append((gi[0].item(), go[0].item())))
    x = torch.ones(1, requires_grad=True)
    m(x).backward(torch.tensor([3.0]))
    assert seen == [(6.0, 3.0)]
    assert x.grad.item() == 6.0
    assert m.weight.grad.item() == 3.0


def test_full_backward_hooks_may_change_both():
    m = double()
    m.register_full_backward_pre_hook(lambda module, go: (go[0] * 5,))
    m.register_full_backward_hook(lambda module, gi, go: (gi[0] + 1,))
    x = torch.ones(1, requires_grad=True)
    m(x).backward()
    assert x.grad.item() == 11.0
    assert m.weight.grad.item() == 5.0


def test_every_argument_and_output_has_its_place():
    class Pair(nn.Module):
        def forward(self, a, note, b):
            return a * 2, b * 3, note

    m = Pair()
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append((gi, go)))
    a, b = torch.ones(1, requires_grad=True), torch.ones(1)
    out = m(a, "note", b)
    assert out[2] == "note"
    out[0].backward()
    ((gi, go),) = seen
    assert gi[0].item() == 2.0
    assert gi[1] is None and gi[2].tolist() == [0.0]
    assert go[0].item() == 1.0
    assert go[1:] == (None, None)


def test_without_gradients_of_inputs_the_hook_gets_none():
    m = double()
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append(gi))
    message = "Full backward hook is firing when gradients are computed with respect to module out"
    with pytest.warns(UserWarning, match=message):
        m(torch.ones(1)).backward()
    assert seen == [(None,)]


def test_a_hook_returns_as_many_gradients_as_there_are():
    m = double()
    m.register_full_backward_hook(lambda module, gi, go: (gi[0], 1))
    x = torch.ones(1, requires_grad=True)
    message = "Backward hook returned an invalid number of grad_input, got 2, but expected 1"
    with raises(RuntimeError, message):
        m(x).backward()


def test_the_older_hooks_see_the_node_of_the_output():
    m = nn.Tanh()
    seen = []
    m.register_backward_hook(lambda module, gi, go: seen.append((gi[0].item(), go[0].item())))
    m(torch.zeros(1, requires_grad=True) * 1).backward(torch.tensor([3.0]))
    assert seen == [(3.0, 3.0)]
    message = (
        "Cannot use both regular backward hooks and full backward hooks on a single Module. "
        "Please use only one of them."
    )
    with raises(RuntimeError, message):
        m.register_full_backward_hook(print)


def test_inside_no_grad_backward_hooks_are_not_in_the_way():
    m = double()
    m.register_full_backward_hook(lambda module, gi, go: None)
    with torch.no_grad():
        assert m(torch.ones(1, requires_grad=True)).item() == 2.0


def test_a_backward_hook_returns_a_tuple():
    m, x = double(), torch.ones(1, requires_grad=True)
    handle = m.register_full_backward_hook(lambda module, gi, go: 5)
    with raises(TypeError, "object of type 'int' has no len()"):
        m(x).backward()
    handle.remove()
    m.register_full_backward_pre_hook(lambda module, go: torch.ones(3))
    message = "Backward pre hook returned an invalid number of grad_output, got 3, but expected 1"
    with raises(RuntimeError, message):
        m(x).backward()


def test_gradients_that_a_backward_hook_returns_fit():
    for change, message in (
        (
            lambda g: g.double(),
            "hook 'hook' has changed the type of value (was torch.FloatTensor got "
            "torch.DoubleTensor)",
        ),
        (lambda g: g.repeat(2), "hook 'hook' has changed the size of value"),
    ):
        m = double()
        m.register_full_backward_hook(lambda module, gi, go, change=change: (change(gi[0]),))
        with raises(RuntimeError, message):
            m(torch.ones(1, requires_grad=True)).backward()


def test_what_a_module_with_backward_hooks_returns_is_not_written_in_place():
    m = nn.Tanh()
    m.register_full_backward_hook(lambda module, gi, go: None)
    y = m(torch.ones(1, requires_grad=True))
    with raises_beginning(RuntimeError, "Output 0 of BackwardHookFunction is a view and is being"):
        y.add_(1)


def test_backward_hooks_need_a_tensor_or_a_tuple():
    class Named(nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    m, x = Named(), torch.ones(1, requires_grad=True)
    m.register_full_backward_hook(lambda module, gi, go: 1 / 0)
    message = "module output should be a Tensor or a tuple of Tensors but received <class 'dict'>"
    with pytest.warns(UserWarning, match=message):
        y = m(x)["y"]
    y.backward()
    assert x.grad.item() == 2.0


def test_hooks_run_in_both_directions_in_the_order_they_were_registered():
    m, order = double(), []

    def note(name):
        return lambda *_: order.append(name)

    for register in (
        m.register_forward_pre_hook,
        m.register_forward_hook,
        m.register_full_backward_pre_hook,
        m.register_full_backward_hook,
    ):
        name = register.__name__.removeprefix("register_").removesuffix("_hook")
        register(note(name + " 1"))
        register(note(name + " 2"))
        register(note(name + " 0"), prepend=True)
    m(torch.ones(1, requires_grad=True)).backward()
    names = ("forward_pre", "forward", "full_backward_pre", "full_backward")
    assert order == [f"{name} {i}" for name in names for i in range(3)]


def test_an_error_of_a_backward_hook_passes():
    m, x = double(), torch.ones(1, requires_grad=True)
    m.register_full_backward_hook(lambda module, gi, go: 1 / 0)
    y = m(x)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            y.backward(retain_graph=True)
    assert x.grad is None


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (torch.tanh, None),
        (lambda x: (torch.tanh(x),), None),
        (lambda x: torch.tanh(x) * 2, "when the forward contains multiple autograd Nodes is depr"),
        (lambda x: (torch.tanh(x), x * 2), "when outputs are generated by different autograd Nod"),
        (lambda x: {"y": torch.tanh(x)}, "on a Module that does not return a single Tensor or a"),
    ],
)
def test_the_older_hooks_warn_where_they_miss_gradients(compute, message, recwarn):
    class Compute(nn.Module):
        def forward(self, x):
            return compute(x)

    m = Compute()
    m.register_backward_hook(lambda module, gi, go: None)
    m(torch.ones(1, requires_grad=True) * 1)
    texts = [str(w.message) for w in recwarn if w.category is FutureWarning]
    assert len(texts) == (message is not None) and all(message in text for text in texts)
