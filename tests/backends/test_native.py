"""The switch of kernels in C."""

import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import namespace
from tests.command import run_code
from tests.compiler.c_programs import needs_compiler


def is_native():
    return hasattr(namespace.softmax_along, "in_numpy")


def test_it_is_off_at_first():
    code = "import tapegrad as torch; print(torch.backends.native.enabled)"
    assert run_code(code).strip() == "False"


@needs_compiler()
def test_it_is_switched_by_assignment_and_by_a_context():
    native = torch.backends.native
    before = native.enabled
    try:
        for on in (True, False, False, True, True):
            native.enabled = on
            assert (native.enabled, is_native()) == (on, on)
        with native.flags(enabled=False):
            assert (native.enabled, is_native()) == (False, False)
            with native.flags(enabled=True):
                assert (native.enabled, is_native()) == (True, True)
            with pytest.raises(ZeroDivisionError), native.flags(enabled=True):
                raise ZeroDivisionError
            assert (native.enabled, is_native()) == (False, False)
        assert native.enabled is True
    finally:
        native.enabled = before


def test_it_is_true_or_false():
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        torch.backends.native.enabled = 1
    assert torch.backends.native.enabled is False


def test_waiting_for_nothing_ends():
    torch.backends.native.wait()
