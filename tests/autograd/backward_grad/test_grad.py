"""`autograd.grad`: gradients returned, not accumulated; and gradients of gradients."""

import pytest

import tapegrad as torch
from tapegrad.autograd import grad
from tests.messages import raises

UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior."
)


def leaf(*values):
    return torch.tensor(values if len(values) != 1 else values[0], requires_grad=True)


def double(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# --- what it returns ---


def test_gradients_come_as_a_tuple():
    x, y = leaf(2.0), leaf(3.0)
    found = grad(x * y, (x, y))
    assert type(found) is tuple and [g.item() for g in found] == [3.0, 2.0]
    assert type(grad(x * y, x)) is tuple
    assert type(grad([x * y], [x])) is tuple


def test_dot_grad_stays_as_it_is():
    x = leaf(2.0)
    grad(x * x, x)
    assert x.grad is None


def test_gradients_have_no_history():
    x = leaf(2.0)
    (g,) = grad(x * x, x)
    assert not g.requires_grad and g.is_leaf


def test_grad_outputs_are_the_cotangents():
    x = leaf(1.0, 2.0)
    (g,) = grad(x * x, x, torch.tensor([1.0, 10.0]))
    assert g.tolist() == [2.0, 40.0]
    (g,) = grad([x * x, x.sum()], x, grad_outputs=[torch.tensor([1.0, 10.0]), None])
    assert g.tolist() == [3.0, 41.0]


def test_several_outputs_are_summed():
    x = leaf(2.0)
    (g,) = grad([x * x, x * 5], x)
    assert g.item() == 9.0


def test_a_gradient_by_a_tensor_that_is_no_leaf():
    x = leaf(2.0)
    y = x * 3
    z = y * y
    a, b = grad(z, (x, y))
    assert a.item() == 36.0 and b.item() == 12.0
    assert y.grad_fn is not None


def test_a_gradient_by_one_of_several_outputs():
    x = leaf(1.0, 2.0, 3.0)
    a, b, c = x.unbind()
    ga, gc = grad(a * c + b, (a, c))
    assert ga.item() == 3.0 and gc.item() == 1.0


def test_the_same_input_twice_gets_its_gradient_twice():
    x = leaf(2.0)
    a, b = grad(x * x, (x, x))
    assert a.item() == b.item() == 4.0


def test_the_root_may_be_the_input():
    x = leaf(2.0)
    assert grad(x, x)[0].item() == 1.0
    y = x * 3
    assert grad(y, y)[0].item() == 1.0
    assert [g.item() for g in grad(y, (y, x))] == [1.0, 3.0]


def test_one_of_the_roots_may_be_an_input():
    x = leaf(2.0)
    y = x * 3
    (g,) = grad([y * y, y], y)
    assert g.item() == 13.0


def test_hooks_of_an_input_are_applied():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    assert grad(y * y, y)[0].item() == 120.0
    assert grad(y * y, x)[0].item() == 361.0


def test_an_input_on_the_way_to_another_gets_what_arrived_before_its_hooks():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    a, b = grad(y * y, (x, y))
    assert a.item() == 360.0 and b.item() == 12.0


def test_the_gradients_are_not_the_cotangents_themselves():
    x, v = leaf(1.0, 2.0), torch.tensor([1.0, 10.0])
    (g,) = grad(x * 1, x, v)
    g.zero_()
    assert v.tolist() == [1.0, 10.0]


def test_only_what_leads_to_the_inputs_is_walked():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    assert grad(z, y)[0].item() == 3.0
    assert grad(y, x)[0].item() == 4.0


def test_only_the_rules_of_what_is_asked_for_run(monkeypatch):
    from tapegrad.arrays.numpy import conv, namespace

    ran = []

    def counted(name, kernel):
        def run(*args):
            ran.append(name)
            return kernel(*args)

        return run

    for name in ("convolve_transposed", "convolve_weights"):
        monkeypatch.setattr(namespace, name, counted(name, getattr(conv, name)), raising=False)
    x, w = torch.ones(1, 2, 3, 3, requires_grad=True), torch.ones(2, 2, 1, 1, requires_grad=True)
    y = torch.nn.functional.conv2d(x, w)
    for create_graph in (False, True):
        ran.clear()
        (g,) = grad(y, x, torch.ones_like(y), retain_graph=True, create_graph=create_graph)
        assert g.tolist() == [[[[2.0] * 3] * 3] * 2]
        assert "convolve_weights" not in ran
        (g,) = grad(y, w, torch.ones_like(y), retain_graph=True, create_graph=create_graph)
        assert g.flatten().tolist() == [9.0] * 4
    ran.clear()
    y.sum().backward()
    assert sorted(ran) == ["convolve_transposed", "convolve_weights"]


def test_what_a_node_saved_is_checked_whatever_is_asked_for():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * w).sum()
    with torch.no_grad():
        x.add_(1)
    for wanted in (x, w):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            grad(y, wanted, retain_graph=True)


