"""Least squares: values, gradients, drivers, errors."""

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close, matrix

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


B = [[1.0], [0.0], [2.0]]


def test_solution_and_residuals_have_the_gradients_of_pytorch():
    x, y = matrix(A).requires_grad_(), matrix(B).requires_grad_()
    found = torch.linalg.lstsq(x, y, driver="gelsd")
    close(found.solution, [[0.0], [0.25]])
    close(found.residuals, [1.5])
    close(found.rank, 2)
    close(found.singular_values, [9.525518091565106, 0.5143005806586444])
    (found.solution.sum() + found.residuals.sum()).backward()
    close(x.grad, [[0.25, -0.375], [-0.5, 0.875], [0.25, -0.5]])
    close(y.grad, [[0.75], [-2.0], [1.25]])


@pytest.mark.parametrize(
    ("driver", "residuals", "rank", "values"),
    [("gels", (1,), (0,), (0,)), ("gelsy", (0,), (), (0,)), ("gelss", (1,), (), (2,))],
)
def test_what_is_found_besides_the_solution_depends_on_the_driver(driver, residuals, rank, values):
    found = torch.linalg.lstsq(matrix(A), matrix(B), driver=driver)
    close(found.solution, [[0.0], [0.25]])
    shapes = (found.residuals.shape, found.rank.shape, found.singular_values.shape)
    assert shapes == (residuals, rank, values)


def test_right_hand_sides_may_be_vectors():
    x, y = matrix(A).expand(2, 3, 2), matrix(B)[:, 0].expand(2, 3)
    close(torch.linalg.lstsq(x, y).solution, [[0.0, 0.25], [0.0, 0.25]])
    close(torch.linalg.lstsq(x[0], y[0]).solution, [0.0, 0.25])


def test_the_shortest_of_several_solutions_is_found():
    found = torch.linalg.lstsq(torch.ones(2, 2), torch.ones(2, 1))
    close(found.solution, [[0.5], [0.5]])
    close(found.rank, 1)
    with raises(
        torch.linalg.LinAlgError,
        "torch.linalg.lstsq: The least squares solution could not be computed because the input "
        "matrix does not have full rank (error code: 2).",
    ):
        torch.linalg.lstsq(torch.diag(torch.tensor([1.0, 0.0])), torch.ones(2, 1), driver="gels")


def test_equations_that_do_not_fit_are_refused():
    with raises(RuntimeError, "torch.linalg.lstsq: input.size(-2) should match other.size(-2)"):
        torch.linalg.lstsq(matrix(A), matrix(A[:2]))
    with raises(
        RuntimeError,
        "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)",
    ):
        torch.linalg.lstsq(matrix(A), matrix(B), driver="foo")
    with raises(
        torch.linalg.LinAlgError,
        "torch.linalg.lstsq: input tensor should not contain infs or NaNs.",
    ):
        torch.linalg.lstsq(matrix(A) / 0, matrix(B))


def test_out_is_written_if_its_dtype_is_wide_enough():
    out = torch.empty(0, dtype=torch.float64)
    assert torch.linalg.pinv(matrix(A).float(), out=out) is out
    assert out.shape == (2, 3)
    with raises(
        RuntimeError,
        "linalg.pinv: Expected result to be safely castable from Double dtype, but got result with "
        "dtype Long",
    ):
        torch.linalg.pinv(matrix(A), out=torch.empty(0, dtype=torch.int64))


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd"])
def test_solution_and_residuals_come_from_one_node(driver):
    x, y = matrix(A).requires_grad_(), matrix(B).requires_grad_()
    found = torch.linalg.lstsq(x, y, driver=driver)
    assert found.residuals.grad_fn is found.solution.grad_fn
    assert type(found.residuals.grad_fn).__name__ == "LinalgLstsqBackward0"


def test_the_derivatives_of_residuals_agree_with_differences():
    x, y = matrix(A).requires_grad_(), matrix(B).requires_grad_()

    def residuals(x, y):
        return torch.linalg.lstsq(x, y, driver="gelsd").residuals

    assert torch.autograd.gradcheck(residuals, (x, y), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(residuals, (x, y))
    z = torch.complex(x, x.flip(0)).detach().requires_grad_()
    w = torch.complex(y, -y).detach().requires_grad_()
    assert torch.autograd.gradcheck(residuals, (z, w))
