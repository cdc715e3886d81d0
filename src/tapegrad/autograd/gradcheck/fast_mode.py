"""Fast mode: v^T J u is compared for fixed random u and v, or J u in forward mode.

Two evaluations of the function and one derivative, whatever the sizes.
"""

from typing import Any

import numpy as np

from tapegrad.autograd.gradcheck.analytical import (
    Pulled,
    backward_jacobians,
    pushed_rows,
    with_gradient,
)
from tapegrad.autograd.gradcheck.message import mismatch, slow_story
from tapegrad.autograd.gradcheck.problem import Problem
from tapegrad.autograd.gradcheck.slow_mode import check_constant
from tapegrad.core.generator import Generator
from tapegrad.core.tensor_base import wrap
from tapegrad.operators.random.rand_randint_randperm import rand


def check_fast(problem: Problem, forward: bool) -> None:
    """Raise unless products with the Jacobians of the rules are those of differences."""
    generator = Generator()
    directions = {i: _directions(problem.inputs[i], generator) for i in problem.moving}
    slopes = {
        i: [problem.slopes(i, unit * u) for unit, u in zip((1, 1j), both, strict=False)]
        for i, both in directions.items()
    }
    if not problem.outputs:
        found = [y for both in slopes.values() for results in both for y in results]
        check_constant(any(y.size and not np.abs(y).max() < problem.options.eps for y in found))
    elif forward:
        _check_tangents(problem, directions, slopes)
    else:
        weights = [_unit_vector(y, generator) for y in problem.outputs]
        _check_gradients(problem, directions, slopes, weights)


def _directions(x: Any, generator: Generator) -> list:
    """A random vector u of length 1; for a complex input two, for its real and imaginary part."""
    return [_unit_vector(x, generator) for _ in range(2 if x.dtype.is_complex else 1)]


def _check_tangents(problem: Problem, directions: dict, slopes: dict) -> None:
    for k, i in enumerate(problem.moving):
        (u,) = directions[i]
        tangent = wrap(u.reshape(problem.inputs[i].shape))
        rows, right = pushed_rows(problem.function, problem.inputs, i, iter([tangent]))
        problem.check_pushed(right)
        found = dict(zip(problem.inexact_places(), rows, strict=False))
        for o, place in enumerate(problem.places):
            numerical = slopes[i][0][place].astype(found[place].dtype, copy=False)
            _compare(problem, found[place][0], numerical, o, k, u.sum(), True)


def _check_gradients(problem: Problem, directions: dict, slopes: dict, weights: list) -> None:
    for o, (place, v) in enumerate(zip(problem.places, weights, strict=True)):
        rows = _pulled(problem, problem.outputs[o], v)
        for k, (i, row) in enumerate(zip(problem.moving, rows, strict=True)):
            numerical = _sum([np.dot(v, each[place]) for each in slopes[i]])
            size = directions[i][0].sum() * v.sum()
            _compare(problem, _joined(row, directions[i]), numerical, o, k, size, False)


def _pulled(problem: Problem, output: Any, v: np.ndarray) -> list:
    """The gradient of each input for the cotangent `v` of one result; computed twice."""
    inputs = with_gradient(problem.inputs)
    cotangent = wrap(v.reshape(output.shape))
    first, second = (Pulled(inputs, output, iter([cotangent])) for _ in range(2))
    rows = [each[0] for each in first.rows]
    problem.check_pulled(first, rows, [each[0] for each in second.rows])
    return rows


def _compare(
    problem: Problem, analytical: Any, numerical: Any, o: int, k: int, size: float, forward: bool
) -> None:
    """Compare v^T J u: `size` is what an error of 1 in each element of J makes of it."""
    a, n = wrap(np.asarray(analytical)), wrap(np.asarray(numerical))
    atol = problem.options.atol
    if problem.is_close(a, n, atol * float(size)):
        return
    i, place = problem.moving[k], problem.places[o]
    whole = wrap(problem.numerical(i, forward)[place])
    if forward:
        exact = wrap(problem.columns(i)[place])
    else:
        exact = wrap(backward_jacobians(problem.inputs, problem.outputs[o])[1][k])
    story = slow_story(whole, exact, problem.is_close(exact, whole, atol))
    raise mismatch(a, n, o, k, problem.part_of(o, k, forward), forward, story)


def _unit_vector(x: Any, generator: Generator) -> np.ndarray:
    """A random vector of length 1 with as many elements as `x`, of its dtype or the real one."""
    vector = rand(x.numel(), generator=generator).to(x.dtype.to_real())
    return (vector / vector.norm())._array


def _sum(along: list) -> Any:
    """The derivative along the real direction, and i times that along the imaginary one."""
    return along[0] if len(along) == 1 else along[0] + 1j * along[1]


def _joined(row: np.ndarray, directions: list) -> Any:
    """The same of a gradient."""
    if len(directions) == 1:
        return np.dot(row, directions[0])
    return np.dot(row.real, directions[0]) + 1j * np.dot(row.imag, directions[1])
