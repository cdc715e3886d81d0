"""Parts of complex numbers: views, and real gradients."""

import math

import numpy as np
import pytest

import tapegrad as torch

inf, nan = math.inf, math.nan


# --- complex numbers -------------------------------------------------------------------------


def complex_gradient(function, value):
    x = torch.tensor([value], dtype=torch.complex128, requires_grad=True)
    y = function(x)
    (g,) = torch.autograd.grad(y.real.sum() if y.dtype.is_complex else y.sum(), x)
    return g.item()


@pytest.mark.parametrize(
    ("function", "gradient"),
    [
        (torch.abs, 0.6 + 0.8j),
        (torch.angle, -0.16 + 0.12j),
        (torch.real, 1),
        (torch.imag, 1j),
        (torch.conj, 1),
        (lambda z: z * z, 6 - 8j),
        (lambda z: z * 1j, -1j),
        (torch.exp, complex(np.conj(np.exp(3 + 4j)))),
        (lambda z: 1 / z, complex(np.conj(-1 / (3 + 4j) ** 2))),
        (torch.sgn, (1 - 0.6 * (0.6 + 0.8j)) / 5),
    ],
)
def test_gradients_of_complex_numbers_are_those_of_pytorch(function, gradient):
    assert abs(complex_gradient(function, 3 + 4j) - gradient) < 1e-12


def test_abs_and_angle_have_no_slope_at_zero():
    assert complex_gradient(torch.abs, 0) == 0
    assert complex_gradient(torch.angle, 0) == 0


def test_parts_of_complex_numbers_are_views():
    z = torch.tensor([1 + 2j])
    z.real[0] = 5
    z.imag[0] = 7
    assert z.tolist() == [5 + 7j]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        _ = torch.ones(1).imag


def test_a_real_tensor_is_its_own_conjugate():
    x = torch.ones(2)
    assert x.conj() is x
    assert x.real is x
    assert torch.angle(torch.tensor([-1.0, 2.0, nan])).tolist()[:2] == [pytest.approx(math.pi), 0]


def test_a_real_input_of_a_complex_product_gets_a_real_gradient():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * torch.tensor([3 + 4j])
    y.real.sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float32, [3])


# --- conjugate and negative views --------------------------------------------------------------


def numbers():
    return torch.tensor([1 + 2j, 3 - 4j, 5j])


def names_behind(x):
    node, found = x.grad_fn, []
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found[:-1]


def test_a_conjugate_is_a_view_and_writes_are_seen_on_either_side():
    x = numbers()
    y = x.conj()
    assert y.is_conj() and not y.is_neg() and not x.is_conj()
    assert y._is_view() and y._base is x and y.data_ptr() == x.data_ptr()
    assert y.tolist() == [1 - 2j, 3 + 4j, -5j]
    y[0] = 1 + 2j
    assert x.tolist() == [1 - 2j, 3 - 4j, 5j]
    x[2] = 7j
    assert y.tolist() == [1 + 2j, 3 + 4j, -7j]
    y.mul_(2j)
    assert y.tolist() == [-4 + 2j, -8 + 6j, 14] and x.tolist() == [-4 - 2j, -8 - 6j, 14]
    y.copy_(torch.tensor([1 + 1j, 2, 3]))
    assert x.tolist() == [1 - 1j, 2, 3]
    y.fill_(1j)
    assert x.tolist() == [-1j] * 3
    y[torch.tensor([0, 2])] = torch.tensor([2j, 3j])
    assert x.tolist() == [-2j, -1j, -3j]
    y[torch.tensor([True, False, False])] = 5
    y.index_put_((torch.tensor([1, 1]),), torch.tensor([1j, 1j]), accumulate=True)
    assert x.tolist() == [5, -3j, -3j] and x._version == y._version == 8


def test_views_of_a_conjugate_are_conjugate():
    y = numbers().conj()
    for view in (y[1:], y.view(3, 1), y.reshape(1, 3), y.unsqueeze(0), y.expand(2, 3), y.detach()):
        assert view.is_conj() and view.data_ptr() - y.data_ptr() in (0, 8)
    assert y.as_strided((2,), (1,), 1).tolist() == [3 + 4j, -5j]
    assert [part.is_conj() for part in (*y.unbind(), *y.split(2))] == [True] * 5
    assert not y.conj().is_conj() and y.conj()._base is y._base
    assert y.data.is_conj() and y.contiguous() is y and torch.nn.Parameter(y).is_conj()


def test_copies_of_a_conjugate_are_not():
    y = torch.ones(2, 3, dtype=torch.complex64).conj()
    for copy in (
        y.clone(),
        y + 0,
        y[torch.tensor([0])],
        y.t().contiguous(),
        y.to(torch.complex128),
    ):
        assert not copy.is_conj()
    for made in (torch.empty_like(y), torch.zeros_like(y), y.new_zeros(2), torch.full_like(y, 1j)):
        assert not made.is_conj()
    assert not y.t().reshape(-1).is_conj()
    z = torch.tensor([1j]).conj()
    assert z.resolve_conj().tolist() == [-1j] and not z.resolve_conj().is_conj()
    assert z.resolve_neg() is z
    assert torch.conj_physical(z).tolist() == [1j] and not torch.conj_physical(z).is_conj()