# --- inputs that do not matter ---


def test_an_input_that_does_not_matter_is_an_error():
    x, y = leaf(2.0), leaf(3.0)
    with raises(RuntimeError, UNUSED.format(1)):
        grad(x * x, (x, y))
    with raises(RuntimeError, UNUSED.format(0)):
        grad(x * x, y)


def test_allow_unused_gives_none():
    x, y = leaf(2.0), leaf(3.0)
    a, b = grad(x * x, (x, y), allow_unused=True)
    assert a.item() == 4.0 and b is None


def test_materialize_grads_gives_zeros():
    x, y = leaf(2.0), torch.ones(2, 3, requires_grad=True)
    a, b = grad(x * x, (x, y), materialize_grads=True)
    assert a.item() == 4.0 and b.tolist() == [[0.0] * 3] * 2 and not b.requires_grad
    a, b = grad(x * x, (x, y), materialize_grads=True, allow_unused=True)
    assert b.shape == (2, 3)


def test_materialize_grads_without_allow_unused_is_refused():
    x = leaf(2.0)
    message = (
        "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
        "allow_unused=False."
    )
    with raises(ValueError, message):
        grad(x * x, x, materialize_grads=True, allow_unused=False)


def test_a_later_tensor_is_not_behind_an_earlier_one():
    x = leaf(2.0)
    y = x * 3
    z = y * 4
    with raises(RuntimeError, UNUSED.format(0)):
        grad(y, z)


# --- batches of cotangents ---


