"""The array standard's extension for linear algebra, on tensors: its names, arguments, values."""

import numpy as np
import pytest

import tapegrad

RNG = np.random.default_rng(0)
SQUARE = RNG.standard_normal((2, 3, 3)) + 3 * np.eye(3)
DEFINITE = SQUARE @ SQUARE.mT


def extension():
    return tapegrad.ones(1).__array_namespace__().linalg


@pytest.mark.parametrize(
    ("name", "inputs", "options"),
    [
        ("cholesky", (DEFINITE,), {}),
        ("cholesky", (DEFINITE,), {"upper": True}),
        ("cross", (SQUARE, DEFINITE), {"axis": 1}),
        ("det", (SQUARE,), {}),
        ("diagonal", (SQUARE,), {"offset": 1}),
        ("eigvalsh", (DEFINITE,), {}),
        ("inv", (SQUARE,), {}),
        ("matrix_norm", (SQUARE,), {"keepdims": True}),
        ("matrix_power", (SQUARE, 3), {}),
        ("matrix_rank", (SQUARE,), {}),
        ("matrix_transpose", (SQUARE,), {}),
        ("outer", (SQUARE[0, 0], SQUARE[0, 1]), {}),
        ("pinv", (SQUARE,), {}),
        ("solve", (SQUARE, DEFINITE), {}),
        ("solve", (SQUARE, SQUARE[0, 0]), {}),
        ("solve", (np.stack([SQUARE[0]] * 3), SQUARE[1]), {}),  # a matrix, not three vectors
        ("svdvals", (SQUARE,), {}),
        ("tensordot", (SQUARE, SQUARE), {"axes": ((1,), (2,))}),
        ("trace", (SQUARE,), {"offset": -1}),
        ("vecdot", (SQUARE, DEFINITE), {"axis": 0}),
        ("vector_norm", (SQUARE,), {"axis": 1, "ord": 3}),
    ],
)
def test_a_function_gives_numpys_numbers(name, inputs, options):
    tensors = [tapegrad.from_numpy(x) if isinstance(x, np.ndarray) else x for x in inputs]
    got = getattr(extension(), name)(*tensors, **options)
    want = getattr(np.linalg, name)(*inputs, **options)
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


def test_decompositions_have_the_standards_fields():
    x = tapegrad.from_numpy(SQUARE)
    assert extension().slogdet(x).logabsdet.shape == (2,)
    assert extension().qr(x).Q.shape == (2, 3, 3)
    assert extension().svd(x, full_matrices=False).Vh.shape == (2, 3, 3)
    assert extension().eigh(tapegrad.from_numpy(DEFINITE)).eigenvalues.shape == (2, 3)


def test_a_name_that_the_standard_lacks_is_refused():
    with pytest.raises(AttributeError, match="has no lobpcg"):
        _ = extension().lobpcg
