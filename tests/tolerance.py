"""How far two results may lie apart: one table, by dtype."""

import numpy as np

#: name of a dtype -> (relative, absolute)
TOLERANCE = {
    "float64": (1e-9, 1e-11),
    "float32": (1e-5, 1e-6),
    "float16": (2e-3, 1e-3),
    "bfloat16": (2e-2, 1e-2),
    "complex128": (1e-9, 1e-11),
    "complex64": (1e-5, 1e-6),
}


def tolerance(dtype, factor=1.0):
    """The pair (relative, absolute) for `dtype`; integers and bools must be equal."""
    name = getattr(dtype, "name", None) or np.dtype(dtype).name
    relative, absolute = TOLERANCE.get(name, (0.0, 0.0))
    return factor * relative, factor * absolute


def assert_near(got, want, *, factor=1.0):
    """`got` has the shape and dtype of `want`, and its values within that dtype's tolerance."""
    got, want = _array(got), _array(want)
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"dtype {got.dtype}, expected {want.dtype}"
    relative, absolute = tolerance(want.dtype, factor)
    if want.dtype.name == "bfloat16":
        got, want = got.astype(np.float32), want.astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=relative, atol=absolute)


def _array(x):
    return x.detach().numpy() if hasattr(x, "detach") else np.asarray(x)
