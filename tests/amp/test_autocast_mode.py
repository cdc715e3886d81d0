"""Mixed precision: which function runs in which dtype, gradients, the cache of casts, the state."""

import threading

import numpy as np
import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad.amp import cast
from tapegrad.nn.utils.rnn import PackedSequence
from tests.amp.functions import calls
from tests.command import run_code

A = torch.randn(4, 4)
CALLS = calls(torch)


def weight():
    return torch.randn(4, 4).requires_grad_()


def name_of(x):
    return str(x.dtype).removeprefix("torch.")


@pytest.mark.filterwarnings("ignore:torch.(lu|triangular)_solve is deprecated")
@pytest.mark.parametrize(
    ("call", "from_float32", "from_bfloat16"),
    [pytest.param(*rest, id=name) for name, *rest in CALLS],
)
def test_a_function_runs_in_its_precision(call, from_float32, from_bfloat16):
    with torch.autocast("cpu"):
        assert name_of(call(lambda x: x)) == from_float32
        assert name_of(call(lambda x: x.to(torch.bfloat16))) == from_bfloat16
        assert call(lambda x: x.double()).dtype in (torch.float64, torch.complex128, torch.float32)


@pytest.mark.filterwarnings("ignore:torch.(lu|triangular)_solve is deprecated")
def test_every_name_of_the_table_is_that_of_a_function(monkeypatch):
    """Those that ask for themselves, by a line of their own, are named here."""
    asked = "addmm bmm cat cross_entropy linear lstm matmul mm nll_loss rnn_relu rnn_tanh stack"
    asked += " fractional_max_pool2d fractional_max_pool3d reflection_pad1d reflection_pad2d"
    asked += " replication_pad1d replication_pad2d replication_pad3d"
    seen, run = set(), cast.call_in_precision

    def spy(name, *rest):
        seen.add(name)
        return run(name, *rest)

    monkeypatch.setattr(cast, "call_in_precision", spy)
    with torch.autocast("cpu"):
        for _, call, *_ in CALLS:
            call(lambda x: x)
        torch.index_copy(A, 0, torch.tensor([0]), A[:1])
    aliases = {"orgqr", "grid_sampler_2d", "grid_sampler_3d"}  # of functions that were seen
    assert seen | set(asked.split()) | aliases == set(cast.PRECISION)


def test_operands_of_several_dtypes_are_brought_to_one():
    half, brain, double = A.half(), A.bfloat16(), A.double()
    with torch.autocast("cpu"):
        assert torch.mm(brain, A).dtype is torch.bfloat16
        assert F.linear(half, A, brain[0]).dtype is torch.bfloat16
        assert F.mse_loss(half, brain).dtype is torch.float32
        assert F.mse_loss(double, brain).dtype is torch.float64
        assert torch.mm(double, double).dtype is torch.float64
        assert torch.mm(A.long(), A.long()).dtype is torch.int64
        assert torch.mm(A.cfloat(), A.cfloat()).dtype is torch.complex64
        assert torch.cat([brain, A]).dtype is torch.float32
        assert torch.stack([brain, double]).dtype is torch.float64
        assert torch.index_copy(brain, 0, torch.tensor([0]), A[:1]).dtype is torch.float32
        with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
            torch.mm(brain, double)
        with pytest.raises(RuntimeError, match="Unexpected floating ScalarType in at::autocast"):
            torch.cat([brain, half])
        out = torch.empty(4, 4)
        assert torch.mm(A, A, out=out).dtype is torch.float32  # a given place is left alone


def test_gradients_of_parameters_have_their_dtype():
    w, b = weight(), torch.randn(4).requires_grad_()
    with torch.autocast("cpu"):
        y = F.linear(A, w, b)
        loss = F.mse_loss(y, torch.zeros(4, 4))
    assert (y.dtype, loss.dtype) == (torch.bfloat16, torch.float32)
    loss.backward()
    assert w.grad.dtype is b.grad.dtype is torch.float32
    exact = F.mse_loss(F.linear(A, w, b), torch.zeros(4, 4))
    expected = torch.autograd.grad(exact, [w, b])
    for found, wanted in zip((w.grad, b.grad), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=5e-2, atol=2e-2)