def test_batched_cotangents_give_batched_gradients():
    x = double(1.0, 2.0)
    (g,) = grad(x * x, x, torch.eye(2, dtype=torch.float64), is_grads_batched=True)
    assert g.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_batched_cotangents_of_several_outputs():
    x = double(1.0, 2.0)
    v, w = torch.eye(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    (g,) = grad([x * x, x.sum()], x, [v, w], is_grads_batched=True)
    assert g.tolist() == [[3.0, 1.0], [1.0, 5.0]]


def test_batched_cotangents_with_inputs_that_do_not_matter():
    x, y = double(1.0, 2.0), double(1.0)
    a, b = grad(
        x * x, (x, y), torch.eye(2, dtype=torch.float64), is_grads_batched=True, allow_unused=True
    )
    assert a.shape == (2, 2) and b is None


def test_batched_gradients_can_be_differentiated():
    x = double(1.0, 2.0)
    eye = torch.eye(2, dtype=torch.float64)
    (g,) = grad(x**3, x, eye, is_grads_batched=True, create_graph=True)
    (h,) = grad(g.sum(), x)
    assert h.tolist() == [6.0, 12.0]


def test_batched_cotangents_of_the_wrong_shape_are_refused():
    x = double(1.0, 2.0)
    with pytest.raises(RuntimeError, match="remaining dimensions are expected to match the shape"):
        grad([x * x], x, [torch.ones(4, 3)], is_grads_batched=True)


def test_batches_of_different_size_are_refused():
    x = double(1.0, 2.0)
    message = (
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        "[3, 4] for the mapped dimension"
    )
    vs = [torch.ones(3, 2, dtype=x.dtype), torch.ones(4, 2, dtype=x.dtype)]
    with raises(ValueError, message):
        grad([x * x, x * 2], x, vs, is_grads_batched=True)


# --- gradients of gradients ---


def test_third_derivatives():
    x = double(2.0)
    y = x**4
    values = []
    for _ in range(4):
        (y,) = grad(y.sum(), x, create_graph=True)
        values.append(y.item())
    assert values == [32.0, 48.0, 48.0, 24.0]


def test_higher_derivatives_of_sine_come_round():
    x = double(0.3)
    y = x.sin()
    for _ in range(8):
        (y,) = grad(y.sum(), x, create_graph=True)
    assert y.item() == pytest.approx(x.sin().item(), rel=1e-12)


def test_a_gradient_is_part_of_a_loss():
    x = double(1.0, 2.0)
    (g,) = grad((x**2).sum(), x, create_graph=True)
    ((g.norm() - 1) ** 2).backward()
    n = 2 * 5**0.5
    want = [4 * (n - 1) * v / 5**0.5 for v in (1.0, 2.0)]
    assert x.grad.tolist() == pytest.approx(want, rel=1e-12)


def test_second_derivatives_through_broadcasting():
    a = torch.tensor([[1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = (a**2 * b**2).sum()
    ga, gb = grad(y, (a, b), create_graph=True)
    (gaa,) = grad(ga.sum(), a, retain_graph=True)
    (gab,) = grad(ga.sum(), b, retain_graph=True)
    (gba,) = grad(gb.sum(), a)
    assert ga.tolist() == [[50.0], [100.0]] and gb.tolist() == [30.0, 40.0]
    assert gaa.tolist() == [[50.0], [50.0]]
    assert gab.tolist() == [36.0, 48.0] and gba.tolist() == [[28.0], [56.0]]


def test_second_derivatives_through_a_cast():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (g,) = grad((x.double() ** 3).sum(), x, create_graph=True)
    assert g.dtype is torch.float32 and g.tolist() == [12.0, 27.0]
    (h,) = grad(g.sum(), x)
    assert h.dtype is torch.float32 and h.tolist() == [12.0, 18.0]


def test_second_derivatives_through_a_matrix_product():
    a = torch.arange(4.0, dtype=torch.float64).reshape(2, 2).requires_grad_()
    (g,) = grad((a @ a).sum(), a, create_graph=True)
    (h,) = grad((g * g).sum(), a)
    assert h.tolist() == [[36.0, 44.0], [52.0, 60.0]]


def test_second_derivatives_of_outputs_that_are_not_used():
    x = double(1.0, 2.0, 3.0)
    a, _, c = x.unbind()
    (g,) = grad(a * c * c, x, create_graph=True)
    assert g.tolist() == [9.0, 0.0, 6.0]
    (h,) = grad(g.sum(), x)
    assert h.tolist() == [6.0, 0.0, 8.0]


def test_second_derivatives_through_writes():
    x = double(1.0, 2.0)
    y = x * 1
    y.sin_()
    y[0].mul_(y[1].clone())
    (g,) = grad(y.sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x)
    s, c = torch.sin(x.detach()), torch.cos(x.detach())
    assert g.tolist() == pytest.approx([(c[0] * s[1]).item(), (s[0] * c[1] + c[1]).item()])
    want = [-s[0] * s[1] + c[0] * c[1], c[0] * c[1] - s[0] * s[1] - s[1]]
    assert h.tolist() == pytest.approx([w.item() for w in want])


def test_a_linear_function_has_a_gradient_without_history():
    x = double(2.0)
    (g,) = grad((x * 3).sum(), x, create_graph=True)
    assert not g.requires_grad


def test_gradients_with_a_graph_require_grad():
    x = double(2.0)
    (g,) = grad((x * x).sum(), x, create_graph=True)
    assert g.requires_grad and not g.is_leaf


def test_the_gradient_of_a_gradient_frees_both_graphs():
    x = double(2.0)
    (g,) = grad((x**3).sum(), x, create_graph=True)
    grad(g, x)
    with pytest.raises(RuntimeError, match="a second time"):
        grad(g, x)


def test_under_no_grad_create_graph_still_records():
    x = double(2.0)
    y = (x * x).sum()
    with torch.no_grad():
        (g,) = grad(y, x, create_graph=True)
    assert g.requires_grad


def test_zeros_in_the_place_of_gradients_can_be_differentiated():
    x = torch.tensor(0.5, requires_grad=True)
    y = torch.tensor(1.0, requires_grad=True)
    (g,) = torch.autograd.grad(x * y, x, create_graph=True)
    (zero,) = torch.autograd.grad(g, x, create_graph=True, materialize_grads=True)
    (again,) = torch.autograd.grad(zero, x, materialize_grads=True)
    assert zero.item() == again.item() == 0 and zero.requires_grad and not again.requires_grad


def test_an_output_without_a_graph_is_named_before_an_input_without_one():
    with raises(
        RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"
    ):
        torch.autograd.grad(torch.tensor(1.0), torch.tensor(1.0))


def test_gradients_that_share_memory_are_views():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    v = torch.ones(3, 2)
    (g,) = torch.autograd.grad(x.t(), x, v)
    assert g._base is v and g._version == 0
    g.mul_(2)
    assert v._version == 1 and v.tolist() == [[2.0, 2.0]] * 3
    u = torch.ones(2, 3)
    assert torch.autograd.grad(x, x, u)[0] is u
    (g,) = torch.autograd.grad((x.t() * v).sum(), x)
    assert g._base.shape == (3, 2) and g.stride() == (1, 2)


def test_a_gradient_that_is_a_view_may_be_written_with_a_history():
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3, requires_grad=True)
    (g,) = torch.autograd.grad(x.t().sum(), x)
    g.mul_(w)
    assert torch.autograd.grad(g[0].sum(), w)[0].tolist() == [[1.0] * 3, [0.0] * 3]


def test_gradients_have_no_negative_strides():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (g,) = torch.autograd.grad((x.flip(0) * torch.ones(2, 3)).sum(), x)
    assert g.stride() == (3, 1) and g._base is None
