"""Singular values: values, gradients where values are equal, phases, forms, errors."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close, matrix

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


VALUES = [9.525518091565107, 0.5143005806586441]


def test_a_matrix_is_the_product_of_its_factors():
    U, S, Vh = torch.linalg.svd(matrix(A))
    assert (U.shape, S.shape, Vh.shape) == ((3, 3), (2,), (2, 2))
    close(S, VALUES)
    close((U[:, :2] * S) @ Vh, A)
    reduced = torch.linalg.svd(matrix(A), full_matrices=False)
    assert reduced.U.shape == (3, 2)
    close(torch.linalg.svdvals(matrix(A)), VALUES)


def test_gradients_of_vectors_are_those_of_pytorch():
    x = matrix(A).requires_grad_()
    torch.linalg.svd(x, full_matrices=False).U[:, 0].abs().sum().backward()
    close(
        x.grad,
        [
            [0.04089288135355556, 0.05332287612622224],
            [0.009655764055288917, 0.01570863107502226],
            [-0.02158135324297771, -0.021905613976177702],
        ],
    )


@pytest.mark.parametrize(
    "values", [lambda x: torch.linalg.svd(x).S, torch.linalg.svdvals, lambda x: torch.svd(x)[1]]
)
def test_values_have_a_gradient_where_they_are_equal(values):
    x = torch.eye(3).requires_grad_()
    values(x).sum().backward()
    close(x.grad, [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_vectors_have_no_gradient_where_values_are_equal():
    x = torch.eye(3).requires_grad_()
    (torch.linalg.svd(x).U * torch.arange(9.0).view(3, 3)).sum().backward()
    assert not x.grad.isfinite().all()


def test_a_loss_that_depends_on_a_phase_has_no_gradient():
    x = torch.complex(matrix(A), matrix(A).cos()).requires_grad_()
    U = torch.linalg.svd(x, full_matrices=False).U
    with raises(
        RuntimeError,
        "svd_backward: The singular vectors in the complex case are specified up to multiplication "
        "by e^{i phi}. The specified loss function depends on this phase term, making it "
        "ill-defined.",
    ):
        U.sum().abs().backward()


def test_the_older_function_gives_v_and_can_leave_the_vectors_away():
    U, S, V = torch.svd(matrix(A))
    close((U * S) @ V.T, A)
    assert type(torch.svd(matrix(A))).__name__ == "svd"
    zeros = torch.svd(matrix(A), compute_uv=False)
    assert zeros.U.shape == (3, 3) and not zeros.U.any()
    close(matrix(A).svd().S, VALUES)


def test_out_is_written_if_it_has_the_dtype():
    out = tuple(torch.empty(0, dtype=torch.float64) for _ in range(3))
    found = torch.linalg.svd(matrix(A), out=out)
    assert found.S is out[1]
    close(out[1], VALUES)
    with raises(RuntimeError, "Expected out tensor to have dtype double, but got float instead"):
        torch.linalg.svdvals(matrix(A), out=torch.empty(0))
    with raises(TypeError, "expected tuple of 3 elements but got 2"):
        torch.linalg.svd(matrix(A), out=out[:2])


def test_the_matrix_that_does_not_decompose_is_named():
    x = torch.eye(2).expand(3, 2, 2).clone()
    x[1, 0, 0] = float("nan")
    with raises(
        torch.linalg.LinAlgError,
        "linalg.svd: (Batch element 1): The algorithm failed to converge because the input matrix "
        "contained non-finite values.",
    ):
        torch.linalg.svd(x)


def test_what_is_no_matrix_of_floating_numbers_is_refused():
    with raises(RuntimeError, "linalg.svd: The input tensor A must have at least 2 dimensions."):
        torch.linalg.svd(torch.ones(3))
    with raises(
        RuntimeError, "linalg.svd: Expected a floating point or complex tensor as input. Got Long"
    ):
        torch.linalg.svdvals(torch.ones(2, 2, dtype=torch.int64))
    with raises(TypeError, "linalg_svd(): argument 'A' (position 1) must be Tensor, not float"):
        torch.linalg.svd(1.0)


# --- what is not finite ---------------------------------------------------------------------------

FUNCTIONS = {
    "svd": lambda x: torch.linalg.svd(x, full_matrices=False).S,
    "svdvals": torch.linalg.svdvals,
    "old svd": lambda x: torch.svd(x).S,
    "norm": lambda x: torch.linalg.norm(x, 2)[..., None],
    "vmap": torch.func.vmap(torch.linalg.svdvals),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 5, 3), (2, 2, 2)])
def test_an_infinity_gives_nan_in_its_own_matrix(name, shape):
    """LAPACK may never return from such matrices: it is not asked."""
    x = torch.ones(shape, dtype=torch.float64)
    x[0, 0, 1] = math.inf
    function = FUNCTIONS[name]
    found = torch.stack([function(each) for each in x]) if name == "norm" else function(x)
    assert found[0].isnan().all()
    assert found[1, 0].item() == pytest.approx(math.sqrt(shape[1] * shape[2]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_nan_is_refused(name):
    x = torch.ones(2, 3, 5)
    x[1, 2, 2] = math.nan
    function = FUNCTIONS[name]
    with pytest.raises(torch.linalg.LinAlgError, match="contained non-finite values"):
        function(x[1] if name == "norm" else x)


def test_the_matrix_with_nan_is_named_beside_one_with_infinities():
    big, inf, nan = 1e30, math.inf, math.nan
    x = torch.tensor([[[-big, 0.5, 0.7], [inf, -big, -big], [inf, 0.1, -0.2]], [[nan, 1, 2]] * 3])
    found = "(Batch element 1): The algorithm failed to converge because the input matrix contained"
    with pytest.raises(torch.linalg.LinAlgError) as raised:
        torch.linalg.svd(x)
    assert found in str(raised.value)
    assert torch.linalg.svdvals(x[:1]).isnan().all()
