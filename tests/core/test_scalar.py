"""Which tensors stand for a number."""

import pytest

import tapegrad as torch
from tests.messages import raises_beginning

F = torch.nn.functional


ONES = torch.ones(2, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: torch.addmm(ONES, ONES, ONES, beta=s),
            "addmm() received an invalid combination",
        ),
        (
            lambda s: torch.addmv(ONES[0], ONES, ONES[0], alpha=s),
            "addmv(): argument 'alpha' must be",
        ),
        (
            lambda s: F.elu(ONES, s),
            "elu(): argument 'alpha' (position 2) must be Number, not Tensor",
        ),
        (lambda s: torch.celu(ONES, s), "celu(): argument 'alpha' (position 2) must be Number"),
        (lambda s: F.leaky_relu(ONES, s), "leaky_relu(): argument 'negative_slope' (position 2)"),
        (lambda s: F.hardtanh(ONES, 0, s), "hardtanh(): argument 'max_val' (position 3) must be"),
        (lambda s: torch.threshold(ONES, s, 0), "threshold(): argument 'threshold' (position 2)"),
        (
            lambda s: F.layer_norm(ONES, (2,), eps=s),
            "layer_norm(): argument 'eps' (position 5) must",
        ),
        (
            lambda s: torch.renorm(ONES, s, 0, 1),
            "renorm(): argument 'p' (position 2) must be Number",
        ),
        (lambda s: torch.dist(ONES, ONES, s), "dist(): argument 'p' (position 3) must be Number"),
    ],
)
def test_a_tensor_with_dimensions_is_no_number(call, message):
    with raises_beginning(TypeError, message):
        call(torch.tensor([2.0]))
    call(torch.tensor(2.0))
    call(2.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: F.elu(ONES, s),
        lambda s: torch.addmm(ONES, ONES, ONES, beta=s),
        lambda s: torch.threshold(ONES, s, 0),
    ],
)
def test_a_tensor_with_a_gradient_is_no_number(call):
    with pytest.raises(TypeError, match="Number"):
        call(torch.tensor(2.0, requires_grad=True))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda s: F.softplus(ONES[0], s), [1.0634640] * 2),
        (lambda s: F.hardshrink(ONES[0], s), [0.0, 0.0]),
        (lambda s: F.softshrink(ONES[0], s), [0.0, 0.0]),
        (lambda s: torch.round(1.234 * ONES[0], decimals=s), [1.23, 1.23]),
        (lambda s: torch.topk(torch.tensor([1.0, 3.0, 2.0]), s).values, [3.0, 2.0]),
        (lambda s: torch.trapezoid(ONES[0], dx=s), 2.0),
        (lambda s: torch.polygamma(s, ONES[0]), [-2.4041138] * 2),
    ],
)
def test_a_tensor_without_dimensions_stands_for_a_number(call, expected):
    assert call(torch.tensor(2)).tolist() == pytest.approx(expected)
