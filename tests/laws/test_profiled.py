"""A profiler listens and changes nothing: results and gradients are those without it."""

import numpy as np
import pytest

import tapegrad
from tapegrad.dispatch.op import REGISTRY
from tests.samples import samples_of


def arrays_of(op, sample):
    """Results, then gradients of their sum, of the function that the operator is called by."""
    tapegrad.manual_seed(0)
    inputs = [given(x, i not in sample.fixed) for i, x in enumerate(sample.inputs)]
    flat = [x for each in inputs for x in (each if isinstance(each, list) else [each])]
    results = op.call(*inputs, **sample.params)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    found = [result.detach() for result in results]
    differentiable = [r for r in results if r.requires_grad]
    leaves = [x for x in flat if isinstance(x, tapegrad.Tensor) and x.requires_grad]
    if differentiable and leaves:
        total = sum(r.abs().sum() if r.is_complex() else r.sum() for r in differentiable)
        found += tapegrad.autograd.grad(total, leaves, allow_unused=True)
    return [None if x is None else x.numpy(force=True) for x in found]


def given(x, differentiable):
    if isinstance(x, (list, tuple)):
        return [given(each, differentiable) for each in x]
    if not isinstance(x, np.ndarray):
        return x
    return tapegrad.from_numpy(x.copy()).requires_grad_(differentiable and x.dtype.kind in "fc")


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_profiler_changes_nothing(name):
    op = REGISTRY[name]
    for sample in samples_of(name)[:2]:
        plain = arrays_of(op, sample)
        for more in (False, True):
            with tapegrad.profiler.profile(
                record_shapes=more, profile_memory=more, with_flops=more
            ) as prof:
                profiled = arrays_of(op, sample)
            for a, b in zip(plain, profiled, strict=True):
                np.testing.assert_array_equal(a, b)
            names = [event.name for event in prof.events()]
            assert any(name.startswith(("aten::", "tapegrad::")) for name in names)
            assert all(event.cpu_time_total >= 0 for event in prof.events())
