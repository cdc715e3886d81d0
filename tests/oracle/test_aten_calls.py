"""Operators of `torch.ops.aten`, called as PyTorch's own programs call them."""

import subprocess
import sys
from pathlib import Path

import pytest

import tapegrad
from tests import needs

needs.pytorch()

CALLS = Path(__file__).with_name("aten_calls.txt").read_text().splitlines()


def names(torch):
    """What a call is written with."""

    def waves(*shape):
        n = 1
        for each in shape:
            n *= each
        return (torch.arange(n, dtype=torch.float32).reshape(shape) * 0.37).sin()

    return {
        "torch": torch,
        "aten": torch.ops.aten,
        "T": waves,
        "x": waves(3, 4),
        "y": waves(4, 3) + 0.1,
        "w": waves(5, 4),
        "b": waves(5),
        "img": waves(2, 3, 6, 6),
        "k": waves(4, 3, 3, 3),
        "i": torch.tensor([2, 0]),
        "g": waves(3, 4) + 0.2,
    }


def plain(torch, value):
    """A result as numbers, with dtypes and shapes."""
    if isinstance(value, tuple | list):
        return [plain(torch, each) for each in value]
    if not isinstance(value, torch.Tensor):
        return value
    kind, shape = str(value.dtype), list(value.shape)
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    return [kind, shape, value.flatten().tolist()]


def check(ours, theirs):
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            check(a, b)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4, nan_ok=True)
    else:
        assert ours == theirs


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_the_result_is_that_of_pytorch(call, pytorch):
    ours = plain(tapegrad, eval(call, names(tapegrad)))
    check(ours, plain(pytorch, eval(call, names(pytorch))))


GRADIENTS = [
    "threshold_backward(g, x, 0)",
    "gelu_backward(g, x)",
    "sigmoid_backward(g, x)",
    "tanh_backward(g, x)",
    "elu_backward(g, 1.0, 1, 1, False, x)",
    "leaky_relu_backward(g, x, 0.1, False)",
    "softplus_backward(g, x, 1, 20)",
    "native_dropout_backward(g, x > 0, 2.0)",
    "_prelu_kernel(x, T(1))",
    "_fused_rms_norm(x, [4], T(4), 1e-5)[0]",
    "_weight_norm_interface(x, T(3, 1))[0]",
]


@pytest.mark.parametrize("call", GRADIENTS)
def test_operators_of_backward_passes_are_differentiated(call, pytorch):
    found = []
    for torch in (tapegrad, pytorch):
        scope = names(torch)
        x, g = scope["x"].requires_grad_(), scope["g"].detach().requires_grad_()
        scope["g"] = g
        eval(f"aten.{call}", scope).pow(2).sum().backward()
        found.append([plain(torch, each.grad) for each in (x, g)])
    check(*found)


def test_recording_the_signatures_anew_changes_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "tools.record_schemas", "--check"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr


def test_signatures_are_read_as_pytorch_has_them(pytorch):
    from tapegrad.library.aten_schemas import table

    def told(schema):
        return (
            str(schema),
            [
                (each.name, str(each.type), each.kwarg_only, each.N, each.is_out)
                for each in schema.arguments
            ],
            [
                str(each.default_value).replace("tapegrad", "torch")
                for each in schema.arguments
                if each.has_default_value()
            ],
            [(each.name, str(each.type)) for each in schema.returns],
            schema.is_mutable,
        )

    for packet, overloads in table().items():
        for name in overloads:
            ours = getattr(getattr(tapegrad.ops.aten, packet), name)
            theirs = getattr(getattr(pytorch.ops.aten, packet), name)
            assert told(ours._schema) == told(theirs._schema)
            assert (ours.name(), ours.is_view) == (theirs.name(), theirs.is_view)
            assert [each.name for each in ours.tags] == [each.name for each in theirs.tags]
