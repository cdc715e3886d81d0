"""C functions of the templates against the kernels that they stand for."""

import numpy as np
import pytest

import tapegrad
import tapegrad.nn.functional as F
from tapegrad import nn
from tapegrad.arrays.numpy import max_pool, namespace
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend import pool
from tapegrad.compiler.c_backend.templates import TEMPLATES, call_for
from tapegrad.core.tensor_base import wrap
from tests.compiler.c_backend.template_call import call_of, prepared

TYPES = {"f32": np.float32, "f64": np.float64}
TOLERANCE = {"f32": 1e-5, "f64": 1e-12}


class Draw:
    """Arrays at random, of one dtype."""

    def __init__(self, dtype):
        self.rng, self.dtype = np.random.default_rng(0), dtype

    def __call__(self, *shape):
        return np.asarray(self.rng.standard_normal(shape), self.dtype)

    def positive(self, *shape):
        return np.asarray(self.rng.uniform(0.5, 2, shape), self.dtype)

    def index(self, n, *shape):
        return self.rng.integers(0, n, shape)

    def heads(self, b, h, n, e):
        """(b, h, n, e) as a model has it: a part of rows that hold all heads, and more."""
        return self(b, n, 3 * h * e)[:, :, : h * e].reshape(b, n, h, e).transpose(0, 2, 1, 3)


INSTANCES = {}


def instances(name):
    """Register calls of a kernel: a function of a `Draw` gives (args, kwargs) one after another."""

    def register(function):
        INSTANCES.setdefault(name, []).append(function)
        return function

    return register


