"""What a backward pass computes anew: no costly function twice on the same numbers.

Forward and rules of an operator run on a namespace that writes down which costly functions are
called on which numbers. A rule that calls one as the forward function did, or as another rule does,
computes what could have been kept.
"""

import types

import numpy as np
import pytest

import tapegrad
from tapegrad.arrays.numpy import namespace as namespace
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import REGISTRY, Op
from tests.samples import Sample, samples_of

# One pass over memory, or none: what these give is never worth keeping.
CHEAP = frozenset(
    """
    abs add add_along add_at any all arange argmax argmin asarray astype broadcast_arrays
    broadcast_to can_cast clip concat conj copied copysign count count_nonzero cumulative_sum diff
    divide empty empty_like equal expand_dims eye finfo flip floor full full_like gather_along
    greater greater_equal iinfo imag isdtype isfinite isinf isnan less less_equal linspace
    logical_and logical_not logical_or matrix_transpose max maximum mean min minimum moveaxis
    multiply negative nonzero not_equal ones ones_like permute_dims positive read_at real
    reciprocal remainder repeat reshape result_type roll round scatter_along sign signbit sqrt
    square squeeze stack std subtract sum take tile tril triu trunc unstack var vecdot where zeros
    zeros_like
    """.split()
)

ELEMENTWISE = "one function of each element: what it gave would be more than PyTorch keeps"
SUBSTITUTION = "both inputs' rules substitute: little beside the factors, which are kept or given"

REPEATED = {
    "bernoulli_nll": ELEMENTWISE,
    "chunked_cross_entropy": "what it is for: the scores of all samples never exist at once",
    "definite_system": SUBSTITUTION,
    "entr": ELEMENTWISE,
    "factored_system": SUBSTITUTION,
    "gated": ELEMENTWISE,
    "householder_product": "a triangle with a row for each reflection",
    "join_polar": ELEMENTWISE,
    "ldexp": ELEMENTWISE,
    "linear_system": SUBSTITUTION,
    "log_softmax_backward_data": ELEMENTWISE,
    "logistic_nll": ELEMENTWISE,
    "lstsq": "PyTorch, too, computes a pseudo-inverse anew",
    "mish": ELEMENTWISE,
    "ormqr": "a triangle with a row for each reflection",
    "silu": ELEMENTWISE,
    "sinc": ELEMENTWISE,
    "soft_margin": ELEMENTWISE,
    "triangular_pair": SUBSTITUTION,
    "triangular_system": SUBSTITUTION,
    "xlog1py": ELEMENTWISE,
    "xlogy": ELEMENTWISE,
}
"""Operators whose rules do, and why."""


class Watched:
    """The NumPy namespace, which writes down calls of costly functions with a digest of each."""

    def __init__(self, inner=namespace, prefix=""):
        self.inner, self.prefix = inner, prefix
        self.calls = []

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        if isinstance(value, (types.ModuleType, types.SimpleNamespace)):
            found = Watched(value, f"{name}.")
            found.calls = self.calls
            return found
        if name in CHEAP or isinstance(value, type) or not callable(value):
            return value

        def call(*args, **kwargs):
            if any(is_telling(x) for x in args):
                given = digest(args), digest(sorted(kwargs.items()))
                self.calls.append((self.prefix + name, *given))
            return value(*args, **kwargs)

        return call


def is_telling(x):
    """Whether another array would hardly have the same numbers by chance."""
    return isinstance(x, np.ndarray) and len(np.unique(x)) > 2


def digest(x):
    """Something equal for equal arguments."""
    if isinstance(x, np.ndarray):
        return (x.shape, x.dtype.str, x.tobytes())
    if isinstance(x, (tuple, list)):
        return tuple(map(digest, x))
    return repr(x)


def repeated(op, sample):
    """The costly functions that the rules of a call repeat: (function, input of the rule)."""
    xp = Watched()
    inputs = [wrap(x) if isinstance(x, np.ndarray) else x for x in sample.inputs]
    out = op.call(*inputs, **sample.params)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    op.forward(xp, *sample.inputs, **sample.params)
    known = set(xp.calls)
    found = set()
    names = {"y": outs[0]._array, **sample.params}
    names.update({n: o._array for n, o in zip(op.output_names or (), outs, strict=False)})
    given = [list(sample.inputs)] if op.variadic else sample.inputs
    names.update({f"{n}_like": x for n, x in zip(op.inputs, given, strict=True)})
    names.update(zip(op.inputs, given, strict=True))
    rng = np.random.default_rng(0)
    cotangents = [rng.normal(size=o.shape).astype(o._array.dtype) for o in outs]
    names["g"] = cotangents if op.multi else cotangents[op.differentiable_output]
    names.update({f"g_{n}": g for n, g in zip(op.output_names or (), cotangents, strict=False)})
    for i in [0] if op.variadic else sample.differentiable():
        rule = op.vjps[op.inputs[i]]
        xp.calls.clear()
        rule.function(*[xp if n == "xp" else names[n] for n in rule.names])
        found |= {(call[0], op.inputs[i]) for call in xp.calls if call in known}
        known |= set(xp.calls)
    return found


NAMES = sorted(n for n, op in REGISTRY.items() if op.vjps)


def test_what_is_computed_twice_is_found():
    op = Op(lambda xp, x: xp.tanh(x), "elementwise", name="an operator of the test")
    try:
        op.vjp(x=lambda xp, g, x: g * (1 - xp.tanh(x) ** 2))
        op.call = lambda x: tapegrad.tanh(x)
        assert repeated(op, Sample(np.arange(5.0))) == {("tanh", "x")}
        op.vjp(x=lambda xp, g, y: g * (1 - y**2))
        assert not repeated(op, Sample(np.arange(5.0)))
    finally:
        del REGISTRY[op.name]


def test_exceptions_are_operators():
    assert set(REPEATED) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_rule_repeats_a_costly_function(name):
    found = set()
    for sample in samples_of(name):
        if sample.differentiable():
            found |= repeated(REGISTRY[name], sample)
    if name in REPEATED:
        assert found, "it is no exception any more"
        return
    assert not found