def test_a_parameter_is_cast_once_in_a_block():
    w = weight()
    with torch.autocast("cpu"):
        with torch.no_grad():
            A @ w
        first, second = A @ w, A @ w
        source = first.grad_fn.next_functions[1][0]
        assert type(source).__name__ == "ToCopyBackward0"
        assert second.grad_fn.next_functions[1][0] is source
        with torch.autocast("cpu"):
            assert (A @ w).grad_fn.next_functions[1][0] is source
        torch.clear_autocast_cache()
        assert (A @ w).grad_fn.next_functions[1][0] is not source
    with torch.autocast("cpu"):
        assert (A @ w).grad_fn.next_functions[1][0] is not source
    with torch.autocast("cpu", cache_enabled=False):
        a, b = A @ w, A @ w
        assert a.grad_fn.next_functions[1][0] is not b.grad_fn.next_functions[1][0]


def test_a_cast_is_made_anew_when_the_parameter_was_written():
    w = weight()
    with torch.autocast("cpu"):
        before = A @ w
        with torch.no_grad():
            w.mul_(2)
        np.testing.assert_array_equal((A @ w).float().tolist(), (before.float() * 2).tolist())
        w.data = torch.zeros(4, 4)
        assert not (A @ w).any()


def test_casts_do_not_outlive_the_block():
    w = weight()
    with torch.autocast("cpu"):
        A @ w
        assert cast.STATE.get().cache
    assert not cast.STATE.get().cache


def test_blocks_nest():
    with torch.autocast("cpu"):
        assert (A @ A).dtype is torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert (A @ A).dtype is torch.float32
            assert not torch.is_autocast_enabled("cpu")
            with torch.autocast("cpu", torch.float16):
                assert (A @ A).dtype is torch.float16
                assert torch.get_autocast_dtype("cpu") is torch.float16
        assert (A @ A).dtype is torch.bfloat16
    assert (A @ A).dtype is torch.float32


def test_one_object_may_be_entered_twice():
    block = torch.autocast("cpu")
    with block:
        with block:
            assert (A @ A).dtype is torch.bfloat16
        assert (A @ A).dtype is torch.bfloat16
    assert (A @ A).dtype is torch.float32


def test_an_error_ends_the_block():
    with pytest.raises(KeyError), torch.autocast("cpu"):
        raise KeyError("stop")
    assert not torch.is_autocast_enabled("cpu")


def test_a_function_can_be_decorated():
    @torch.autocast("cpu")
    def product(x):
        """Of a tensor and itself."""
        return x @ x

    assert product(A).dtype is torch.bfloat16
    assert (product.__name__, product.__doc__) == ("product", "Of a tensor and itself.")
    assert not torch.is_autocast_enabled("cpu")


def test_another_thread_begins_without():
    found = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append((A @ A).dtype))
        thread.start()
        thread.join()
    assert found == [torch.float32]


def test_the_inside_of_a_function_runs_without():
    """Were it on inside, the product of the factors would be in bfloat16."""
    x = torch.eye(4) + 1e-4 * A
    with torch.autocast("cpu"):
        inverse = torch.pinverse(x)
    np.testing.assert_allclose(inverse.tolist(), torch.pinverse(x).tolist(), atol=1e-6)


def test_forward_mode_takes_casts_along():
    import tapegrad.autograd.forward_ad as fwAD

    with fwAD.dual_level(), torch.autocast("cpu"):
        y = fwAD.make_dual(A, torch.ones(4, 4)) @ torch.eye(4)
        tangent = fwAD.unpack_dual(y).tangent
    assert tangent.dtype is torch.bfloat16
    assert tangent.tolist() == torch.ones(4, 4).tolist()


# --- recurrent layers: PyTorch's dtypes ------------------------------------------------------

RECURRENT = [
    (torch.nn.LSTM, {}, ("bfloat16", "bfloat16", "bfloat16"), ("float32", "float32", "float32")),
    (
        torch.nn.LSTM,
        {"proj_size": 2},
        ("bfloat16", "bfloat16", "float32"),
        ("bfloat16", "bfloat16", "float32"),
    ),
    (torch.nn.GRU, {"bidirectional": True}, ("float32", "float32"), ("float32", "float32")),
    (torch.nn.GRU, {"num_layers": 2}, ("float32", "float32"), ("float32", "float32")),
    (torch.nn.RNN, {}, ("bfloat16", "bfloat16"), ("bfloat16", "bfloat16")),
]


