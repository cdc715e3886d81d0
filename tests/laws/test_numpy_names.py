"""NumPy's names of arguments, which PyTorch's native functions take: `axis`, `keepdims`, `x1`."""

import pytest

import tapegrad as torch
from tests.messages import raises

F = torch.nn.functional


@pytest.mark.parametrize("name", ["input", "x", "a", "x1"])
@pytest.mark.parametrize(
    ("function", "options"),
    [
        (torch.clone, {}),
        (torch.detach, {}),
        (torch.dropout_, {"p": 0.0, "train": True}),
        (torch.exp, {}),
        (torch.get_device, {}),
        (torch.is_complex, {}),
        (torch.is_floating_point, {}),
        (torch.is_inference, {}),
        (torch.is_neg, {}),
        (torch.is_signed, {}),
        (torch.matmul, {"other": torch.ones(3, 2)}),
        (torch.numel, {}),
        (torch.permute, {"dims": (1, 0)}),
        (torch.reshape, {"shape": (3, 2)}),
        (torch.resolve_conj, {}),
        (torch.sum, {"dim": 0}),
        (torch.t, {}),
        (torch.transpose, {"dim0": 0, "dim1": 1}),
        (F.linear, {"weight": torch.ones(4, 3)}),
    ],
)
def test_the_first_tensor_has_four_names(function, options, name):
    x = torch.arange(6.0).view(2, 3)
    found, expected = function(**{name: x}, **options), function(x, **options)
    if isinstance(expected, torch.Tensor):
        assert found.equal(expected)
    else:
        assert found == expected


def test_other_is_x2_dim_is_axis_and_keepdim_is_keepdims():
    x = torch.arange(6.0).view(2, 3)
    assert torch.matmul(x1=x, x2=x.t()).equal(x @ x.t())
    assert x.matmul(x2=x.t()).equal(x @ x.t())
    assert x.reshape_as(x2=x.t()).shape == (3, 2)
    assert torch.is_same_size(x1=x, x2=x)
    assert torch.result_type(x, x2=1) is torch.float32
    assert (x.size(axis=1), x.stride(axis=0)) == (3, 3)
    assert x.sum(axis=0, keepdims=True).shape == (1, 3)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ('is_complex() missing 1 required positional arguments: "input"', torch.is_complex),
        ('t() missing 1 required positional arguments: "input"', lambda: torch.t()),
        (
            'matmul() missing 1 required positional arguments: "other"',
            lambda: torch.matmul(torch.ones(2)),
        ),
        (
            'linear() missing 1 required positional arguments: "weight"',
            lambda: F.linear(torch.ones(2)),
        ),
        (
            'transpose() missing 2 required positional argument: "dim0", "dim1"',
            lambda: torch.transpose(torch.ones(2, 2)),
        ),
        (
            "matmul() got an unexpected keyword argument 'b'",
            lambda: torch.matmul(torch.ones(2), torch.ones(2), b=1),
        ),
    ],
)
def test_what_is_missing_or_unknown_is_said_in_pytorchs_words(message, call):
    with raises(TypeError, message):
        call()


def test_linear_writes_to_out():
    x = torch.arange(6.0).view(2, 3)
    out = torch.empty(2, 2)
    assert F.linear(x, x, out=out) is out
    assert out.equal(x @ x.t())


def test_leaky_relu_in_place_has_a_slope():
    assert F.leaky_relu_(torch.tensor([-1.0, 2.0])).tolist() == pytest.approx([-0.01, 2.0])
