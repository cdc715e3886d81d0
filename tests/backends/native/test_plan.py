"""What is planned of a call in C."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import namespace
from tapegrad.arrays.traced.program import RECORDING, Program
from tapegrad.backends.native.plan import first_call
from tests.compiler.c_programs import needs_compiler

pytestmark = needs_compiler()


def planned(name, *args):
    found = getattr(namespace, name)
    return first_call(name, getattr(found, "in_numpy", found), args, {})


def test_the_first_call_is_numpys_own():
    x = np.linspace(-1, 1, 12).reshape(3, 4)
    out, plan = planned("softmax_along", x, 1)
    assert out.tobytes() == namespace.softmax_along(x, 1).tobytes()
    assert (plan.function, plan.shared) == ("tg_softmax_f64", False)
    assert RECORDING.get() is None


def test_long_calls_are_shared_by_threads():
    _, plan = planned("softmax_along", np.zeros((300, 400)), 1)
    assert (plan.function, plan.shared) == ("tg_softmax_shared_f64", True)


def test_there_is_no_plan_for_what_has_no_template():
    for x in (np.zeros((3, 4), complex), np.zeros((3, 4)).T):
        assert planned("softmax_along", x, 1)[1] is None


def test_nothing_is_planned_while_a_program_is_recorded():
    with Program() as program:
        out, plan = planned("softmax_along", np.zeros((3, 4)), 1)
    assert plan is None and program.instructions == []
    np.testing.assert_array_equal(out, np.full((3, 4), 0.25))


def test_an_error_of_numpys_kernel_is_raised():
    with pytest.raises(IndexError):
        planned("take_places", np.zeros((2, 4)), np.full((2, 1), 9), 1)
    assert RECORDING.get() is None
