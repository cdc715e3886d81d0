"""Indices where NumPy's own have 32 bits, as in a browser."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import namespace
from tests.command import python
from tests.tiers import ROOT


def test_indices_are_int64_whatever_numpy_gives():
    narrow = namespace._widened(lambda x: np.argsort(x).astype(np.int32))
    found = narrow(np.array([3.0, 1.0, 2.0]))
    assert found.dtype == np.int64 and found.tolist() == [1, 2, 0]
    several = namespace._widened(lambda x: tuple(each.astype(np.int32) for each in np.nonzero(x)))
    assert [each.dtype for each in several(np.eye(2))] == [np.int64, np.int64]


@pytest.mark.parametrize("name", namespace._INDICES)
def test_each_function_that_gives_indices_is_known(name):
    assert callable(getattr(namespace, name))


def test_operators_give_the_same_with_narrow_indices():
    program = "tests.arrays.numpy.narrow_calls"
    wide, narrow = (python("-m", program, width, cwd=ROOT) for width in ("wide", "narrow"))
    assert narrow.stderr == wide.stderr == ""
    assert narrow.stdout == wide.stdout
    assert "argsort int64" in wide.stdout
