"""Products with vectors and batches: shapes, views, nodes, refusals, as PyTorch 2.13 has them."""

import pytest

import tapegrad as torch
from tests.messages import raises

MATRICES = "mat1 and mat2 shapes cannot be multiplied ({} and {})"
BATCHES = "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}."
VECTOR = "size mismatch, got input ({}), mat ({}), vec ({})"


def names(x):
    return x.grad_fn.name(), x.grad_fn.next_functions[0][0].name()


def test_a_vector_times_a_matrix_is_squeezed_in_place_and_no_view():
    y = torch.ones(3, requires_grad=True) @ torch.ones(3, 4)
    assert names(y) == ("SqueezeBackward4", "MmBackward0") and not y._is_view()


def test_a_vector_times_a_batch_is_no_view():
    y = torch.ones(3, requires_grad=True) @ torch.ones(2, 3, 4)
    assert y.shape == (2, 4) and not y._is_view() and y.grad_fn.name() == "UnsafeViewBackward0"


def test_a_kronecker_product_is_no_view():
    assert not torch.kron(torch.ones(2), torch.ones(3))._is_view()


def test_a_linear_map_of_a_turned_batch_adds_its_bias_to_a_product():
    x, w, b = torch.ones(5, 2, 3).transpose(0, 1), torch.ones(4, 3), torch.ones(4)
    y = torch.nn.functional.linear(x, w, b.requires_grad_())
    assert y.grad_fn.name() == "AddBackward0" and not y._is_view()
    y = torch.nn.functional.linear(x.contiguous(), w, b)
    assert y.grad_fn.name() == "ViewBackward0" and y._is_view()


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (torch.zeros(2, 2, 3), torch.zeros(2, 3), MATRICES.format("4x3", "2x3")),
        (
            torch.zeros(2, 2, 3).transpose(0, 1),
            torch.zeros(2, 3),
            BATCHES.format("[2, 3]", "[2, 2]"),
        ),
        (
            torch.zeros(2, 2, 3).transpose(0, 1),
            torch.zeros(2, 3, requires_grad=True),
            MATRICES.format("4x3", "2x3"),
        ),
        (torch.zeros(1, 3), torch.zeros(3, 1, 3), BATCHES.format("[3, 3]", "[3, 1]")),
        (
            torch.zeros(1, 3, requires_grad=True),
            torch.zeros(3, 1, 3),
            MATRICES.format("9x1", "3x1"),
        ),
        (torch.zeros(6, requires_grad=True), torch.zeros(3, 2, 1), VECTOR.format(3, "3x2", 6)),
        (torch.zeros(4, 2, 3), torch.zeros(2), VECTOR.format(8, "8x3", 2)),
        (
            torch.zeros(2, 2, 3),
            torch.zeros(3, 3, dtype=torch.float64),
            "expected m1 and m2 to have the same dtype, but got: float != double",
        ),
        (
            torch.zeros(4, 2, 3),
            torch.zeros(4, 3, 3, dtype=torch.float64),
            "expected scalar type Float but found Double",
        ),
    ],
)
def test_factors_that_do_not_fit(a, b, message):
    with raises(RuntimeError, message):
        a @ b


def test_a_vector_times_matrices_is_no_view():
    v = torch.ones(3, requires_grad=True)
    y, z = v @ torch.ones(3, 2), v @ torch.ones(4, 3, 2)
    assert y._base is None and y.grad_fn.name() == "SqueezeBackward4"
    assert z._base is None and z.grad_fn.name() == "UnsafeViewBackward0"
    (y.sum() + z.sum()).backward()
    assert v.grad.tolist() == [10, 10, 10]
    assert torch.func.vmap(torch.matmul)(torch.ones(5, 3), torch.ones(5, 3, 2)).shape == (5, 2)
    tangent = torch.func.jvp(lambda v: v @ torch.ones(3, 2), (v,), (v,))[1]
    assert tangent.tolist() == [3, 3]


@pytest.mark.parametrize("shapes", [((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 3), (3, 0))])
def test_bools_without_elements_have_a_product(shapes):
    a, b = (torch.ones(shape, dtype=torch.bool) for shape in shapes)
    for y in (torch.mm(a, b), a @ b, torch.bmm(a[None], b[None])[0]):
        assert y.dtype is torch.bool and y.shape == (shapes[0][0], shapes[1][1]) and not y.any()
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        torch.ones(2, 2, dtype=torch.bool) @ torch.ones(2, 2, dtype=torch.bool)


def test_bools_without_elements_times_a_vector():
    a = torch.ones(2, 0, dtype=torch.bool)
    assert torch.mv(a, a[0]).tolist() == [False, False]
