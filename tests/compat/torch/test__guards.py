"""What PyTorch's compiler is doing now."""

import tapegrad as torch
from tapegrad.compat.torch import _guards


def test_nothing_is_traced():
    assert _guards.active_fake_mode() is None
    assert _guards.detect_fake_mode([torch.ones(1)]) is None
    assert _guards.TracingContext.try_get() is None