@pytest.mark.parametrize(("layer", "options", "padded", "packed"), RECURRENT)
def test_recurrent_layers(layer, options, padded, packed):
    torch.manual_seed(0)
    module = layer(3, 5, **options)
    x = torch.randn(6, 4, 3)
    rows = torch.nn.utils.rnn.pack_padded_sequence(x, [6, 5, 5, 1])
    for data, wanted in ((x, padded), (rows, packed)):
        exact = _parts(module(data))
        with torch.autocast("cpu"):
            found = _parts(module(data))
        assert tuple(map(name_of, found)) == wanted
        for a, b in zip(found, exact, strict=True):
            np.testing.assert_allclose(a.float().tolist(), b.tolist(), atol=0.03)
        found[0].float().square().sum().backward()
        assert module.weight_hh_l0.grad.dtype is torch.float32


def _parts(result):
    output, state = result
    return [
        output.data if isinstance(output, PackedSequence) else output,
        *(state if isinstance(state, tuple) else (state,)),
    ]


def test_cells_keep_their_state_in_float32():
    x = torch.randn(2, 3)
    with torch.autocast("cpu"):
        h, c = torch.nn.LSTMCell(3, 4)(x)
        assert h.dtype is c.dtype is torch.float32
        assert torch.nn.GRUCell(3, 4)(x).dtype is torch.float32
        assert torch.nn.RNNCell(3, 4)(x).dtype is torch.bfloat16
        assert torch.nn.GRU(3, 4)(x.bfloat16())[0].dtype is torch.bfloat16


def test_attention_and_transformers():
    x = torch.randn(5, 2, 8)
    with torch.autocast("cpu"):
        y, weights = torch.nn.MultiheadAttention(8, 2)(x, x, x)
        assert y.dtype is weights.dtype is torch.bfloat16
        assert torch.nn.TransformerEncoderLayer(8, 2, 16)(x).dtype is torch.float32


# --- training: PyTorch's losses --------------------------------------------------------------


def _images(dtype):
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3),
    )  # fmt: skip
    x, y = torch.randn(32, 1, 8, 8), torch.randint(0, 3, (32,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype is torch.float16)
    losses = []
    for _ in range(10):
        with torch.autocast("cpu", dtype):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


IMAGES = {
    torch.bfloat16: [
        1.1072, 1.0429, 1.0112, 0.9726, 0.9147, 0.8734, 0.763, 0.6689, 0.5914, 0.4983,
    ],
    torch.float16: [
        1.1071, 1.0433, 1.0113, 0.9731, 0.915, 0.8735, 0.7636, 0.6699, 0.5915, 0.4988,
    ],
}  # fmt: skip


@pytest.mark.parametrize("dtype", list(IMAGES))
def test_a_network_of_images_learns_as_in_pytorch(dtype):
    np.testing.assert_allclose(_images(dtype), IMAGES[dtype], atol=2e-3)


SEQUENCES = {
    torch.nn.LSTM: [17.9543, 17.6609, 17.3944, 17.1018, 16.7247, 16.1968, 15.4882, 14.5617],
    torch.nn.GRU: [31.0955, 30.2021, 29.232, 28.0391, 26.5768, 24.9375, 23.3136, 21.9143],
    torch.nn.RNN: [16.1422, 14.853, 13.8372, 13.1749, 12.8001, 12.5702, 12.3497, 12.0895],
}


class _Reader(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer(3, 8, batch_first=True)
        self.head = torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


@pytest.mark.parametrize("layer", list(SEQUENCES))
def test_recurrent_networks_learn_as_in_pytorch(layer):
    torch.manual_seed(0)
    model = _Reader(layer)
    x = torch.randn(16, 7, 3)
    y = x.sum((1, 2))[:, None]
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    losses = []
    for _ in range(8):
        with torch.autocast("cpu"):
            loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    np.testing.assert_allclose(losses, SEQUENCES[layer], rtol=2e-3)


# --- custom functions ------------------------------------------------------------------------


class _Context:
    pass


def test_custom_forward_casts_and_switches_off():
    seen = []

    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, others, scale=None):
        seen.append((x.dtype, others["a"][0].dtype, torch.is_autocast_enabled("cpu")))
        return x

    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return g

    ctx = _Context()
    with torch.autocast("cpu", torch.float16):
        forward(ctx, A.bfloat16(), {"a": [A.half()]}, scale="text")
    backward(ctx, A)
    assert seen == [(torch.float32, torch.float32, False), (False, torch.float16)]


def test_custom_backward_runs_as_forward_did():
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x):
        return x @ x

    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        return g @ g

    ctx = _Context()
    with torch.autocast("cpu", torch.float16):
        assert forward(ctx, A).dtype is torch.float16
    assert backward(ctx, A).dtype is torch.float16
    assert forward(ctx, A).dtype is torch.float32
    assert backward(ctx, A).dtype is torch.float32
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.amp.custom_fwd(forward, device_type=3)


