"""Filling up rows, of tensors that have none to fill up."""

import pytest

import tapegrad as torch


def test_a_plain_tensor_is_not_nested():
    with pytest.raises(NotImplementedError, match=r"^Could not run 'aten::to_padded_tensor'"):
        torch.ones(3).to_padded_tensor(0.0, [4])
