"""What a program knows of memory, and what its texts call."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Program
from tapegrad.arrays.traced.record import record


def test_a_view_by_strides_is_a_part_of_what_it_views():
    with Program() as program:
        x = program.input(np.arange(6.0))
        y = record("xp.halves", lambda x: as_strided(x[2:], (2, 2), (8, 16)), (x,), {})
    assert y.place.root is x.place
    assert y.place.offset == 16


def test_functions_of_one_name_are_told_apart():
    def doubling(factor):
        def rule(x):
            return x * factor

        return rule

    with Program() as program:
        x = program.input(np.ones(2))
        y = record("order.rule", doubling(2.0), (x,), {})
        z = record("order.rule", doubling(3.0), (y,), {})
    assert program.function([y, z])(np.ones(2))[1].tolist() == [6.0, 6.0]
    assert len(program.functions) == 2


def test_a_method_of_a_ufunc_keeps_its_name():
    with Program() as program:
        x = program.input(np.ones((2, 2)))
        np.add.reduce(np.add.reduce(x))
    assert list(program.functions) == ["np.add.reduce"]


def test_numbers_that_happen_to_be_one_object_are_two_values():
    with Program() as program:
        x = program.input(np.array(1.0))
        y = x > 0
        z = np.logical_or(y, x > 2)
    assert isinstance(z, Traced)
    assert bool(y.array) is bool(z.array)  # NumPy has but one True
    assert z.place is not y.place
    assert [bool(a) for a in program.function([y, z])(np.array(-1.0))] == [False, False]


def test_a_number_of_the_program_stands_in_messages_as_numpys_does():
    with Program() as program:
        x = program.input(np.array([1, 2]))
        assert f"index {x[1]}" == "index 2"
