"""In-place forms: value, dtype and gradient of the out-of-place form, in the same memory."""

import numpy as np
import pytest

import tapegrad
from tapegrad.dispatch.op import REGISTRY
from tests.samples import samples_of


def forms():
    """(name of the method, registered operator) for in-place methods of operators."""
    found = []
    for name in dir(tapegrad.Tensor):
        method = getattr(tapegrad.Tensor, name, None)
        plain = getattr(method, "out_of_place", None)
        op = getattr(plain, "op", None)
        if op is not None and op.kind != "constant" and op.name in REGISTRY:
            found.append((name, op.name))
    return found


FORMS = forms()


def test_the_in_place_methods_are_found():
    assert len(FORMS) > 20


@pytest.mark.parametrize(("method", "name"), FORMS)
def test_in_place_equals_out_of_place(method, name):
    op = REGISTRY[name]
    for sample in samples_of(name):
        x = sample.inputs[0]
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            continue
        plain, leaf = run(op, sample, None)
        if plain.shape != x.shape or plain.dtype is not leaf.dtype:
            continue
        written, other_leaf = run(op, sample, method)
        np.testing.assert_array_equal(written.detach().numpy(), plain.detach().numpy())
        gradients = [
            tapegrad.autograd.grad(y.sum(), each, allow_unused=True)[0]
            for y, each in ((plain, leaf), (written, other_leaf))
            if y.requires_grad
        ]
        if len(gradients) == 2:
            np.testing.assert_array_equal(gradients[0].numpy(), gradients[1].numpy())


def run(op, sample, method):
    """The operator, or its in-place method on a copy of the first input; and the leaf behind it."""
    inputs = [
        tapegrad.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x for x in sample.inputs
    ]
    leaf = inputs[0].requires_grad_()
    copy = leaf.clone()
    if method is None:
        return op.call(copy, *inputs[1:], **sample.params), leaf
    result = getattr(copy, method)(*inputs[1:], **sample.params)
    assert result is copy and copy._version == 1
    return copy, leaf
