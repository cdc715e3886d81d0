"""Edges in place of tensors, hooks on several tensors, counted writes, classes of nodes."""

import gc
import weakref

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning

graph = torch.autograd.graph


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def numbers(gradients):
    return [None if g is None else g.tolist() for g in gradients]


# --- edges ---


def test_an_edge_is_a_node_and_the_number_of_its_output():
    x = leaf(1.0, 2.0)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0 and edge.ownership_token is None
    assert graph.get_gradient_edge(x).node is y.grad_fn.next_functions[0][0]
    assert graph.get_gradient_edge(y.unbind()[1]).output_nr == 1
    assert repr(edge).startswith("GradientEdge(node=<MulBackward0 object at 0x")


def test_an_edge_stands_for_its_tensor():
    x, z = leaf(1.0, 2.0, 3.0), leaf(4.0, 5.0, 6.0)
    y = x * z
    loss = (y * 2).sum()
    of_y, of_x, of_loss = map(graph.get_gradient_edge, (y, x, loss))
    grad = torch.autograd.grad
    assert numbers(grad(of_loss, x, retain_graph=True)) == [[8.0, 10.0, 12.0]]
    assert numbers(grad((of_loss,), (of_x, of_y), retain_graph=True)) == [
        [8.0, 10.0, 12.0],
        [2.0, 2.0, 2.0],
    ]
    assert numbers(grad(of_y, x, torch.ones(3), retain_graph=True)) == [[4.0, 5.0, 6.0]]
    assert numbers(grad(of_x, x, torch.ones(3))) == [[1.0, 1.0, 1.0]]
    torch.autograd.backward([of_loss, (x * 2).sum()], inputs=of_x, retain_graph=True)
    assert x.grad.tolist() == [10.0, 12.0, 14.0] and z.grad is None
    torch.autograd.backward(loss, inputs=[of_y])
    assert x.grad.tolist() == [10.0, 12.0, 14.0] and z.grad is None


def test_an_edge_does_not_hold_its_tensor():
    x = leaf(1.0, 2.0)
    y = x * 2
    edge, seen = graph.get_gradient_edge(y), weakref.ref(y)
    loss = (y + 1).sum()
    del y
    gc.collect()
    assert seen() is None
    assert numbers(torch.autograd.grad(loss, edge)) == [[1.0, 1.0]]


def test_one_of_several_outputs_has_an_edge():
    a, b = leaf(1.0, 2.0).unbind()
    edges = graph.get_gradient_edge(a), graph.GradientEdge(b.grad_fn, 1)
    assert numbers(torch.autograd.grad(a * b * 3, edges)) == [6.0, 3.0]


def test_an_edge_made_by_hand_needs_a_cotangent():
    x = leaf(1.0, 2.0)
    edge = graph.GradientEdge((x * 3).grad_fn, 0)
    assert numbers(torch.autograd.grad(edge, x, torch.ones(2), True)) == [[3.0, 3.0]]
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs") as caught:
        torch.autograd.grad(edge, x)
    assert "pass a cotangent" in caught.value.__notes__[0]
    batch = torch.autograd.grad(edge, x, torch.eye(2), is_grads_batched=True)
    assert numbers(batch) == [[[3.0, 0.0], [0.0, 3.0]]]


def test_what_is_no_edge_is_refused():
    x = leaf(1.0, 2.0)
    y = x * 3
    with raises(
        RuntimeError, "GradientEdge's first object must be an autograd.graph.Node but got int"
    ):
        torch.autograd.grad(y.sum(), graph.GradientEdge(3, 0))
    with raises(RuntimeError, "MulBackward0 has no output 1"):
        torch.autograd.grad(y.sum(), graph.GradientEdge(y.grad_fn, 1))
    with raises(
        RuntimeError,
        "It is not possible to get the gradient edge for a Tensor that does not require gradients",
    ):
        graph.get_gradient_edge(torch.ones(2))
    with raises_beginning(RuntimeError, "Mismatch in shape: grad_output[0] has a shape of torch."):
        torch.autograd.grad(graph.get_gradient_edge(y), x, torch.ones(3))


def test_an_edge_that_was_not_used():
    x = leaf(1.0)
    edge, loss = graph.get_gradient_edge(x * 2), (x * 3).sum()
    assert torch.autograd.grad(loss, edge, allow_unused=True, retain_graph=True) == (None,)
    with raises_beginning(RuntimeError, "The differentiated Tensor at index 0 appears to not"):
        torch.autograd.grad(loss, edge, retain_graph=True)
    with raises(
        RuntimeError, "materialize_grads cannot be used when the given input is a GradientEdge"
    ):
        torch.autograd.grad(loss, edge, materialize_grads=True)


