"""`associative_scan`. The numbers and the errors are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.compat.torch._higher_order_ops import associative_scan
from tests.messages import raises

X = torch.arange(3.0)


def generic(f, xs, dim=0, **options):
    return associative_scan(f, xs, dim, combine_mode="generic", **options)


def test_sums_from_either_end():
    assert generic(torch.add, X).tolist() == [0, 1, 3]
    assert generic(torch.add, X, reverse=True).tolist() == [3, 3, 2]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 13, 16])
@pytest.mark.parametrize("reverse", [False, True])
def test_every_length(n, reverse):
    x = torch.arange(2.0 * n).view(2, n)
    for dim in 1, -1:
        got = generic(torch.add, x, dim, reverse=reverse)
        expected = x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)
        assert torch.equal(got, expected)


def test_the_order_of_a_product_of_matrices():
    got = generic(torch.matmul, torch.arange(12.0).view(3, 2, 2))
    assert got.tolist() == [[[0, 1], [2, 3]], [[6, 7], [26, 31]], [[118, 131], [518, 575]]]


def test_trees_have_the_form_of_the_argument():
    def f(a, b):
        return [a[0] * b[0], a[1] * b[0] + b[1]]

    got = generic(f, (X + 1, X))
    assert type(got) is tuple and [y.tolist() for y in got] == [[1, 2, 6], [0, 1, 5]]


def test_gradients_of_both_orders():
    x, w = X.clone().requires_grad_(), torch.ones((), requires_grad=True)
    y = generic(torch.mul, x + 1)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [9, 4, 2]
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [6, 5, 3]
    y = generic(lambda a, b: a + b * w, x)
    found = torch.autograd.grad(y.sum(), (x, w))
    assert [g.tolist() for g in found] == [[3, 2, 1], 4]


def test_samples_and_tangents():
    got = torch.vmap(lambda x: generic(torch.add, x))(torch.arange(6.0).view(2, 3))
    assert got.tolist() == [[0, 1, 3], [3, 7, 12]]
    got = torch.func.jvp(lambda x: generic(torch.add, x), (X,), (X,))
    assert [y.tolist() for y in got] == [[0, 1, 3], [0, 1, 3]]


def test_what_is_asked_of_arguments():
    expected = "For combine_mode='pointwise', all input tensors need to be on CUDA or XPU"
    with raises(ValueError, expected):
        associative_scan(torch.add, X, 0)
    with raises(ValueError, "Combine_mode must either 'pointwise' or 'generic', but got q"):
        associative_scan(torch.add, X, 0, combine_mode="q")
    with raises(ValueError, "Combine_fn must be a callable, but got 3"):
        generic(3, X)
    with raises(RuntimeError, "Reverse must be a bool, but got <class 'int'>"):
        generic(torch.add, X, reverse=1)
    with raises(
        IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 3)"
    ):
        generic(torch.add, X, 3)
    expected = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"
    for xs in torch.ones(0), torch.tensor(1.0):
        with raises(ValueError, expected):
            generic(torch.add, xs)
    with pytest.raises(ValueError, match="Expected all tensors to have the same size"):
        generic(lambda a, b: (a[0], a[1]), (torch.ones(2), torch.ones(3)))
    expected = "Combine_fn received wrong number of arguments, expected 4, but got 3"
    with raises(AssertionError, expected):
        generic(lambda a, b: (a[0] * b[0],), (X, X + 1))
