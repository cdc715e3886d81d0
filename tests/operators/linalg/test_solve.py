"""Systems of linear equations: shapes, values and errors as PyTorch's."""

import numpy as np
import pytest

import tapegrad

A = [[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]]


N = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_the_solution_and_its_gradient_have_pytorchs_values():
    x = tensor(N, requires_grad=True)
    y = tapegrad.linalg.solve(x, tensor([1.0, 2.0, 3.0]))
    y.sum().backward()
    slope = [[-0.72, -0.48, 0.36], [0.24, 0.16, -0.12], [-0.48, -0.32, 0.24]]
    np.testing.assert_allclose(y.detach().numpy(), [1.2, 0.8, -0.6], atol=1e-15)
    np.testing.assert_allclose(x.grad.numpy(), slope, atol=1e-15)


def test_a_right_side_of_the_batchs_shape_is_a_batch_of_vectors():
    batch = tensor([A, N])
    vectors = tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert tapegrad.linalg.solve(batch, vectors).shape == (2, 3)
    assert tapegrad.linalg.solve(batch, vectors[0].unsqueeze(1)).shape == (2, 3, 1)
    assert tapegrad.linalg.solve(batch[0], tapegrad.ones(4, 3, 2).double()).shape == (4, 3, 2)


def test_solving_from_the_right_is_solving_the_transposes():
    a, b = tensor(N), tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    x = tapegrad.linalg.solve(a, b, left=False)
    np.testing.assert_allclose((x @ a).numpy(), b.numpy(), atol=1e-14)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((2, 2), (3, 2), "Incompatible shapes of A and B for the equation AX = B (2x2 and 3x2)"),
        ((2, 2), (3,), "Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)"),
        ((2, 3), (2, 2), "A must be batches of square matrices, but they are 2 by 3 matrices"),
        ((2, 2), (), "The input tensor B must have at least 2 dimensions."),
    ],
)
def test_shapes_that_do_not_fit_are_refused(a, b, message):
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.solve(tapegrad.ones(a), tapegrad.ones(b))
    assert str(caught.value) == f"linalg.solve: {message}"


def test_batches_that_do_not_broadcast_are_refused():
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.solve(tapegrad.eye(2).expand(3, 2, 2), tapegrad.ones(2, 2, 5))
    assert str(caught.value) == (
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
    )


def test_a_singular_system_is_refused_and_solve_ex_says_where():
    singular = tapegrad.zeros(2, 2)
    with pytest.raises(tapegrad.linalg.LinAlgError) as caught:
        tapegrad.linalg.solve(singular, tapegrad.eye(2))
    assert str(caught.value) == (
        "torch.linalg.solve: The solver failed because the input matrix is singular."
    )
    assert tapegrad.linalg.solve_ex(singular, tapegrad.eye(2)).info.item() == 1


def test_tensorsolve_solves_tensordot():
    a = 2 * tapegrad.eye(6).reshape(2, 3, 6)
    assert tapegrad.linalg.tensorsolve(a, tapegrad.ones(2, 3)).tolist() == [0.5] * 6
    with pytest.raises(RuntimeError, match="but got 8 != 4"):
        tapegrad.linalg.tensorsolve(tapegrad.eye(4).reshape(2, 2, 4), tapegrad.ones(4))


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_nan_in_the_matrix_is_everywhere_in_the_solution(place):
    a = tapegrad.tensor([[[1.0, 0.2], [0.4, 0.6]], [[1.0, 0.0], [0.0, 1.0]]])
    a[0][place] = float("nan")
    for x in (tapegrad.linalg.solve(a, tapegrad.ones(2, 2, 1)), tapegrad.linalg.inv(a)):
        assert x[0].isnan().all()
        assert x[1].isfinite().all()
