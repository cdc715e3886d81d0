"""One text for many interpreters: forward functions and rules run on arrays of the bare standard.

array-api-strict knows the array standard and nothing more. Tensors on its arrays run every operator
forward, in reverse, and in second order, and give NumPy's numbers. Operators that need a kernel of
their own say so in their declaration (`kernels=`).
"""

import array_api_strict as strict
import numpy as np
import pytest

from tapegrad.autograd.backward_grad import grad
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import REGISTRY
from tests.difference import tangents_of
from tests.samples import samples_of

PORTABLE = sorted(name for name, op in REGISTRY.items() if not op.kernels)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def tensors(sample, as_array):
    """The inputs of a sample as tensors, those to be differentiated as leaves."""
    found = []
    for i, x in enumerate(sample.inputs):
        if not isinstance(x, np.ndarray):
            found.append(x)
            continue
        tensor = wrap(as_array(x))
        found.append(tensor.requires_grad_() if i in sample.differentiable() else tensor)
    return found


def to_numpy(tensor):
    return None if tensor is None else np.asarray(tensor._array)


def everything(op, sample, as_array):
    """Outputs, first gradients, tangents and second gradients of one sample."""
    inputs = tensors(sample, as_array)
    out = op.call(*inputs, **sample.params)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    found = {"outputs": list(map(to_numpy, outs))}
    tracked = [o for o in outs if o.requires_grad]
    targets = [inputs[i] for i in sample.differentiable()]
    if not tracked or not targets:
        return found
    rng = np.random.default_rng(1)
    weights = [wrap(as_array(cotangent(rng, o))) for o in tracked]
    firsts = grad(tracked, targets, weights, create_graph=True, allow_unused=True)
    found["first"] = list(map(to_numpy, firsts))
    again = [g for g in firsts if g is not None and g.requires_grad]
    if again:
        seconds = grad(
            again, targets, [wrap(as_array(cotangent(rng, g))) for g in again], allow_unused=True
        )
        found["second"] = list(map(to_numpy, seconds))
    arrays = [getattr(x, "_array", x) for x in tensors(sample, as_array)]
    tangents = [
        as_array(np.ones_like(x)) if i in sample.differentiable() else None
        for i, x in enumerate(sample.inputs)
    ]
    found["tangents"] = [np.asarray(t) for t in tangents_of(op, arrays, tangents, sample.params)]
    return found


def cotangent(rng, tensor):
    return np.asarray(
        rng.standard_normal(tuple(tensor.shape)), dtype=np.asarray(tensor._array).dtype
    )


@pytest.mark.parametrize("name", PORTABLE)
def test_forward_reverse_and_second_order_run_on_the_bare_standard(name):
    for sample in samples_of(name):
        want = everything(REGISTRY[name], sample, np.asarray)
        got = everything(REGISTRY[name], sample, strict.asarray)
        assert got.keys() == want.keys()
        for key in want:
            for a, b in zip(got[key], want[key], strict=True):
                assert (a is None) == (b is None), f"{key} of {name}{sample}"
                if a is not None:
                    np.testing.assert_allclose(
                        a, b, rtol=1e-12, atol=1e-12, err_msg=f"{key} of {name}{sample}"
                    )
