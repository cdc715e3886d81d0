"""Saved-tensor hooks change no gradient: what is packed and unpacked is all that rules need."""

import numpy as np
import pytest

import tapegrad
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import groups_of

GROUPS = groups_of(tensor_calls, matrix_calls, layer_calls)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of old names


def results_and_gradients(group, call):
    """What a call gives, and the gradients of the sum of it."""
    tapegrad.manual_seed(0)
    tensors = group.tensors(tapegrad)
    result = eval(call, {"torch": tapegrad, "F": tapegrad.nn.functional, **tensors})
    results = result if isinstance(result, (tuple, list)) else [result]
    ends = [r for r in results if isinstance(r, tapegrad.Tensor) and r.requires_grad]
    leaves = [x for x in tensors.values() if x.requires_grad]

    def gradients():
        totals = [(r if r.dtype.is_floating_point else r.abs()).sum() for r in ends]
        return tapegrad.autograd.grad(totals, leaves, allow_unused=True) if ends else ()

    return gradients


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name)
def test_gradients_of_packed_tensors_are_the_same(group):
    packed = []

    def pack(x):
        packed.append(x)
        return x.detach().clone()

    for call in group.calls:
        expected = results_and_gradients(group, call)()
        packed.clear()
        with tapegrad.autograd.graph.saved_tensors_hooks(pack, lambda copy: copy.clone()):
            gradients = results_and_gradients(group, call)
        found = gradients()
        for a, b in zip(expected, found, strict=True):
            assert (a is None) == (b is None), call
            if a is not None:
                np.testing.assert_array_equal(a._array, b._array, err_msg=str(call))  # nan is nan


def test_something_is_packed():
    x = tapegrad.ones(2, requires_grad=True)
    with tapegrad.autograd.graph.saved_tensors_hooks(lambda x: 1 / 0, lambda x: x):
        with pytest.raises(ZeroDivisionError):
            x.exp()
