"""Further settings, copies and older names, against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_the_debug_mode_is_determinism_by_another_name():
    try:
        torch.set_deterministic_debug_mode("warn")
        assert torch.get_deterministic_debug_mode() == 1
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        torch.set_deterministic_debug_mode(2)
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.set_deterministic_debug_mode(0)
    assert not torch.are_deterministic_algorithms_enabled()
    with raises(RuntimeError, "invalid value of debug_mode, expected 0, 1, or 2, but got 5"):
        torch.set_deterministic_debug_mode(5)
    with raises(
        RuntimeError,
        "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got bad",
    ):
        torch.set_deterministic_debug_mode("bad")


def test_threads_side_by_side_are_a_positive_number():
    with raises(RuntimeError, "set_num_interop_threads expects a positive integer"):
        torch.set_num_interop_threads(0)
    with raises(RuntimeError, "set_num_interop_threads expects an int, but got str"):
        torch.set_num_interop_threads("a")


def test_arithmetic_of_sizes():
    assert torch.sym_max(2, 1.5) == 2.0 and type(torch.sym_max(2, 1.5)) is float
    assert torch.sym_int(-2.7) == -2 and torch.sym_sum([1, 2]) == 3 and torch.sym_not(0) is True


def test_older_names():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.slice_copy(x, 1, 0, 2).tolist() == [[0, 1], [3, 4]]
    assert torch.view_as_real_copy(torch.tensor([1j])).tolist() == [[0, 1]]
    assert torch.norm_except_dim(torch.ones(2, 4), 2, 0).tolist() == [[2], [2]]
    assert torch.detach(x.requires_grad_()).requires_grad is False
    assert x.dim_order() == (0, 1) and x.t().dim_order() == (1, 0)
    assert reversed(torch.arange(3)).tolist() == [2, 1, 0]
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        assert torch.arange(4).resize(2, 2).tolist() == [[0, 1], [2, 3]]
    with (
        pytest.warns(UserWarning, match="deprecated"),
        raises(
            RuntimeError,
            "requested resize to (3, 3) ((3, 3) elements in total), but the given tensor has a "
            "size of 4 (4 elements). autograd's resize can only change the shape of a given "
            "tensor, while preserving the number of elements. ",
        ),
    ):
        torch.arange(4).resize(3, 3)
