"""Silu of complex numbers."""

import pytest

import tapegrad as torch
from tests.messages import raises

F = torch.nn.functional


def test_silu_of_complex_numbers_has_no_gradient():
    x = torch.tensor([1 + 2j], requires_grad=True)
    with raises(
        RuntimeError,
        "silu does not support automatic differentiation for outputs with complex dtype.",
    ):
        F.silu(x)
    y = x.detach()
    assert F.silu(y).item() == pytest.approx((y * y.sigmoid()).item())
    with torch.no_grad():
        assert F.silu(x).item() == F.silu(y).item()
