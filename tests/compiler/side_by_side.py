"""Scenarios that run twice, as they are and compiled, and have to leave the same behind.

A scenario gets a `Run`: it compiles functions with `run.compile`, calls them with `run.call`, which
notes the result or the error, and notes tensors, modules and optimizers with `run.look`.
"""

import warnings

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.c_backend.c_compiler import compiler

NEAR = {"float32": 3e-5, "complex64": 3e-5, "float64": 1e-11, "complex128": 1e-11}
KEPT = ("bool", "int", "str", "NoneType", "Size", "dtype", "complex")


class Run:
    """One run of a scenario: with a backend, or as it is for None."""

    def __init__(self, backend):
        self.backend = backend
        self.seen = []
        self.compiled = []

    def compile(self, function, **options):
        if self.backend is None:
            return function
        made = torch.compile(function, backend=self.backend, **options)
        self.compiled.append(made.dynamo_ctx if isinstance(made, nn.Module) else made)
        return made

    def call(self, function, *args, **kwargs):
        """What the function gives; an error is noted in its place."""
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            self.look(error)
            return None
        self.look(result)
        return result

    def look(self, *things):
        self.seen.append(described(things))


def described(x, depth=0):
    """Tuples of names, numbers and arrays that say all that can be seen of an object."""
    if isinstance(x, torch.Tensor):
        values = x.detach()
        values = values.float() if x.dtype is torch.bfloat16 else values
        grad = described(x.grad, depth + 1) if x.is_leaf and x.grad is not None else None
        flags = x.requires_grad, x.grad_fn is None, x.is_leaf
        version = None if x.is_inference() else x._version
        kind = type(x).__name__, str(x.dtype), tuple(x.shape), tuple(x.stride())
        return (*kind, np.array(values.numpy()), flags, version, grad)
    if isinstance(x, nn.Module):
        named = [*x.named_parameters(), *x.named_buffers()]
        return "module", *((name, described(t)) for name, t in named)
    if isinstance(x, torch.optim.Optimizer):
        return "optimizer", described(x.state_dict())
    if isinstance(x, dict):
        return "dict", *((str(key), described(each, depth)) for key, each in x.items())
    if isinstance(x, (list, tuple)):
        return type(x).__name__, *(described(each, depth) for each in x)
    if isinstance(x, BaseException):
        return "error", type(x).__name__, str(x).split("\n")[0]
    if isinstance(x, (float, np.ndarray)):
        return type(x).__name__, np.array(x)
    return type(x).__name__, x if type(x).__name__ in KEPT else None


def difference(a, b, near, where=""):
    """The first difference of two descriptions as text; "" where there is none."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return f"{where}: {a} / {b}"
        pairs = enumerate(zip(a, b, strict=True))
        found = (difference(x, y, near, f"{where}.{i}") for i, (x, y) in pairs)
        return next(filter(None, found), "")
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape
        if same and near and a.dtype.name in NEAR:
            tolerance = NEAR[a.dtype.name]
            size = np.max(np.abs(a), initial=1, where=np.isfinite(a))
            same = np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True)
        elif same:
            same = np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        return "" if same else f"{where}: {a} / {b}"
    return "" if a is b or (type(a) is type(b) and a == b) else f"{where}: {a!r} / {b!r}"


def run(scenario, backend):
    """A run of a scenario, from the same random numbers each time."""
    torch.manual_seed(0)
    made = Run(backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scenario(made)
    made.look(torch.get_rng_state())
    return made


def compare(scenario, backend="numpy", programs=True):
    """Assert that a scenario is the same compiled; `programs`: that there are some (or none)."""
    if backend == "c":
        compiler()
    plain, compiled = run(scenario, None), run(scenario, backend)
    for i, (a, b) in enumerate(zip(plain.seen, compiled.seen, strict=True)):
        assert not (text := difference(a, b, backend == "c")), f"note {i}, eager / compiled {text}"
    if programs is not None:
        made = [bool(each.entries) for each in compiled.compiled]
        assert all(made) if programs else not any(made)


def side_by_side(*backends, programs=True):
    """Make a test of a scenario, for each of the backends ("numpy" where none is given)."""

    def decorate(scenario):
        @pytest.mark.parametrize("backend", backends or ("numpy",))
        def test(backend):
            compare(scenario, backend, programs)

        test.__name__ = scenario.__name__
        test.__doc__ = scenario.__doc__
        return test

    return decorate
