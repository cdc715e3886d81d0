"""Switches of libraries may be set at any time."""

import tapegrad as torch


def test_no_switch_is_frozen():
    assert torch.backends.flags_frozen() is False
    before = torch.backends.cudnn.deterministic
    with getattr(torch.backends, "__allow_nonbracketed_mutation")():
        assert torch.backends.flags_frozen() is False
        torch.backends.cudnn.deterministic = before
    assert torch.backends.cudnn.deterministic is before
