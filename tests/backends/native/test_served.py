"""Operators, their derivatives, and all that looks on, with kernels in C."""

import numpy as np
import pytest

import tapegrad
import tapegrad.nn.functional as F
from tapegrad import nn
from tapegrad.arrays.numpy import namespace
from tapegrad.backends.native import front, served
from tapegrad.dispatch.op import REGISTRY
from tests.compiler.c_programs import needs_compiler
from tests.difference import jvp_error, second_order_error, vjp_error
from tests.laws.test_laws import FIRST_ORDER, ROUNDING, SECOND_ORDER, floating
from tests.tolerance import assert_near

pytestmark = [needs_compiler(), pytest.mark.usefixtures("native")]

OPERATORS = sorted(
    name
    for name, op in REGISTRY.items()
    if op.kind != "constant" and set(op.kernels) & set(served.names())
)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_laws_of_derivatives_hold(name, native):
    op = REGISTRY[name]
    for sample in floating(name):  # by NumPy where nothing was compiled yet
        jvp_error(op, sample)
    native.wait()
    for sample in floating(name):
        assert vjp_error(op, sample) < FIRST_ORDER, f"{name}{sample}"
        assert jvp_error(op, sample) < ROUNDING, f"{name}{sample}"
        assert second_order_error(op, sample) < SECOND_ORDER, f"{name}{sample}"


class Transformer(nn.Module):
    """An embedding, a block with attention, and scores."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(50, 64), nn.LayerNorm(64)
        self.qkv, self.up, self.down = nn.Linear(64, 192), nn.Linear(64, 128), nn.Linear(128, 64)
        self.head = nn.Linear(64, 50)

    def forward(self, index):
        x = self.embedding(index)
        n, length, width = x.shape
        parts = self.qkv(self.norm(x)).split(width, 2)
        q, k, v = (each.view(n, length, 4, 16).transpose(1, 2) for each in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(n, length, width)
        return self.head(x + self.down(F.gelu(self.up(x)))).transpose(1, 2)


class Images(nn.Module):
    """A convolution, a batch norm, pooling, and scores."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, bias=False)
        self.norm, self.head = nn.BatchNorm2d(8), nn.Linear(72, 5)

    def forward(self, x):
        return self.head(F.max_pool2d(F.relu(self.norm(self.conv(x))), 2).flatten(1))


class Sequence(nn.Module):
    """A recurrent network, and scores of its last step."""

    def __init__(self, kind):
        super().__init__()
        self.net, self.head = kind(12, 16, batch_first=True), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.net(x)[0][:, -1])


MODELS = {
    "transformer": (Transformer, lambda: tapegrad.randint(0, 50, (8, 32)), (8, 32), 50),
    "images": (Images, lambda: tapegrad.randn(6, 3, 8, 8), (6,), 5),
    "LSTM": (lambda: Sequence(nn.LSTM), lambda: tapegrad.randn(6, 20, 12), (6,), 5),
    "GRU": (lambda: Sequence(nn.GRU), lambda: tapegrad.randn(6, 20, 12), (6,), 5),
    "RNN": (lambda: Sequence(nn.RNN), lambda: tapegrad.randn(6, 20, 12), (6,), 5),
}


def trained(name, dtype, wrapped=lambda step: step, steps=4):
    """Losses and parameters of a model after steps of Adam, in a process with or without C."""
    make, inputs, shape, n = MODELS[name]
    tapegrad.manual_seed(0)
    model, x, target = make().to(dtype), inputs(), tapegrad.randint(0, n, shape)
    x = x.to(dtype) if x.is_floating_point() else x
    optimizer, losses = tapegrad.optim.Adam(model.parameters(), lr=1e-3), []

    @wrapped
    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(steps):
        losses.append(step().item())
        tapegrad.backends.native.wait()
    return np.array(losses), [p.detach() for p in model.parameters()]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_trains_as_with_numpy(name, dtype, native):
    dtype = getattr(tapegrad, dtype)
    trained(name, dtype)
    found = trained(name, dtype)
    with native.flags(enabled=False):
        want = trained(name, dtype)
    np.testing.assert_allclose(found[0], want[0], rtol=1e-5 if dtype.itemsize == 4 else 1e-11)
    for a, b in zip(found[1], want[1], strict=True):
        assert_near(a, b, factor=100 if dtype.itemsize == 4 else 1)


def test_large_arrays_that_are_worked_on_in_blocks(native):
    x = tapegrad.randn(300, 1000, requires_grad=True)
    found = []
    for on in (True, True, True, False):
        with native.flags(enabled=on):
            x.grad = None
            F.relu(x).masked_fill(x > 1, 7.0).sum().backward()
            found.append(x.grad.numpy())
            native.wait()
    for each in found[:3]:
        np.testing.assert_array_equal(each, found[3])


def test_per_sample_gradients_are_those_of_numpy(native):
    w = tapegrad.randn(16)

    def loss(w, x):
        return F.layer_norm(x, (16,), w).softmax(-1).square().sum()

    x = tapegrad.randn(5, 3, 16)
    found = []
    for on in (True, True, False):
        with native.flags(enabled=on):
            found.append(tapegrad.func.vmap(tapegrad.func.grad(loss), (None, 0))(w, x))
            native.wait()
    for each in found[:2]:
        assert_near(each, found[2], factor=10)


def test_a_compiled_program_records_numpys_kernel(native):
    def function(x):
        return F.layer_norm(x, (256,)).softmax(-1) * 2

    x = tapegrad.randn(70, 256)
    for _ in range(2):
        function(x)
        native.wait()
    compiled = tapegrad.compile(function, backend="numpy")
    for _ in range(3):
        found = compiled(x)
    with native.flags(enabled=False):
        assert found.numpy().tobytes() == function(x).numpy().tobytes()


def test_the_profiler_and_anomaly_mode_look_on(native):
    x = tapegrad.randn(8, 16, requires_grad=True)
    F.gelu(x).sum().backward()
    native.wait()
    with tapegrad.profiler.profile() as profile:
        F.gelu(x).sum().backward()
    assert "aten::gelu" in {each.key for each in profile.key_averages()}
    bad = tapegrad.full((8, 16), float("nan"))
    with (
        pytest.warns(UserWarning),
        pytest.raises(RuntimeError, match="'GeluBackward0' returned nan values"),
        tapegrad.autograd.detect_anomaly(check_nan=True),
    ):
        F.gelu(x).backward(bad)


def test_kernels_stand_in_the_namespace_only_while_it_is_on(native):
    assert "softmax_along" in served.names() and "stack" not in served.names()
    for name in served.names():
        assert hasattr(getattr(namespace, name), "in_numpy")
    with native.flags(enabled=False):
        for name in served.names():
            assert not hasattr(getattr(namespace, name), "in_numpy")
        assert namespace.matmul.__module__ == namespace.__name__ != front.__name__