# --- state, warnings, errors -----------------------------------------------------------------


def test_the_state_can_be_asked_and_set():
    assert not torch.is_autocast_enabled() and not torch.is_autocast_enabled("cpu")
    assert torch.get_autocast_dtype("cuda") is torch.float16
    torch.set_autocast_dtype("cpu", torch.float16)
    torch.set_autocast_enabled("cpu", True)
    try:
        assert (A @ A).dtype is torch.float16
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled()
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_cache_enabled(False)
    assert not torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(True)
    with pytest.deprecated_call(match="Please use torch.get_autocast_dtype\\('cpu'\\) instead"):
        assert torch.get_autocast_cpu_dtype() is torch.bfloat16


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: torch.autocast("foo"), RuntimeError, "Expected one of cpu, cuda, ipu"),
        (lambda: torch.autocast("meta"), RuntimeError, "unsupported scalarType"),
        (
            lambda: torch.autocast("vulkan", torch.float16),
            RuntimeError,
            "User specified an unsupported autocast device_type 'vulkan'",
        ),
        (lambda: torch.autocast(3), ValueError, "Expected `device_type` of type `str`, got: "),
        (
            lambda: torch.is_autocast_enabled("meta"),
            RuntimeError,
            "unknown device type for autocast in get_autocast_dispatch_key_from_device_type",
        ),
        (
            lambda: torch.set_autocast_dtype("cpu", 3),
            TypeError,
            r"argument 'dtype' \(position 2\) must be torch.dtype, not int",
        ),
        (lambda: torch.set_autocast_enabled(1), TypeError, "argument 'enabled'"),
        (lambda: torch.set_autocast_cache_enabled(1), TypeError, r"must be a bool \(got int\)"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_what_is_not_supported_warns_and_does_nothing():
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported"):
        block = torch.autocast("cpu", torch.float32)
    with block:
        assert (A @ A).dtype is torch.float32
    with pytest.warns(UserWarning, match="CUDA is not available or torch_xla is imported"):
        block = torch.autocast("cuda")
    with block:
        assert (A @ A).dtype is torch.float32
    assert torch.amp.is_autocast_available("cuda")
    assert not torch.amp.is_autocast_available("meta")


def test_older_names_warn():
    with pytest.warns(FutureWarning, match=r"use `torch.amp.autocast\('cpu', args...\)` instead"):
        block = torch.cpu.amp.autocast()
    with block:
        assert (A @ A).dtype is torch.bfloat16
    with (
        pytest.warns(FutureWarning, match=r"`torch.cuda.amp.autocast\(args...\)` is deprecated"),
        pytest.warns(UserWarning, match="CUDA is not available"),
    ):
        assert not torch.cuda.amp.autocast()._enabled
    with (
        pytest.warns(FutureWarning, match=r"`torch.cuda.amp.GradScaler\(args...\)` is deprecated"),
        pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"),
    ):
        assert not torch.cuda.amp.GradScaler().is_enabled()
    with pytest.warns(FutureWarning, match=r"`torch.cpu.amp.GradScaler\(args...\)`"):
        assert torch.cpu.amp.GradScaler().is_enabled()
    with pytest.warns(FutureWarning, match=r"`torch.cuda.amp.custom_bwd\(args...\)`"):
        assert callable(torch.cuda.amp.custom_bwd(lambda ctx, g: g))
    assert torch.cuda.amp.common.amp_definitely_not_available()


def test_without_ml_dtypes_the_first_use_says_what_to_install():
    printed = run_code(
        "import sys\n"
        "sys.modules['ml_dtypes'] = None\n"
        "import tapegrad as torch\n"
        "try:\n"
        "    with torch.autocast('cpu'):\n"
        "        print('inside', torch.get_autocast_dtype('cpu'))\n"
        "        torch.eye(2) @ torch.eye(2)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
        "print(torch.is_autocast_enabled('cpu'))\n"
        "with torch.autocast('cpu', torch.float16):\n"
        "    print((torch.eye(2) @ torch.eye(2)).dtype)\n"
    )
    assert printed.startswith("inside torch.bfloat16\n")
    assert 'pip install "tapegrad[bfloat16]"' in printed
    assert printed.splitlines()[-2:] == ["False", "torch.float16"]