def test_nodes_are_instances_of_node():
    x = leaf(1.0)
    y = x.unbind()[0] * 2
    y[...] = y * 1
    node = y.grad_fn
    while node is not None:
        assert isinstance(node, graph.Node) and node.requires_grad
        node = node.next_functions[0][0] if node.next_functions else None
    assert not isinstance(x, graph.Node)


# --- hooks on several tensors ---


def test_a_hook_waits_for_all_gradients():
    a, b, c, d = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0, 6.0), leaf(7.0, 8.0)
    m = a * b
    n = m + c
    s, calls = (n * n).sum(), []
    handle = graph.register_multi_grad_hook((a, m, c, d), lambda gs: calls.append(numbers(gs)))
    for _ in range(2):
        s.backward(retain_graph=True)
        assert calls.pop() == [[48.0, 112.0], [16.0, 28.0], [16.0, 28.0], None]
    torch.autograd.grad(s, [m], retain_graph=True)
    assert calls.pop() == [None, [16.0, 28.0], None, None]
    torch.autograd.grad(s, [a], retain_graph=True)
    assert calls.pop() == [[48.0, 112.0], [16.0, 28.0], None, None]
    torch.autograd.backward(m.sum(), inputs=[a], retain_graph=True)
    assert calls.pop() == [[3.0, 4.0], [1.0, 1.0], None, None]
    handle.remove()
    s.backward()
    assert calls == []


def test_a_hook_waits_for_any_gradient():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    m = a * b
    s, calls = (m * m).sum(), []
    tensors = (a, m, torch.ones(2))
    with graph.register_multi_grad_hook(tensors, lambda g: calls.append(g.tolist()), mode="any"):
        s.backward(retain_graph=True)
        s.backward(retain_graph=True)
    s.backward()
    assert calls == [[6.0, 16.0]] * 2


def test_a_hook_waits_for_outputs_that_get_no_gradient_of_a_node_that_runs():
    u, v = torch.stack([leaf(1.0, 2.0), leaf(3.0, 4.0)]).unbind(0)
    calls = []
    graph.register_multi_grad_hook((u, v), lambda gs: calls.append(numbers(gs)))
    u.sum().backward()
    assert calls == [[[1.0, 1.0], None]]


def test_hooks_of_a_tensor_run_in_the_order_they_were_registered():
    x, order = leaf(1.0, 2.0), []
    y = x * 2
    graph.register_multi_grad_hook((x, y), lambda gs: order.append("both"))
    x.register_hook(lambda g: order.append("x"))
    y.register_hook(lambda g: order.append("y"))
    x.register_post_accumulate_grad_hook(lambda t: order.append("after"))
    y.sum().backward()
    assert order == ["y", "both", "x", "after"]


def test_an_error_of_a_hook_passes_and_the_next_pass_starts_anew():
    x, calls = leaf(1.0), []
    y = x * 2

    def fail_once(gs):
        calls.append(len(gs))
        if len(calls) == 1:
            raise ZeroDivisionError

    graph.register_multi_grad_hook((x, y), fail_once)
    with pytest.raises(ZeroDivisionError):
        y.backward(retain_graph=True)
    y.backward()
    assert calls == [2, 2]


def test_a_hook_on_several_tensors_is_checked():
    x = leaf(1.0)
    with raises(ValueError, "Expects mode to be one of ('all', 'any') but got each"):
        graph.register_multi_grad_hook((x,), print, mode="each")
    with raises(AssertionError, "Expected gradient function to be set"):
        graph.register_multi_grad_hook((x, torch.ones(1)), print)


# --- counted writes, settings ---


def test_a_write_can_be_counted_by_hand():
    x = torch.ones(2)
    graph.increment_version(x)
    graph.increment_version([x, x])
    assert x._version == 3
    y = leaf(1.0).clone()
    z = y * y
    graph.increment_version(y)
    with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
        z.backward()
    with raises(RuntimeError, "increment_version expect a Iterable[Tensor] as input"):
        graph.increment_version(3)
    with raises(
        RuntimeError, "increment_version expects each element of the iterable to be a tensor"
    ):
        graph.increment_version([x, 3])
    assert x._version == 3


def test_settings_of_streams_are_accepted():
    graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    with raises(RuntimeError, "enabled must be a bool, but got int"):
        graph.set_override_stale_capture_stream(3)
