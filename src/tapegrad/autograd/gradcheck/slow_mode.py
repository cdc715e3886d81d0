"""Slow mode: whole Jacobians are compared, element by element."""

from typing import Any

import numpy as np

from tapegrad.autograd.gradcheck.message import mismatch, wrong
from tapegrad.autograd.gradcheck.problem import Problem
from tapegrad.core.tensor_base import wrap


def check_slow(problem: Problem, forward: bool) -> None:
    """Raise unless the Jacobians of the rules are those of differences."""
    numerical = [problem.numerical(i, forward) for i in problem.moving]
    if not problem.outputs:
        check_constant(any(np.any(y != 0) for each in numerical for y in each))
    elif forward:
        for k, i in enumerate(problem.moving):
            found = problem.columns(i)
            for o, place in enumerate(problem.places):
                _compare(problem, found[place], numerical[k][place], o, k, forward)
    else:
        for o, place in enumerate(problem.places):
            for k, row in enumerate(problem.rows(problem.outputs[o])):
                _compare(problem, row, numerical[k][place], o, k, forward)


def check_constant(moved: bool) -> None:
    """Raise if results without a gradient change with an input."""
    if moved:
        raise wrong(
            "Numerical gradient for function expected to be zero",
            "The function detaches a result that depends on its inputs.",
        )


def _compare(
    problem: Problem, analytical: Any, numerical: Any, o: int, k: int, forward: bool
) -> None:
    a, n = wrap(analytical), wrap(numerical)
    if not problem.is_close(a, n, problem.options.atol):
        raise mismatch(a, n, o, k, problem.part_of(o, k, forward), forward)
