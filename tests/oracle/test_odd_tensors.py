"""Odd tensors in both libraries: every dtype, ties, zeros, 0-d, empty, not contiguous, expanded.

The same call must fail with the same class of error, or give the same dtypes, shapes, values and
gradients. Skipped where PyTorch is not installed (the extra `oracle` brings it).
"""

import itertools
import warnings

import numpy as np
import pytest

import tapegrad

TIES = np.array([[1, 0, 2], [2, 2, 3]])
DTYPES = "bool uint8 int64 float16 bfloat16 float32 float64 complex128".split()
EMPTY = [(0,), (0, 3), (2, 0)]
TOLERANCE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-4}


def odd_tensors():
    """(name, function of the library that makes a leaf and what is seen of it)."""

    def dense(array, dtype):
        def make(torch):
            x = torch.tensor(array).to(getattr(torch, dtype))
            return x.requires_grad_(x.is_floating_point() or x.is_complex())

        return make

    for dtype in DTYPES:
        yield f"ties {dtype}", dense(TIES, dtype), lambda x: x
    yield "0-d", dense(np.array(3.5), "float64"), lambda x: x
    yield "0-d int", dense(np.array(2), "int64"), lambda x: x
    for shape in EMPTY:
        yield f"empty {shape}", dense(np.zeros(shape), "float64"), lambda x: x
    yield "zeros", dense(np.zeros((2, 3)), "float64"), lambda x: x
    yield "one zero", dense(np.array([[0.0, 1, 2], [3, 4, 5]]), "float64"), lambda x: x
    yield "turned", dense(TIES + 0.5, "float64"), lambda x: x.permute(1, 0)
    yield "stepped", dense(np.arange(12.0).reshape(2, 6) % 5, "float64"), lambda x: x[:, ::2]
    yield "three axes", dense(np.arange(24.0).reshape(2, 3, 4) % 7, "float64"), lambda x: x


ODD = list(odd_tensors())

ALL = ["sum", "mean", "amax", "amin", "logsumexp", "all", "any", "nansum"]
ONE = ["prod", "argmax", "argmin", "max", "min", "median", "cumsum", "cumprod", "cummax", "sort"]
MORE = ["softmax", "log_softmax", "mode", "std", "var", "kthvalue", "unbind", "flip", "squeeze"]


def reductions():
    for name in ALL:
        for dim in [0, -1, 2, (0, 1), (0, 0), *([] if name == "logsumexp" else [()])]:
            yield name, (dim,), {}
            yield name, (dim, True), {}
    for name in ONE + MORE:
        for dim in [0, -1, 2]:
            yield name, (1, dim) if name == "kthvalue" else (dim,), {}
    for name in ["sum", "prod", "max", "min", "median", "argmax", "unique", "aminmax", "trace"]:
        yield name, (), {}


def pointwise():
    names = "abs neg exp sqrt sigmoid floor round sign reciprocal angle isnan logical_not"
    for name in names.split():
        yield name, (), {}
    for name, other in itertools.product(["add", "mul", "div", "pow", "remainder"], [2, 0.5, True]):
        yield name, (other,), {}


def views():
    for name, args in [
        ("reshape", (-1,)),
        ("reshape", (3, 2)),
        ("unsqueeze", (-1,)),
        ("transpose", (0, 1)),
        ("diagonal", ()),
        ("tril", ()),
        ("roll", (1, 0)),
        ("split", (2, 0)),
        ("chunk", (2, -1)),
        ("tensor_split", (2, 0)),
        ("narrow", (0, 0, 1)),
        ("select", (1, 1)),
        ("repeat_interleave", (2, 0)),
        ("unfold", (0, 2, 1)),
    ]:
        yield name, args, {}


def parts(result):
    if isinstance(result, (tuple, list)):
        return [each for item in result for each in parts(item)]
    return [result]


def as_array(x):
    x = x.detach()
    return (x.double() if "float16" in str(x.dtype) else x).numpy(force=True)


def outcome(torch, make, see, name, args, kwargs):
    leaf = make(torch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outs = parts(getattr(see(leaf), name)(*args, **kwargs))
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins"), None
    tracked = [y for y in outs if y.requires_grad]
    if not tracked:
        return outs, None
    weights = [torch.linspace(0.5, 1.5, y.numel()).reshape(y.shape).to(y.dtype) for y in tracked]
    try:
        return outs, torch.autograd.grad(tracked, leaf, weights)[0]
    except NotImplementedError:  # of unique, which tapegrad does not record at all
        return outs, None


def agree(ours, theirs):
    if str(ours.dtype) != str(theirs.dtype) or tuple(ours.shape) != tuple(theirs.shape):
        return False
    near = TOLERANCE.get(str(theirs.dtype)[6:], 1e-9)
    return np.allclose(as_array(ours), as_array(theirs), near, near, equal_nan=True)


KNOWN = {
    *(("cummax", f"empty {shape}") for shape in EMPTY),  # of any dimension, even of those not there
    ("repeat_interleave", "0-d"),  # which PyTorch refuses along a dimension
    ("repeat_interleave", "0-d int"),
}
CALLS = [*reductions(), *pointwise(), *views()]


def difference(pytorch, make, see, call):
    """What differs between the libraries in one call, None if nothing does."""
    a, ours = outcome(tapegrad, make, see, *call)
    b, theirs = outcome(pytorch, make, see, *call)
    if isinstance(a, type) or isinstance(b, type):
        return None if a is b else f"{a} and {b}"
    if len(a) != len(b) or (ours is None) != (theirs is None):
        return f"{a} and {b}, gradients {ours} and {theirs}"
    pairs = [*zip(a, b, strict=True), *([] if ours is None else [(ours, theirs)])]
    return next((f"{x} and {y}" for x, y in pairs if not agree(x, y)), None)


@pytest.mark.parametrize(("label", "make", "see"), ODD, ids=[label for label, _, _ in ODD])
def test_odd_tensors_give_the_same(pytorch, label, make, see):
    wrong = []
    for call in CALLS:
        if (call[0], label) in KNOWN:
            continue
        found = difference(pytorch, make, see, call)
        if found is not None:
            wrong.append((call, found))
    assert not wrong