def test_the_imaginary_part_of_a_conjugate_is_a_negative_view():
    x = numbers()
    part = x.conj().imag
    assert part.is_neg() and not part.is_conj() and part._base is x
    assert part.tolist() == [-2, 4, -5] and not x.conj().real.is_neg()
    part[0] = 8
    assert x[0].item() == 1 - 8j
    assert part.resolve_neg().tolist() == [8, 4, -5] and not part.resolve_neg().is_neg()
    assert part.resolve_conj() is part
    both = x.conj()._neg_view()
    assert both.is_conj() and both.is_neg() and both.tolist() == [-1 - 8j, -3 - 4j, 5j]
    assert both.imag.is_neg() != both.conj().imag.is_neg() and both.imag.tolist() == [-8, -4, 5]
    assert torch.tensor([1, 2])._neg_view().tolist() == [-1, -2]
    assert torch.tensor([1, 2])._conj().tolist() == [1, 2]


def test_adjoints_are_views():
    x = torch.tensor([[1 + 2j, 3j]])
    for y in (x.adjoint(), x.mH, x.H):
        assert y.is_conj() and y.data_ptr() == x.data_ptr() and y.tolist() == [[1 - 2j], [-3j]]


def test_graphs_of_conjugate_views_have_the_names_of_pytorch():
    x = (numbers().requires_grad_() * 1).reshape(3, 1)[:, 0]
    assert names_behind(x.conj())[0] == "ConjBackward0"
    assert names_behind(x._neg_view())[0] == "NegViewBackward0"
    assert names_behind(x.conj_physical())[0] == "ConjPhysicalBackward0"
    assert names_behind(x.conj().resolve_conj())[:2] == ["CloneBackward0", "ConjBackward0"]
    assert x.resolve_conj() is x
    base = numbers().requires_grad_() * 1
    view = base.conj()
    view.mul_(2)
    assert names_behind(base) == ["CopySlices", "MulBackward0"]
    assert names_behind(view)[0] == "ConjBackward0"


def test_gradients_go_through_what_was_written_to_a_conjugate():
    leaf = numbers().requires_grad_()
    base = leaf * 1
    view = base.conj()
    view[0] = 0
    base[1] *= 2j
    (g,) = torch.autograd.grad((view * torch.tensor([1, 1j, 1j])).sum().real, leaf)
    assert g.tolist() == [0, 2, 1j]
    view = (leaf * 1).conj()
    factor = torch.tensor([2j, 1, 1], requires_grad=True)
    view.mul_(factor)  # the rule asks for what was there before
    (g,) = torch.autograd.grad(view.sum().real, factor)
    assert g.tolist() == numbers().tolist()


def test_a_later_write_through_the_base_is_noticed():
    leaf = numbers().requires_grad_()
    x = leaf * 1
    y = x.conj()
    loss = (y * y).sum().real
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_cannot_read_a_sign_is_refused_in_words_of_pytorch():
    y = numbers().conj()
    with pytest.raises(RuntimeError, match="on Tensor that has conjugate bit set"):
        y.numpy()
    with pytest.raises(RuntimeError, match="on Tensor that has negative bit set"):
        np.asarray(y.imag)
    assert y.numpy(force=True).tolist() == y.tolist()
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated"):
        torch.view_as_real(y)
    with pytest.raises(RuntimeError, match="not supported for conjugate view tensors when conv"):
        y.view(torch.float32)
    with pytest.raises(RuntimeError, match="not supported for tensors with negative bit set when"):
        y.imag.view(torch.int32)
    with pytest.raises(BufferError, match="Can't export tensors with the conjugate bit set"):
        y.__dlpack__()
    with pytest.raises(BufferError, match="negative bit"):
        torch.to_dlpack(y.imag)
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        torch.tensor([True])._neg_view().tolist()
    assert torch.view_as_complex(torch.ones(1, 2)._neg_view()).tolist() == [-1 - 1j]


def test_a_tensor_keeps_its_sign_when_it_gets_other_memory():
    x = numbers()
    y = x.conj()
    assert y.resize_(2).is_conj() and y.tolist() == [1 - 2j, 3 + 4j]
    assert y.set_(x).is_conj() and not x.clone().set_(x.conj()).is_conj()
    assert y.unsqueeze_(0).is_conj() and y.shape == (1, 3)
    out = torch.empty(0, dtype=torch.complex64).conj()
    torch.add(x, 1j, out=out)
    assert out.is_conj() and out.tolist() == [1 + 3j, 3 - 3j, 6j]
    other = x.clone()
    other.data = x.conj()
    assert other.is_conj()
    memory = torch.tensor([1j, 2j])
    view = memory.conj()
    memory.untyped_storage().resize_(32)
    assert view.tolist() == [-1j, -2j] and view.is_conj()


def test_forward_mode_and_vmap_see_through_views():
    x, t = numbers(), torch.tensor([1j, 1, 1 + 1j])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.clone(), t.clone())
        y = dual.conj()
        y.mul_(2j)
        tangent = torch.autograd.forward_ad.unpack_dual(y).tangent
        assert tangent.tolist() == (t.conj() * 2j).tolist()
        tangent = torch.autograd.forward_ad.unpack_dual(dual).tangent
        assert tangent.tolist() == (t * -2j).tolist()
    rows = torch.stack([x, x + 1])
    found = torch.func.vmap(lambda row: row.conj() * 2)(rows.conj())
    assert found.tolist() == (rows * 2).tolist()


def test_gradients_given_and_hooked_may_be_views():
    x = numbers().requires_grad_()
    y = x * 1
    y.register_hook(lambda g: g.conj())
    y.backward(numbers().conj())
    assert x.grad.tolist() == numbers().tolist()
    x.grad = numbers().conj()
    (x * 1).backward(numbers())
    assert x.grad.tolist() == [2, 6, 0]


def test_the_views_have_functions_too():
    x = torch.tensor([1 + 2j])
    assert torch._conj(x).is_conj() and torch._neg_view(x).is_neg()
