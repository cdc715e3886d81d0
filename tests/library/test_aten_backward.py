"""Operators of backward passes: `torch.ops.aten.threshold_backward` and its kin."""

import pytest

import tapegrad as torch

aten = torch.ops.aten
X = torch.tensor([-1.0, 0.0, 2.0])
G = torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("operator", "args", "expected"),
    [
        (aten.threshold_backward, (0,), [0, 0, 3]),
        (aten.leaky_relu_backward, (0.5, False), [0.5, 1, 3]),
        (aten.hardtanh_backward, (-1.5, 1), [1, 2, 0]),
        (aten.gelu_backward, (), [-0.0833155, 1.0, 3.2556961]),
        (aten.silu_backward, (), [0.0723295, 1.0, 3.2723525]),
        (aten.softplus_backward, (1, 20), [0.2689414, 1.0, 2.6423912]),
        (aten.log_sigmoid_backward, ((-X.abs()).exp(),), [0.7310586, 1.0, 0.3576088]),
    ],
)
def test_the_rule_of_an_activation(operator, args, expected):
    assert operator(G, X, *args).tolist() == pytest.approx(expected)
    assert operator.default(G, X, *args).tolist() == pytest.approx(expected)


def test_nothing_is_recorded_for_tensors_without_a_graph():
    assert not aten.threshold_backward(G, X, 0).requires_grad
    g = G.clone().requires_grad_()
    with torch.no_grad():
        assert not aten.threshold_backward(g, X, 0).requires_grad
    aten.threshold_backward(g, X, 0).sum().backward()
    assert g.grad.tolist() == [0, 0, 1]


def test_at_the_kink_of_elu_the_second_derivative_is_zero():
    x = X.clone().requires_grad_()
    out = aten.elu_backward(G, 2.0, 1, 1, False, x)
    assert out.tolist() == pytest.approx([0.7357589, 4.0, 3.0])
    out.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.7357589, 0, 0])


def test_only_what_is_asked_for_is_computed():
    x, w = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    rest = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    g = torch.ones(1, 1, 2, 2)
    dx, dw, db = aten.convolution_backward(g, x, w, [1], *rest, [False, True, True])
    assert (dx, dw.flatten().tolist(), db.tolist()) == (None, [4, 4, 4, 4], [4])


def test_views_are_put_back_among_zeros():
    g = torch.tensor([5.0, 6.0])
    assert aten.slice_backward(g, [4], 0, 1, 3, 1).tolist() == [0, 5, 6, 0]
    assert aten.select_backward(g, [2, 2], 0, 1).tolist() == [[0, 0], [5, 6]]
    assert aten.diagonal_backward(g, [2, 2], 0, 0, 1).tolist() == [[5, 0], [0, 6]]


def test_under_vmap():
    found = torch.vmap(aten.silu_backward)(G, X)
    assert torch.equal(found, aten.silu_backward(G, X))