def checked(name, args, kwargs, tolerance):
    found = prepared(name, args, kwargs)
    assert found is not None, "there is no template for this instance"
    run, results, expected = found
    assert not run()
    assert len(results) == len(expected)
    for a, b in zip(results, expected, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        finite = np.abs(b[np.isfinite(b)]) if b.dtype.kind == "f" else np.zeros(0)
        scale = finite.max(initial=0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, strict=True)


def layer_norm_case(d, *shape, n_axes=1, weight=True, bias=True, shift=0):
    x = d(*shape) * 2 + d.dtype(shift)
    own = shape[len(shape) - n_axes :]
    w, b = d(*own) if weight else None, d(*own) if bias else None
    return x, w, b, n_axes


@instances("standardize_rows")
def standardize_rows(d):
    for n in (1, 7, 8, 64, 100, 768, 5000):
        yield (*layer_norm_case(d, 3, n), 1e-5), {}
    yield (*layer_norm_case(d, 2, 3, 4, 5, n_axes=2), 1e-5), {}
    yield (*layer_norm_case(d, 2, 30, weight=False, bias=False), 1e-5), {}
    yield (*layer_norm_case(d, 2, 30, bias=False), 1e-5), {}
    yield (*layer_norm_case(d, 2, 30, weight=False, shift=3), 1e-3), {}
    x = d(4, 6, 20).transpose(1, 0, 2)
    yield (x, d(20), d(20), 1, 1e-5), {}


def moments(x, n_axes=1, eps=1e-5):
    axes = tuple(range(x.ndim - n_axes, x.ndim))
    mean = x.mean(axes, keepdims=True)
    return mean, 1 / np.sqrt(x.var(axes, keepdims=True) + x.dtype.type(eps))


@instances("standardize_rows_back")
def standardize_rows_back(d):
    for n in (5, 9, 100, 768, 5000):
        x = d(3, n)
        yield (d(3, n), x, d(n), *moments(x), 1, 1e-5), {}
    x = d(3, 2, 20)
    yield (d(3, 2, 20), x, None, *moments(x, 2), 2, 1e-5), {}


@instances("standardize_rows_weight_back")
def standardize_rows_weight_back(d):
    for rows, n in ((3, 5), (300, 64), (1000, 100), (5, 1000)):
        x = d(rows, n)
        yield (d(rows, n), x, *moments(x), d(n), 1e-5), {}


@instances("sum_rows")
def sum_rows(d):
    for rows, n in ((3, 5), (300, 64), (1000, 100), (5, 1000)):
        yield (d(rows, n), d(n)), {}
    yield (d(3, 4, 5, 6), d(5, 6)), {}


@instances("channel_moments")
def channel_moments(d):
    for shape in ((5, 3), (50, 70), (4, 3, 2), (4, 6, 5, 5), (2, 4, 30, 30), (3, 8, 5000)):
        yield (d(*shape) + 2, None), {}
    for shape, groups in (((4, 6), 3), ((4, 6, 5, 5), 2), ((2, 4, 90, 30), 1)):
        yield (d(*shape), groups), {}


NORMS = (
    ((5, 3), None),
    ((4, 6, 2), None),
    ((4, 6, 5, 5), None),
    ((2, 4, 90, 30), None),
    ((5, 15), 3),
    ((4, 6, 5, 5), 2),
)


def channel_case(d, shape, groups):
    x = d(*shape) + d.dtype(0.5)
    of = x.reshape(*shape[:2], -1) if groups is None else x.reshape(shape[0], groups, -1)
    axes = (0, 2) if groups is None else (2,)
    return x, of.mean(axes), of.var(axes), groups


@instances("standardize_channels")
def standardize_channels(d):
    for shape, groups in NORMS:
        x, *statistics, _ = channel_case(d, shape, groups)
        yield (x, *statistics, d(shape[1]), d(shape[1]), groups, 1e-5), {}
        yield (x, *statistics, None, None, groups, 1e-5), {}


@instances("standardize_channels_back")
def standardize_channels_back(d):
    for shape, groups in NORMS:
        x, *statistics, _ = channel_case(d, shape, groups)
        for weight in (d(shape[1]), None):
            yield (d(*shape), x, weight, *statistics, groups, 1e-5), {}


@instances("standardize_channels_weight_back")
def standardize_channels_weight_back(d):
    for shape, groups in NORMS:
        x, *statistics, _ = channel_case(d, shape, groups)
        yield (d(*shape), x, *statistics, d(shape[1]), groups, 1e-5), {}


@instances("standardize_given_weight_back")
def standardize_given_weight_back(d):
    x, *statistics, _ = channel_case(d, (4, 6, 5, 5), None)
    yield (d(*x.shape), x, *statistics, d(6), 1e-5), {}


@instances("sum_channels")
def sum_channels(d):
    for shape, _ in NORMS:
        yield (d(*shape), d(shape[1])), {}


@instances("scale_channels")
def scale_channels(d):
    for shape in ((5, 3), (4, 6, 5, 5)):
        yield (d(*shape), d.positive(shape[1]), d(shape[1]), 1e-5), {}
        yield (d(*shape), d.positive(shape[1]), None, 1e-5), {}


SLABS = (
    ((3,), 0),
    ((3, 2), 1),
    ((3, 4), 1),
    ((3, 4), 0),
    ((2, 70, 90), 1),
    ((4, 5000), -1),
    ((50, 1000), 1),
)


@instances("softmax_along")
@instances("log_softmax_along")
def softmax_along(d):
    for shape, axis in SLABS:
        yield (d(*shape) * 3, axis), {}
        yield (d(*shape) * 30 + 90, axis), {}
    x = d(5, 40)
    x[0], x[1, 3], x[2, 2], x[3, :20] = -np.inf, np.inf, np.nan, -np.inf
    yield (x, 1), {}
    yield (d(1), 0), {}
    yield (d(5, 60)[:, ::2], 1), {}


@instances("softmax_back")
def softmax_back(d):
    for shape, axis in SLABS:
        e = np.exp(d(*shape))
        yield (d(*shape), e / e.sum(axis, keepdims=True), axis), {}


@instances("log_softmax_back")
def log_softmax_back(d):
    for shape, axis in SLABS:
        x = d(*shape)
        yield (d(*shape), x - np.log(np.exp(x).sum(axis, keepdims=True)), axis), {}


@instances("pick")
def pick(d):
    yield (d(30, 7), d.index(7, 30)), {}
    yield (d(3, 7, 4, 5), d.index(7, 3, 4, 5)), {}
    yield (d(7, 30).T, d.index(7, 30)), {}


@instances("unpick")
def unpick(d):
    yield (d(30), d.index(7, 30), (30, 7)), {}
    yield (np.broadcast_to(d(), (30,)), d.index(7, 30), (30, 7)), {}
    yield (d(3, 4, 5), d.index(7, 3, 4, 5), (3, 7, 4, 5)), {}


def attention_cases(d):
    """q, k, v, masks, causal."""
    for length, keys, e, dv, causal in (
        (5, 5, 4, 4, True),
        (5, 9, 4, 3, False),
        (64, 64, 32, 32, True),
        (7, 300, 8, 8, True),
        (300, 300, 16, 16, True),
        (300, 130, 16, 8, True),
        (300, 300, 16, 16, False),
    ):
        yield d(2, 3, length, e), d(2, 3, keys, e), d(2, 3, keys, dv), (), causal
    yield d.heads(2, 3, 20, 8), d.heads(2, 3, 20, 8), d.heads(2, 3, 20, 8), (), True
    yield d(20, 8), d(20, 8), d(20, 8), (), True
    yield d(3, 20, 8), d(3, 20, 8), d(3, 20, 8), (), False
    yield d(2, 2, 3, 9, 8), d(2, 2, 3, 9, 8), d(2, 2, 3, 9, 8), (), True
    yield d(2, 3, 8, 20).mT, d(2, 3, 8, 20).mT, d(2, 3, 8, 20).mT, (), False
    triangle = np.tril(np.ones((20, 20), bool))
    padding = np.arange(20)[None] < np.array([[0], [13]])
    for mask in (
        triangle,
        padding[:, None, None],
        np.broadcast_to(triangle, (2, 3, 20, 20)),
        d(20, 20),
        d(3, 20, 20),
        d(2, 1, 20, 20).mT,
    ):
        yield d(2, 3, 20, 8), d(2, 3, 20, 8), d(2, 3, 20, 8), (mask,), False


@instances("attend")
def attend(d):
    for q, k, v, masks, causal in attention_cases(d):
        yield ((q, k, v, *masks), 0.3, causal), {}


@instances("attend_back")
def attend_back(d):
    for q, k, v, masks, causal in attention_cases(d):
        y, total = namespace.attend((q, k, v, *masks), 0.3, causal)
        g = d.heads(*y.shape) if y.ndim == 4 else d(*y.shape)
        yield (g, (q, k, v, *masks), y, total, 0.3, causal), {}


RECURRENT = (
    (1, 1, 3, 4), (5, 2, 3, 4), (4, 20, 30, 40), (3, 2, 1, 1), (3, 16, 5, 32), (2, 8, 3, 16),
    (3, 23, 5, 32),
)  # fmt: skip


def recurrent_case(d, sizes, gates, cells, biases, flat=False):
    steps, batch, features, hidden = sizes
    x = d(steps * batch, features) if flat else d(steps, batch, features)
    states = [d(batch, hidden) for _ in range(1 + cells)]
    weights = [d(gates * hidden, features) / 4, d(gates * hidden, hidden) / 4]
    weights += [d(gates * hidden) for _ in range(2 * biases)]
    return (x, *states, *weights), (batch,) * steps


@instances("lstm")
def lstm(d):
    for sizes in RECURRENT:
        for reverse in (False, True):
            inputs, steps = recurrent_case(d, sizes, 4, True, True)
            yield (inputs, True, steps, reverse), {}
    inputs, steps = recurrent_case(d, (4, 3, 2, 5), 4, True, False, flat=True)
    yield (inputs, False, steps, False), {}


@instances("lstm_back")
def lstm_back(d):
    for sizes in RECURRENT:
        for reverse, biases, wants_input in ((False, True, True), (True, False, False)):
            inputs, steps = recurrent_case(d, sizes, 4, True, biases)
            out = namespace.lstm(inputs, biases, steps, reverse)
            g = d(sizes[1], sizes[0], sizes[3]).transpose(1, 0, 2)
            cell = d(sizes[1], sizes[3])
            yield (inputs, g, cell, *out[2:], biases, steps, reverse, wants_input), {}


@instances("gru")
def gru(d):
    for sizes in RECURRENT:
        for reverse, biases in ((False, True), (True, False)):
            inputs, steps = recurrent_case(d, sizes, 3, False, biases)
            yield (inputs, steps, reverse), {}


@instances("gru_back")
def gru_back(d):
    for sizes in RECURRENT:
        for reverse, biases, wants_input in ((False, True, True), (True, False, False)):
            inputs, steps = recurrent_case(d, sizes, 3, False, biases)
            out = namespace.gru(inputs, steps, reverse)
            g = d(sizes[0], sizes[1], sizes[3])
            yield (inputs, g, *out[1:], steps, reverse, wants_input), {}


@instances("rnn")
def rnn(d):
    for sizes in RECURRENT:
        for activation, reverse, biases in (("tanh", False, True), ("relu", True, False)):
            inputs, steps = recurrent_case(d, sizes, 1, False, biases)
            yield (inputs, activation, steps, reverse), {}


@instances("rnn_back")
def rnn_back(d):
    for sizes in RECURRENT:
        for activation, reverse, biases, wants_input in (
            ("tanh", False, True, True),
            ("relu", True, False, False),
            ("tanh", True, True, True),
        ):
            inputs, steps = recurrent_case(d, sizes, 1, False, biases)
            _, states = namespace.rnn(inputs, activation, steps, reverse)
            g = d(sizes[0], sizes[1], sizes[3])
            yield (inputs, g, states, activation, steps, reverse, wants_input), {}


@instances("window_maximum")
def window_maximum(d):
    for n, kernel, stride, padding, dilation in (
        (6, 2, 2, 0, 1),
        (27, 2, 2, 0, 1),
        (7, 3, 2, 1, 1),
        (9, 3, 1, 1, 1),
        (12, 3, 3, 0, 2),
        (9, 9, 1, 0, 1),
        (31, 4, 3, 2, 2),
    ):
        out = (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        window = max_pool.regular(n, out, kernel, stride, padding, dilation)
        one = max_pool.regular(1, 1, 1, 1, 0)
        x = d(2, 3, n, n)
        yield (x, (window, window)), {}
        yield (np.round(x), (window, window)), {}
        yield (d(2, 3, 1, n), (one, window)), {}
        yield (d(5, n), (window,)), {}
        x = d(2, 3, n, n)
        x[0, 0, 1, 1] = x[0, 1, 0, :] = np.nan
        x[1] = -np.inf
        yield (x, (window, window)), {}
    wide = max_pool.regular(9, 5, 2, 2, 0)  # the last window is cut at the edge
    yield (d(2, 9, 9), (wide, wide)), {}
    yield (d(2, 8, 8), (max_pool.adaptive(8, 4), max_pool.adaptive(8, 2))), {}


def averages(n, kernel, stride, padding, with_padding=True, divisor=None):
    from tapegrad.operators.nn.avg_pool import averaging

    out = (n + 2 * padding - kernel) // stride + 1
    return averaging(
        (n, n), (out, out), *[(k, k) for k in (kernel, stride, padding)], with_padding, divisor
    )


@instances("resample")
def resample(d):
    from tapegrad.arrays.numpy.interpolate import Separable

    for through in (
        averages(6, 2, 2, 0),
        averages(7, 3, 2, 1),
        averages(7, 3, 2, 1, with_padding=False),
        averages(9, 3, 1, 0, divisor=5),
        averages(40, 40, 1, 0),
        Separable((max_pool.adaptive(7, 3).taps, max_pool.adaptive(5, 4).taps)),
        Separable((max_pool.regular(9, 4, 3, 2, 0).taps,), 3),
    ):
        n = [taps.n_in for taps in through.axes]
        yield (d(2, 3, *n), through), {}
        yield (d(2, 3, *through.sizes), through.reverse), {}


# images, kernels, stride, padding, dilation, groups
CONVOLUTIONS = (
    ((2, 3, 9, 11), (20, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 5, 40, 40), (40, 5, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 70, 12, 7), (33, 70, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((3, 4, 9, 10), (6, 4, 5, 3), (2, 3), (2, 0), (1, 1), 1),
    ((2, 4, 15, 16), (24, 4, 3, 2), (2, 2), (1, 1), (3, 2), 1),
    ((2, 4, 15, 16), (24, 4, 2, 2), (3, 4), (0, 1), (1, 2), 1),
    ((1, 40, 20, 20), (40, 1, 3, 3), (1, 1), (1, 1), (1, 1), 40),
    ((1, 10, 21, 50), (20, 1, 3, 3), (2, 2), (1, 1), (1, 1), 10),
    ((2, 40, 9, 9), (60, 20, 3, 3), (1, 1), (1, 1), (2, 2), 2),
    ((2, 24, 7, 8), (50, 24, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 24, 7, 8), (50, 24, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((2, 24, 1, 1), (5, 24, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 3, 30, 30), (2, 3, 7, 7), (1, 1), (3, 3), (1, 1), 1),
    ((1, 3, 6, 6), (20, 3, 3, 3), (1, 1), (4, 5), (1, 1), 1),
    ((2, 6, 3000), (18, 6, 5), (1,), (2,), (1,), 1),
    ((2, 6, 301), (18, 6, 4), (3,), (2,), (2,), 1),
    ((2, 6, 100), (6, 1, 9), (1,), (8,), (2,), 6),
)


def convolution_cases(d):
    """Images, kernels and places of a convolution, and the arguments behind these."""
    for x, w, stride, padding, dilation, groups in CONVOLUTIONS:
        steps = zip(x[2:], w[2:], stride, padding, dilation, strict=True)
        size = [(n + 2 * p - e * (k - 1) - 1) // s + 1 for n, k, s, p, e in steps]
        yield d(*x), d(*w), d(x[0], w[0], *size), (stride, padding, dilation, groups)


@instances("convolve")
def convolve(d):
    for x, w, y, steps in convolution_cases(d):
        yield (x, w, None, *steps, y.shape[2:]), {}
        yield (x, w, d(len(w)), *steps, y.shape[2:]), {}
    x, w, y, steps = next(convolution_cases(d))
    yield (x, w, None, *steps, (7, 5)), {}  # not all places


@instances("convolve_transposed")
def convolve_transposed(d):
    for x, w, y, steps in convolution_cases(d):
        yield (y, w, None, *steps, x.shape[2:]), {}
        yield (y, w, d(x.shape[1]), *steps, x.shape[2:]), {}


@instances("convolve_weights")
def convolve_weights(d):
    for x, w, y, steps in convolution_cases(d):
        yield (x, y, *steps, w.shape[2:]), {}


@instances("take_places")
def take_places(d):
    yield (d(2, 3, 5, 5), d.index(25, 2, 3, 2, 2), 2), {}


@instances("put_places")
def put_places(d):
    for add in (True, False):
        yield (d(2, 3, 4, 4), d.index(49, 2, 3, 4, 4), (7, 7), add), {}


@instances("take")
def take(d):
    yield (d(11, 8), d.index(11, 10)), {"axis": 0}
    yield (d(11, 8), d.index(8, 3)), {"axis": 1}
    yield (d(20), d.index(20, 5)), {"axis": 0}


@instances("read_at")
def read_at(d):
    yield (d(11, 8), d.index(11, 10), (0,)), {}
    yield (d(11, 8, 2), d.index(11, 4, 3) - 11, (0,)), {}
    yield (d(5, 4), np.stack([d.index(5, 9), d.index(4, 9) - 4]), (0, 1)), {}
    yield (d(5, 4, 6), np.stack([d.index(5, 2, 9), d.index(4, 2, 9)]), (0, 1)), {}
    yield (d(5, 4, 6, 2), np.stack([d.index(k, 9) for k in (5, 4, 6)]), (0, 1, 2)), {}


@instances("add_at")
def add_at(d):
    yield (d(9), (5, 4), np.stack([d.index(5, 9), d.index(4, 9) - 4]), (0, 1)), {}
    yield (d(9, 2), (5, 4, 6, 2), np.stack([d.index(k, 9) for k in (5, 4, 6)]), (0, 1, 2)), {}
    yield (d(10, 8), (11, 8), d.index(11, 10), (0,)), {}
    yield (d(3, 20), (3, 4), d.index(4, 20), (1,)), {}
    yield (d(4, 3, 2), (11, 2), d.index(11, 4, 3) - 11, (0,)), {}


@instances("spread_rows")
def spread_rows(d):
    yield (d(10, 8), d.index(11, 10), 11, -1, False), {}
    yield (d(20, 5, 8), d.index(6, 20, 5), 6, 2, False), {}
    yield (d(20, 5, 8), d.index(6, 20, 5), 9, 2, True), {}
    yield (d(50, 33), d.index(70_001, 50), 70_001, -1, False), {}


def along_cases(d):
    for shape, axis, m in (((3, 4), 1, 6), ((3, 4), 0, 2), ((2, 5, 3), 1, 4), ((7,), 0, 3)):
        have = (*shape[:axis], m, *shape[axis + 1 :])
        yield shape, axis, d.index(shape[axis], *have)


@instances("gather_along")
def gather_along(d):
    for shape, axis, index in along_cases(d):
        yield (d(*shape), index, axis), {}


@instances("take_along_axis")
def take_along_axis(d):
    for shape, axis, index in along_cases(d):
        yield (d(*shape), index), {"axis": axis}


@instances("scatter_along")
def scatter_along(d):
    for shape, axis, index in along_cases(d):
        for how in ("write", "add"):
            yield (d(*shape), index, d(*index.shape), axis, how), {}
            yield (d(*shape), index, d(), axis, how), {}


@instances("add_along")
def add_along(d):
    for shape, axis, index in along_cases(d):
        yield (d(*index.shape), shape, index, axis), {}


@instances("put_along")
def put_along(d):
    for shape, axis, index in along_cases(d):
        yield (d(*index.shape), index, shape, axis), {}


@instances("write_at")
def write_at(d):
    for add in (True, False):
        yield (d(6, 4), d(3, 4), d.index(6, 3), (0,), add), {}
        yield (d(2, 6, 4), d(2, 3, 4), d.index(6, 3), (1,), add), {}


@instances("concat")
def concat(d):
    yield ((d(3, 4), d(3, 2)),), {"axis": 1}
    yield ((d(3, 4), d(2, 4), d(0, 4)),), {"axis": 0}
    yield (tuple(d(2, 3, k) for k in range(1, 9)),), {"axis": -1}
    yield ((d(4, 3).T, d(3, 2)),), {"axis": 1}
    yield ((d.index(9, 3), d.index(9, 4)),), {"axis": 0}


@instances("stack")
def stack(d):
    for axis in (0, 1, 2, -1):
        yield ((d(3, 4), d(3, 4), d(3, 4)),), {"axis": axis}
    yield ((d(), d()),), {"axis": 0}


@instances("gelu")
def gelu(d):
    for approximate in ("none", "tanh"):
        yield (d(7) * 4, approximate), {}
        yield (d(3, 3000, 2), approximate), {}


@instances("gelu_back")
def gelu_back(d):
    for approximate in ("none", "tanh"):
        yield (d(7), d(7) * 4, approximate), {}
        yield (d(3, 3000, 2), d(3, 3000, 2), approximate), {}


@instances("matmul")
def matmul(d):
    yield (d(80, 70), d(70, 60)), {}
    yield (d(70, 80).T, d(60, 70).T), {}
    yield (d(2, 80, 70)[:, :, ::2], d(2, 35, 60)), {}
    for lead in ((3,), (2, 3), (2, 2, 2)):
        yield (d(*lead, 90, 70), d(*lead, 70, 30)), {}
        yield (d(*lead, 90, 70), d(*lead, 30, 70).mT), {}
    yield (d(5, 4, 40, 30).transpose(0, 2, 1, 3).mT, d(5, 40, 4, 20)), {}
    yield (d(6, 80, 30), d(30, 40)), {}
    yield (d(2, 3, 80, 30), d(30, 40)), {}


@instances("add_product")
def add_product(d):
    yield (d(60), d(50, 70), d(70, 60)), {}
    yield (d(70), d(300, 120), d(70, 120).T), {}  # long enough for threads, with rows left over
    yield (d(1, 120)[:, ::2], d(70, 80).T, d(60, 70).T), {}
    for x in (d(80, 60), d(60, 80).T, d(80, 1), d(80, 9)[:, 4:5], d(1, 1), d()):
        yield (x, d(80, 70), d(70, 60)), {}
    yield (d(60), d(80, 140)[:, ::2], d(140, 60)[::2]), {}


@instances("sum")
def sum_(d):
    yield (d(30, 70),), {"axis": 0}
    for shape, axis in (((300, 200), (0,)), ((5, 1000, 65), (0, 1)), ((4, 3, 2, 5), (0, 1, 2))):
        yield (d(*shape),), {"axis": axis}


@instances("where")
def where(d):
    x, y = d(3, 40, 50), d(3, 40, 50)
    for mask in (x > 0, x[:1] > 0, x[0] > 0, x[0, 0] > 0):
        yield (mask, x, y), {}
        yield (mask, 0.0, y), {}
        yield (mask, x, float("-inf")), {}
        yield (mask, d(), y), {}
        yield (mask, x, 2), {}


@instances("cumulative_sum")
def cumulative_sum(d):
    for shape, axis in (((3, 4), 1), ((3, 4), 0), ((2, 5, 70), 1), ((100_000,), 0)):
        yield (d(*shape),), {"axis": axis}


@instances("argmax")
@instances("argmin")
def argmax(d):
    for n in (1, 5, 31, 64, 100, 1000):
        x = np.round(d(4, n) * 3)
        x[1, n // 2] = np.nan
        x[2, n // 3 :] = np.nan
        x[3] = -np.inf
        yield (x,), {"axis": 1, "keepdims": True}
    yield (d(3, 40),), {"axis": -1}
    yield (d(3, 40),), {}


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", INSTANCES)
def test_c_gives_what_the_kernel_gives(name, suffix):
    for function in INSTANCES[name]:
        for args, kwargs in function(Draw(TYPES[suffix])):
            with np.errstate(all="ignore"):
                checked(name, args, kwargs, TOLERANCE[suffix])


@pytest.mark.skipif(not pool.IS_THERE, reason="no POSIX threads")
@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", INSTANCES)
def test_threads_leave_the_bits_as_they_are(name, suffix):
    for function in INSTANCES[name]:
        for args, kwargs in function(Draw(TYPES[suffix])):
            with np.errstate(all="ignore"):
                run, want, _ = prepared(name, args, kwargs)
                run()
                for threads in (1, 2, 3):
                    shared = prepared(name, args, kwargs, threads=threads)
                    if shared is not None:
                        run, found, _ = shared
                        assert not run()
                        for a, b in zip(found, want, strict=True):
                            assert a.tobytes() == b.tobytes()


SHARED = (
    "standardize_rows standardize_rows_back standardize_rows_weight_back sum_rows softmax_along "
    "softmax_back log_softmax_along log_softmax_back attend attend_back pick unpick take read_at "
    "spread_rows gather_along take_along_axis scatter_along add_along put_along window_maximum "
    "take_places put_places resample cumulative_sum argmax argmin channel_moments "
    "convolve convolve_transposed convolve_weights "
    "standardize_channels standardize_channels_back sum_channels scale_channels "
    "lstm lstm_back gru gru_back rnn rnn_back gelu gelu_back where add_product sum "
    "concat stack"
).split()


@pytest.mark.parametrize("name", SHARED)
def test_threads_share_what_is_long(name):
    args, kwargs = next(INSTANCES[name][0](Draw(np.float32)))
    assert call_of(name, *args, **kwargs).shared == ""
    assert prepared(name, args, kwargs, threads=2) is not None


def test_every_template_has_instances():
    assert {f"xp.{name}" for name in INSTANCES} == TEMPLATES.keys()


def index_errors(d):
    """Calls of kernels with an index that is too large, or too small."""
    for bad in (7, -8):
        index = np.array([0, bad, 1])
        yield "take", (d(7, 2), index), {"axis": 0}
        yield "read_at", (d(7, 2), index, (0,)), {}
        yield "read_at", (d(7, 7), np.stack([[0, 6, 1], index]), (0, 1)), {}
        yield "add_at", (d(3), (7, 7), np.stack([index, [0, 6, 1]]), (0, 1)), {}
        yield "add_at", (d(3, 2), (7, 2), index, (0,)), {}
        yield "gather_along", (d(7), index, 0), {}
        yield "scatter_along", (d(7), index, d(3), 0, "write"), {}
        yield "scatter_along", (d(7), index, d(3), 0, "add"), {}
        yield "add_along", (d(3), (7,), index, 0), {}
        yield "put_along", (d(3), index, (7,), 0), {}
        yield "write_at", (d(7, 2), d(3, 2), index, (0,), False), {}
        yield "write_at", (d(7, 2), d(3, 2), index, (0,), True), {}


@pytest.mark.parametrize("suffix", TYPES)
def test_an_index_out_of_range_is_reported(suffix):
    for name, args, kwargs in index_errors(Draw(TYPES[suffix])):
        good = tuple([x % 7 if isinstance(x, np.ndarray) and x.dtype == int else x for x in args])
        run, *_ = prepared(name, good, kwargs)
        assert run() == 0
        for threads in (0, 2):
            found = prepared(name, good, kwargs, instead=args, threads=threads)
            assert found is None or found[0]() != 0, name


def uncovered(d):
    """Calls of kernels that no template stands for."""
    yield "standardize_rows", (d(3, 4).astype(np.float16), None, None, 1, 1e-5), {}
    yield "softmax_along", (d(3, 4).astype(complex), 1), {}
    yield "log_softmax_along", (d(), ()), {}
    yield "attend", ((d(1, 2, 3, 4), d(2, 2, 3, 4), d(2, 2, 3, 4)), 1.0, False), {}
    yield "take", (d(3, 4), np.array([1], np.int32)), {"axis": 0}
    yield "read_at", (d(3, 4, 5), np.array([[1], [2]]), (1, 2)), {}
    yield "lstm", ((d(3, 2), d(2, 1), d(2, 1), d(4, 2), d(4, 1)), False, (2, 1), False), {}
    yield "concat", (tuple(d(2) for _ in range(9)),), {"axis": 0}


def test_what_no_template_stands_for():
    for name, args, kwargs in uncovered(Draw(np.float64)):
        try:
            found = call_of(name, *args, **kwargs)
        except ValueError:
            continue  # nor does the kernel take it
        assert found is None, name


def recorded(function, *arrays, parameters=()):
    """The program of a function of tensors, and of its gradients."""
    with Program() as program:
        for each in parameters:
            each._array = program.input(each._array)
        inputs = [wrap(program.input(x)) for x in arrays]
        leaves = [x.requires_grad_() for x in inputs if x.dtype.is_floating_point]
        y = function(*inputs)
        y = y[0] if isinstance(y, tuple) else y
        g = wrap(program.input(np.ones(y.shape, y._array.dtype)))
        tapegrad.autograd.grad([y], [*leaves, *parameters], [g])
    return program


class Block(nn.Module):
    """A block of a transformer, with an embedding before it and a loss behind."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(11, 8), nn.LayerNorm(8)
        self.qkv, self.head = nn.Linear(8, 24), nn.Linear(8, 11)

    def forward(self, index, target):
        x = self.embedding(index)
        n, length, width = x.shape
        parts = self.qkv(self.norm(x)).split(width, 2)
        q, k, v = (each.view(n, length, 2, width // 2).transpose(1, 2) for each in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(n, length, width)
        return F.cross_entropy(self.head(x).flatten(0, 1), target.flatten())


BLOCK = """
attend attend_back concat log_softmax_along log_softmax_back matmul pick spread_rows
standardize_rows standardize_rows_back standardize_rows_weight_back sum sum_rows take unpick
"""
BATCH_NORM = """
channel_moments standardize_channels standardize_channels_back standardize_channels_weight_back
sum_channels
"""
_index = np.arange(10).reshape(2, 5)
_x = np.linspace(-1, 1, 2 * 3 * 6 * 6, dtype=np.float32).reshape(2, 3, 6, 6)
MODELS = {
    "transformer": (Block, (_index, _index), BLOCK),
    "LSTM": (lambda: nn.LSTM(6, 4, batch_first=True), (_x[0],), "lstm lstm_back stack"),
    "GRU": (lambda: nn.GRU(6, 4), (_x[0],), "gru gru_back stack"),
    "RNN": (lambda: nn.RNN(6, 4), (_x[0],), "rnn rnn_back stack"),
    "batch norm": (lambda: nn.BatchNorm2d(3), (_x,), BATCH_NORM),
    "group norm": (lambda: nn.GroupNorm(3, 3), (_x,), BATCH_NORM),
    "max pooling": (lambda: nn.MaxPool2d(2), (_x,), "window_maximum put_places"),
    "average pooling": (lambda: nn.AvgPool2d(2), (_x,), "resample"),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_records_has_templates(name):
    make, arrays, kernels = MODELS[name]
    module = make()
    program = recorded(module, *arrays, parameters=list(module.parameters()))
    calls = [(x.text, call_for(x, program.constants)) for x in program.instructions]
    assert {text[3:] for text, call in calls if call is not None} == set(kernels.split())
    loops = {"xp.sum"}  # of other axes than the first: programs have loops of all sums
    assert [text for text, call in calls if call is None and text in TEMPLATES.keys() - loops] == []
