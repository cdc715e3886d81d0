"""What holds for every registered operator, over the table of samples."""

import numpy as np
import pytest

import tapegrad
from tapegrad.autograd.plan import node_class
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import REGISTRY
from tests.difference import jvp_error, second_order_error, vjp_error
from tests.samples import ROWS, samples_of

NAMES = sorted(REGISTRY)
DIFFERENTIABLE = [name for name in NAMES if REGISTRY[name].kind != "constant"]
FIRST_ORDER, SECOND_ORDER, ROUNDING = 1e-7, 1e-6, 1e-11


def test_every_operator_has_samples():
    assert not set(NAMES) - set(ROWS), "operators without a row of samples"


def test_every_row_is_of_an_operator():
    assert not set(ROWS) - set(NAMES), "rows without an operator"


def test_every_differentiable_operator_has_rules_for_each_input_or_says_why():
    bare = [name for name in DIFFERENTIABLE if not REGISTRY[name].vjps]
    assert not bare, "operators without a reverse rule"


def floating(name):
    """The samples of an operator that have something to differentiate."""
    return [s for s in samples_of(name) if s.differentiable()]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_reverse_rules_equal_central_differences(name):
    for sample in floating(name):
        assert vjp_error(REGISTRY[name], sample) < FIRST_ORDER, f"{name}{sample}"


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_forward_and_reverse_rules_are_adjoint(name):
    for sample in floating(name):
        assert jvp_error(REGISTRY[name], sample) < ROUNDING, f"{name}{sample}"


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_second_derivatives_equal_differences_of_gradients(name):
    for sample in floating(name):
        assert second_order_error(REGISTRY[name], sample) < SECOND_ORDER, f"{name}{sample}"


@pytest.mark.parametrize("name", NAMES)
def test_forward_leaves_its_inputs_alone_and_repeats_itself(name):
    op = REGISTRY[name]
    for sample in samples_of(name):
        inputs = [wrap(x.copy()) if isinstance(x, np.ndarray) else x for x in sample.inputs]
        first, second = (as_arrays(op.call(*inputs, **sample.params)) for _ in range(2))
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b)
        for before, after in zip(sample.inputs, inputs, strict=True):
            if isinstance(before, np.ndarray):
                np.testing.assert_array_equal(before, after._array)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_node_keeps_only_what_its_rules_name(name):
    op = REGISTRY[name]
    for sample in floating(name):
        inputs = [wrap(x) if isinstance(x, np.ndarray) else x for x in sample.inputs]
        for i in sample.differentiable():
            inputs[i].requires_grad_()
        out = op.call(*inputs, **sample.params)
        first = next(
            o for o in (out if isinstance(out, (tuple, list)) else [out]) if o.requires_grad
        )
        node = first.grad_fn
        named = {n for rule in op.vjps.values() for n in rule.names}
        kept = {n for _, _, n in node.plan.saves}
        assert kept <= named, f"{name}{sample} keeps {kept - named}"
        assert type(node) is node_class(op)


def as_arrays(out):
    return [o._array for o in (out if isinstance(out, (tuple, list)) else [out])]


def test_a_rule_that_asks_for_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="asks for z"):
        tapegrad.mul.op._declare({}, {"input": lambda g, z: g}, "g")
