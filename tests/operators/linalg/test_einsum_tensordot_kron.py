"""What `einsum` is called with."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_an_equation_comes_first():
    x = torch.ones(2, 2)
    assert torch.einsum("ij,jk->ik", [x, x]).tolist() == [[2, 2], [2, 2]]
    with pytest.raises(TypeError, match=r"^einsum\(\): argument 'equation' \(position 1\) must be"):
        torch.einsum(["ij"], x)
    for args in ((), ("ij",), (x,)):
        with pytest.raises(ValueError, match=r"^einsum\(\): must specify the equation string and"):
            torch.einsum(*args)


def test_no_more_dimensions_are_summed_than_there_are():
    with pytest.raises(
        RuntimeError, match=r"^tensordot expects dims < ndim_a or ndim_b, but got d"
    ):
        torch.tensordot(torch.ones(2), torch.ones(2), 5)


def test_a_contraction_to_one_number_is_a_product_of_vectors():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for y in (torch.tensordot(x, x.detach(), 2), torch.inner(x[:1], x.detach()[:1])):
        assert y.grad_fn.next_functions[0][0].name() == "DotBackward0"
    assert torch.tensordot(x, x, 2).item() == 55 and torch.inner(x[:1], x[:1]).tolist() == [[5.0]]
    three = torch.tensor(3.0, requires_grad=True)
    y = torch.tensordot(three, torch.tensor(2.0), 0)
    y.backward()
    assert y.item() == 6 and three.grad.item() == 2


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.float16])
def test_sums_of_no_products_keep_the_dtype(dtype):
    nothing = torch.zeros(2, 0, dtype=dtype)
    assert torch.inner(nothing, nothing).dtype is dtype
    with raises(NotImplementedError, "\"dot\" not implemented for 'Bool'"):
        torch.inner(torch.ones(2, dtype=torch.bool), torch.ones(2, dtype=torch.bool))


@pytest.mark.parametrize(
    ("equation", "error", "message"),
    [
        ("......", RuntimeError, "found '.' for operand 0 for which an ellipsis was already found"),
        ("..", RuntimeError, "found '.' for operand 0 that is not part of any ellipsis"),
        ("a->..", RuntimeError, "found '.' for output that is not part of any ellipsis (...)"),
        (
            "a->1",
            RuntimeError,
            "invalid subscript given at index 3 in the equation string, subscripts must be in "
            "[a-zA-Z]",
        ),
    ],
)
def test_an_equation_has_letters_and_one_ellipsis(equation, error, message):
    with raises(error, f"einsum(): {message}"):
        torch.einsum(equation, torch.ones(2))


def test_ellipses_of_other_sizes_are_told_apart():
    message = (
        "einsum(): dimension 1 covered by ellipsis in operand 1has size 3 which does not broadcast "
        "with previously seen ellipsis with size 2 for the respective dimension"
    )
    with raises(RuntimeError, message):
        torch.einsum("...,...", torch.ones(2), torch.ones(2, 3))
    message = "einsum(): subscript in subscript list is not within the valid range [0, 52)"
    with raises(ValueError, message):
        torch.einsum(torch.ones(2), [52])
