"""Systems from factors, and errors as PyTorch's."""

import numpy as np
import pytest

import tapegrad


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_lu_solve_solves_with_the_matrix_or_its_adjoint(left, adjoint):
    rng = np.random.default_rng(0)
    a = tapegrad.from_numpy(rng.standard_normal((2, 3, 3)) + 1j * rng.standard_normal((2, 3, 3)))
    b = tapegrad.from_numpy(rng.standard_normal((2, 3, 3)) + 0j)
    x = tapegrad.linalg.lu_solve(*tapegrad.linalg.lu_factor(a), b, left=left, adjoint=adjoint)
    matrix = a.mH if adjoint else a
    np.testing.assert_allclose((matrix @ x if left else x @ matrix).numpy(), b.numpy(), atol=1e-12)


def test_pivots_of_another_dtype_or_shape_are_refused():
    a, pivots = tapegrad.eye(2), tapegrad.tensor([1, 2], dtype=tapegrad.int32)
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.lu_solve(a, pivots.long(), a)
    assert str(caught.value) == (
        "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32"
    )
    with pytest.raises(RuntimeError, match="must all be greater or equal to 1"):
        tapegrad.linalg.lu_solve(a, pivots - 1, a)
    with pytest.raises(RuntimeError, match="Number of pivots per batch"):
        tapegrad.linalg.lu_solve(a, pivots[:1], a)
