"""Mixed precision in tapegrad and in PyTorch: the dtypes and values of results must agree."""

import numpy as np
import pytest

import tapegrad
from tests.amp.functions import calls

OURS = calls(tapegrad)


@pytest.fixture(scope="module")
def theirs(pytorch):
    return {name: call for name, call, *_ in calls(pytorch)}


def run(torch, call, source, lower):
    """The dtype of the result and its values."""
    torch.manual_seed(1)
    with torch.autocast("cpu", getattr(torch, lower)):
        y = call(lambda x: x.to(getattr(torch, source)))
    wide = y.detach().to(torch.complex128 if y.dtype.is_complex else torch.float64)
    return str(y.dtype), wide.numpy()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lower", ["bfloat16", "float16"])
@pytest.mark.parametrize("source", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize(("name", "call"), [pytest.param(*row[:2], id=row[0]) for row in OURS])
def test_results_agree(theirs, pytorch, name, call, source, lower):
    try:
        dtype, values = run(pytorch, theirs[name], source, lower)
    except (RuntimeError, NotImplementedError) as error:
        pytest.skip(f"PyTorch refuses: {error}")
    found, ours = run(tapegrad, call, source, lower)
    assert found == dtype
    # factors are unique up to signs, eigenvalues up to their order; bilinear keeps more digits here
    if name not in ("geqrf", "eig", "eigvals", "svd", "qr", "bilinear"):
        scale = np.abs(values).max(initial=1)
        narrow = "16" in dtype or source == "bfloat16"
        np.testing.assert_allclose(ours / scale, values / scale, atol=3e-2 if narrow else 1e-3)
