"""Inverses of matrices: values and errors as PyTorch's."""

import numpy as np
import pytest

import tapegrad

N = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]


def tensor(values, **options):
    return tapegrad.tensor(values, dtype=tapegrad.float64, **options)


def test_the_inverse_and_its_gradient_have_pytorchs_values():
    x = tensor(N, requires_grad=True)
    y = tapegrad.linalg.inv(x)
    y.sum().backward()
    inverse = [[-0.2, 0.4, 0.2], [0.2, 0.6, -0.2], [0.6, -1.2, 0.4]]
    slope = [[-0.24, -0.36, 0.12], [0.08, 0.12, -0.04], [-0.16, -0.24, 0.08]]
    np.testing.assert_allclose(y.detach().numpy(), inverse, atol=1e-15)
    np.testing.assert_allclose(x.grad.numpy(), slope, atol=1e-15)
    assert type(y.grad_fn).__name__ == "LinalgInvExBackward0"


def test_a_singular_matrix_of_a_batch_is_named():
    batch = tapegrad.stack([tapegrad.eye(2), tapegrad.zeros(2, 2)])
    with pytest.raises(tapegrad.linalg.LinAlgError) as caught:
        tapegrad.linalg.inv(batch)
    assert str(caught.value) == (
        "linalg.inv: (Batch element 1): The diagonal element 1 is zero, the inversion could not be "
        "completed because the input matrix is singular."
    )
    assert isinstance(caught.value, RuntimeError)
    assert type(caught.value).__qualname__ == "_LinAlgError"


def test_inv_ex_goes_on_with_what_can_be_inverted():
    batch = tapegrad.stack([2 * tapegrad.eye(2), tapegrad.zeros(2, 2)])
    found = tapegrad.linalg.inv_ex(batch)
    assert found.info.tolist() == [0, 1]
    assert found.info.dtype is tapegrad.int32
    assert found.inverse[0].tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert not found.inverse[1].isfinite().any()


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((2, 3), "float32", "A must be batches of square matrices, but they are 2 by 3 matrices"),
        ((3,), "float32", "The input tensor A must have at least 2 dimensions."),
        ((2, 2), "int64", "Expected a floating point or complex tensor as input. Got Long"),
        ((2, 2), "float16", "Low precision dtypes not supported. Got Half"),
    ],
)
def test_what_has_no_inverse_is_refused(shape, dtype, message):
    x = tapegrad.ones(shape, dtype=getattr(tapegrad, dtype))
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.inv(x)
    assert str(caught.value) == f"linalg.inv: {message}"


def test_empty_batches_and_empty_matrices_have_inverses():
    assert tapegrad.linalg.inv(tapegrad.zeros(2, 0, 3, 3)).shape == (2, 0, 3, 3)
    assert tapegrad.linalg.inv(tapegrad.zeros(3, 0, 0)).shape == (3, 0, 0)


def test_out_takes_the_inverse():
    out = tapegrad.empty(2, 2)
    result = tapegrad.inverse(2 * tapegrad.eye(2), out=out)
    assert result is out and out.tolist() == [[0.5, 0.0], [0.0, 0.5]]


def test_tensorinv_inverts_tensordot():
    a = tensor(np.random.default_rng(0).standard_normal((2, 3, 6)).tolist())
    x = tensor(np.arange(6.0).reshape(2, 3).tolist())
    y = tapegrad.tensordot(tapegrad.linalg.tensorinv(a, ind=2), x, 2)
    np.testing.assert_allclose(tapegrad.tensordot(a, y, 1).numpy(), x.numpy(), atol=1e-12)


def test_tensorinv_counts_rows_and_columns():
    with pytest.raises(RuntimeError) as caught:
        tapegrad.linalg.tensorinv(tapegrad.eye(4).reshape(2, 2, 4), 1)
    assert str(caught.value) == (
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
        "prod(self.shape[:ind]), but got 8 != 2"
    )
