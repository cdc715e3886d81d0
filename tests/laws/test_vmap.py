"""Every operator over a batch gives what a loop over the members gives, and so do its gradients."""

import numpy as np
import pytest

from tapegrad import Tensor
from tapegrad.autograd.backward_grad import grad
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import REGISTRY
from tapegrad.func.vmap import vmap
from tapegrad.operators.shape.cat_stack import stack
from tests.samples import samples_of

NAMES = sorted(REGISTRY)
MEMBERS = 3
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:There is a performance")

SHAPING = {  # inputs whose values decide about shapes, so that members could not be stacked
    "index_mask": 1,
    "masked_elements": 1,
    "scatter_masked": 2,
    "spread_mask": 1,
    "sum_bags": 3,
    "write_mask": 2,
}


def members_of(name):
    """Samples of one form and different numbers, by the place in the table."""
    return list(zip(*[samples_of(name, seed) for seed in range(MEMBERS)], strict=True))


def is_alike(members):
    """Whether members differ in the elements of arrays only."""
    first = members[0]
    for other in members[1:]:
        if repr(other) != repr(first) or len(other.inputs) != len(first.inputs):
            return False
        for a, b in zip(first.inputs, other.inputs, strict=True):
            if not isinstance(a, np.ndarray) and a is not b and a != b:
                return False
    return True


def inputs_of(members, mapped):
    """For each input the members' arrays in one tensor, or the first one's own."""
    found = []
    for i, x in enumerate(members[0].inputs):
        if not isinstance(x, np.ndarray):
            found.append(x)
            continue
        array = np.stack([m.inputs[i] for m in members]) if i in mapped else x
        tensor = wrap(np.array(array, order="C"))
        found.append(tensor.requires_grad_() if i in members[0].differentiable() else tensor)
    return found


def outcome(op, members, mapped, at_once):
    """Outputs, and the gradients of their sum with random weights."""
    inputs = inputs_of(members, mapped)
    params = members[0].params

    def call(*arrays):
        given = iter(arrays)
        full = [next(given) if isinstance(x, Tensor) else x for x in inputs]
        out = op.call(*full, **params)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    tensors = [x for x in inputs if isinstance(x, Tensor)]
    dims = tuple(0 if i in mapped else None for i, x in enumerate(inputs) if isinstance(x, Tensor))
    if at_once:
        outs = vmap(call, dims)(*tensors)
    else:
        rows = [
            call(*[x if dim is None else x[i] for x, dim in zip(tensors, dims, strict=True)])
            for i in range(MEMBERS)
        ]
        outs = [stack(column) for column in zip(*rows, strict=True)]
    targets = [inputs[i] for i in members[0].differentiable()]
    tracked = [y for y in outs if y.requires_grad]
    if not (targets and tracked):
        return outs, []
    rng = np.random.default_rng(7)
    weights = [wrap(np.asarray(rng.standard_normal(y.shape), y._array.dtype)) for y in tracked]
    firsts = grad(tracked, targets, weights, allow_unused=True, create_graph=True)
    again = [g for g in firsts if g is not None and g.requires_grad]
    seconds = []
    if again:
        weights = [wrap(np.asarray(rng.standard_normal(g.shape), g._array.dtype)) for g in again]
        seconds = list(grad(again, targets, weights, allow_unused=True))
    return outs, [*firsts, *seconds]


def assert_equal(got, want, where):
    assert len(got) == len(want), where
    for a, b in zip(got, want, strict=True):
        if a is None or b is None:
            there = a if b is None else b
            assert there is None or not np.any(there._array), where
            continue
        assert a.dtype is b.dtype, where
        np.testing.assert_allclose(a._array, b._array, rtol=1e-9, atol=1e-9, err_msg=where)


def choices(name, members):
    """Which inputs to map: all arrays, and each alone."""
    arrays = [i for i, x in enumerate(members[0].inputs) if isinstance(x, np.ndarray)]
    if name in SHAPING:
        arrays.remove(SHAPING[name])
    yield tuple(arrays)
    if len(arrays) > 1:
        for i in arrays:
            yield (i,)


@pytest.mark.parametrize("name", NAMES)
def test_vmap_of_an_operator_equals_a_loop(name):
    op = REGISTRY[name]
    for members in members_of(name):
        if not is_alike(members) or not any(isinstance(x, np.ndarray) for x in members[0].inputs):
            continue
        for mapped in choices(name, members):
            where = f"{name}{members[0]}, mapped over {mapped}"
            want = outcome(op, members, mapped, False)
            got = outcome(op, members, mapped, True)
            assert_equal(got[0], want[0], where)
            assert_equal(got[1], want[1], where)
