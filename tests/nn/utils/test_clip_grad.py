"""Norms of gradients, and gradients that are scaled or clamped."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import utils
from tests.messages import raises


def pair():
    a, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1, 2))
    a.grad, b.grad = torch.tensor([3.0, 4.0]), torch.tensor([[12.0, 0.0]])
    return a, b


def test_gradients_are_scaled_to_the_norm():
    a, b = pair()
    assert utils.clip_grad_norm_([a, b], 1.0).item() == 13.0
    assert a.grad.tolist() == pytest.approx([3 / 13, 4 / 13])
    assert b.grad.tolist() == [pytest.approx([12 / 13, 0.0])]
    utils.clip_grad_norm_([a, b], 5.0)
    assert a.grad.tolist() == pytest.approx([3 / 13, 4 / 13])


@pytest.mark.parametrize(("order", "norm"), [(1, 19.0), (float("inf"), 12.0), ("inf", 12.0)])
def test_norms_have_an_order(order, norm):
    assert utils.clip_grad_norm_(pair(), 100.0, order).item() == norm


def test_without_gradients_the_norm_is_zero():
    assert utils.clip_grad_norm_([nn.Parameter(torch.ones(1))], 1.0).item() == 0.0
    with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
        utils.clip_grad_norm_((p for p in []), 1.0)


def test_a_norm_that_is_not_finite_is_an_error_on_demand():
    a, b = pair()
    a.grad[0] = float("nan")
    message = (
        "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot "
        "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, "
        "set `error_if_nonfinite=False`"
    )
    with raises(RuntimeError, message):
        utils.clip_grad_norm_([a, b], 1.0, error_if_nonfinite=True)
    assert b.grad.tolist() == [[12.0, 0.0]]


def test_gradients_are_clamped():
    a, b = pair()
    utils.clip_grad_value_([a, b], 3.5)
    assert a.grad.tolist() == [3.0, 3.5]
    assert b.grad.tolist() == [[3.5, 0.0]]


def test_the_old_name_warns():
    with pytest.warns(FutureWarning, match="clip_grad_norm` is now deprecated"):
        utils.clip_grad_norm([pair()[0]], 1.0)
