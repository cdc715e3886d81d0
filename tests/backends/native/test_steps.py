"""Optimizers step in C as they do by NumPy."""

import numpy as np
import pytest

import tapegrad
from tapegrad.backends.native import libraries, steps
from tapegrad.optim import SGD, Adam, AdamW, batch
from tests.compiler.c_programs import needs_compiler

pytestmark = [needs_compiler(), pytest.mark.usefixtures("native")]

METHODS = {
    "Adam": (Adam, {}),
    "Adam, amsgrad, penalty": (Adam, {"amsgrad": True, "weight_decay": 0.1, "eps": 1e-3}),
    "AdamW": (AdamW, {"betas": (0.8, 0.9)}),
    "AdamW, amsgrad, maximize": (AdamW, {"amsgrad": True, "maximize": True}),
    "SGD": (SGD, {"weight_decay": 0.1}),
    "SGD, momentum": (SGD, {"momentum": 0.9, "dampening": 0.2, "maximize": True}),
    "SGD, Nesterov": (SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
}


def trajectory(method, options, dtype, n=5):
    """Parameters and state after some steps, the learning rate falling."""
    tapegrad.manual_seed(0)
    params = [
        tapegrad.randn(shape, dtype=dtype, requires_grad=True)
        for shape in ((3,), (40, 50), (300, 700), ())
    ]
    optimizer = method(params, lr=0.05, **options)
    schedule = tapegrad.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for _ in range(n):
        for each in params:
            each.grad = tapegrad.randn(each.shape, dtype=dtype)
        optimizer.step()
        schedule.step()
    state = [x for each in params for x in optimizer.state[each].values() if x is not None]
    return [x.detach().numpy().copy() for x in (*params, *state)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", METHODS)
def test_the_trajectory_is_that_of_numpy(name, dtype, native, monkeypatch):
    method, options = METHODS[name]
    dtype = getattr(tapegrad, dtype)
    trajectory(method, options, dtype, n=1)
    libraries.wait()

    def refused(*args, **options):
        raise AssertionError("NumPy was asked")

    with monkeypatch.context() as patch:
        patch.setattr(batch.Batch, "_update", refused)
        found = trajectory(method, options, dtype)
    with native.flags(enabled=False):
        want = trajectory(method, options, dtype)
    assert len(found) == len(want)
    for a, b in zip(found, want, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        near = 1e-5 if a.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(a, b, rtol=near, atol=near)


def test_a_method_with_an_update_of_its_own_is_left_alone(native):
    class Own(SGD):
        def update(self, xp, param, grad, state, *, lr, **_):
            param -= grad

    x = tapegrad.zeros(3, requires_grad=True)
    x.grad = tapegrad.ones(3)
    optimizer = Own([x], lr=7.0)
    for _ in range(2):
        optimizer.step()
        native.wait()
    np.testing.assert_array_equal(x.detach().numpy(), np.full(3, -2.0, np.float32))


def test_arrays_of_other_dtypes_and_layouts_are_left_to_numpy():
    single = np.zeros((4, 6), np.float32)
    for arrays in (
        (np.zeros(4, np.float16), np.zeros(4, np.float16)),
        (single, np.zeros((4, 6))),
        (single, single.T.copy().T),
        (single, single[:2]),
    ):
        assert steps._step("tg_sgd", [arrays], [1.0, 0.0, 0.1]) is False


@pytest.mark.parametrize("dtype", ["float16", "complex64"])
def test_parameters_that_c_does_not_step_are_stepped(dtype, native):
    found = []
    for on in (True, True, False):
        with native.flags(enabled=on):
            x = tapegrad.ones(5, 4, dtype=getattr(tapegrad, dtype)).t().requires_grad_()
            x.grad = tapegrad.full_like(x, 0.5)
            Adam([x], lr=0.1).step()
            found.append(x.detach().numpy())
            native.wait()
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[2])
