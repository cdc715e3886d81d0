"""Running sums of exponentials over many elements."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises


def test_logcumsumexp_of_many_elements_is_exact_to_the_last():
    n = 100_000
    assert torch.zeros(n).logcumsumexp(0)[-1].item() == pytest.approx(math.log(n), rel=1e-7)


def test_differences_beside_what_does_not_fit():
    message = "diff expects prepend or append to be the same dimension as input"
    with raises(RuntimeError, message):
        torch.ones(3).diff(prepend=torch.ones(2, 2))
    with raises(RuntimeError, message):
        torch.ones(2, 2).diff(append=torch.ones(2))
    message = (
        "diff expects the shape of tensor to prepend or append to match that of input except along "
        "the differencing dimension; input.size(1) = 3, but got tensor.size(1) = 2"
    )
    with raises(RuntimeError, message):
        torch.ones(2, 3).diff(dim=0, prepend=torch.ones(2, 2))


def test_a_number_has_one_dimension():
    for name in ("cummax", "cummin"):
        function = getattr(torch, name)
        assert function(torch.tensor(2.0), -1).values.item() == 2
        with pytest.raises(
            IndexError, match=rf"^{name}\(\): Expected reduction dim -1 or 0 for scal"
        ):
            function(torch.tensor(2.0), 5)
