"""Fast mode and slow mode: Jacobians by rules against Jacobians by differences.

Fast mode compares v^T J u for fixed random u and v, or J u in forward mode: two evaluations of the
function and one derivative, whatever the sizes. Slow mode compares whole Jacobians, element by
element. Those of complex numbers are checked by their real and imaginary parts.
"""

import numpy as np

from tapegrad.autograd.gradcheck.analytical import (
    Pulled,
    as_tuple,
    backward_jacobians,
    pushed_rows,
    with_gradient,
)
from tapegrad.autograd.gradcheck.message import mismatch, slow_story, wrong
from tapegrad.autograd.gradcheck.problem import Options, Problem
from tapegrad.autograd.gradcheck.undefined_and_layout import check_undefined_forward
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.generator import Generator
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.operators.random.rand_randint_randperm import rand


def check_slow(problem: Problem, forward: bool) -> None:
    """Raise unless the Jacobians of the rules are those of differences."""
    numerical = [problem.numerical(i, forward) for i in problem.moving]
    if not problem.outputs:
        check_constant(any(np.any(y != 0) for each in numerical for y in each))
    elif forward:
        for k, i in enumerate(problem.moving):
            found = problem.columns(i)
            for o, place in enumerate(problem.places):
                _compare_whole(problem, found[place], numerical[k][place], o, k, forward)
    else:
        for o, place in enumerate(problem.places):
            for k, row in enumerate(problem.rows(problem.outputs[o])):
                _compare_whole(problem, row, numerical[k][place], o, k, forward)


def check_constant(moved: bool) -> None:
    """Raise if results without a gradient change with an input."""
    if moved:
        raise wrong(
            "Numerical gradient for function expected to be zero",
            "The function detaches a result that depends on its inputs.",
        )


def _compare_whole(
    problem: Problem, analytical: Any, numerical: Any, o: int, k: int, forward: bool
) -> None:
    a, n = wrap(analytical), wrap(numerical)
    if not problem.is_close(a, n, problem.options.atol):
        raise mismatch(a, n, o, k, problem.part_of(o, k, forward), forward)


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


def _check(problem: Problem, forward: bool) -> None:
    check = check_fast if problem.options.fast else check_slow
    check(problem, forward)


def check_backward(func: Callable, inputs: tuple, options: Options) -> None:
    """Jacobians of reverse mode; those of complex results by their two parts."""
    problem = Problem(func, inputs, options)
    complex_results = [
        i for i, y in enumerate(problem.results) if isinstance(y, TensorBase) and y.is_complex()
    ]
    if not complex_results:
        _check(problem, False)
        return
    places = [o for o, i in enumerate(problem.places) if i in complex_results]
    for part, name in (("imaginary", "imag"), ("real", "real")):
        _check(Problem(_part_of_results(func, name), inputs, options, part, places), False)


def _part_of_results(func: Callable, name: str) -> Callable:
    def parts(*inputs: Tensor) -> tuple:
        results = as_tuple(func(*inputs))
        return tuple([getattr(y, name) if y.is_complex() else y for y in results])

    return parts


def check_forward(func: Callable, inputs: tuple, options: Options, undefined: bool) -> None:
    """Jacobians of forward mode; with respect to complex inputs by their two parts."""
    complex_inputs = [
        i for i, x in enumerate(inputs) if isinstance(x, TensorBase) and x.is_complex()
    ]
    runs: list[tuple] = [(func, inputs, None, [])]
    if complex_inputs:
        moving = [i for i, x in enumerate(inputs) if isinstance(x, TensorBase) and x.requires_grad]
        places = [k for k, i in enumerate(moving) if i in complex_inputs]
        runs = []
        for part, name in (("imaginary", "imag"), ("real", "real")):
            parts = tuple(
                getattr(x, name) if i in complex_inputs else x for i, x in enumerate(inputs)
            )
            whole = _whole_inputs(func, name, inputs, complex_inputs)
            runs.append((whole, parts, part, places))
    for function, given, part, places in runs:
        _check(Problem(function, given, options, part, places), True)
        if undefined:
            check_undefined_forward(function, given)


def _whole_inputs(func: Callable, name: str, inputs: tuple, complex_inputs: list) -> Callable:
    """`func` of the real or imaginary parts of its complex inputs, the other parts as given."""

    def whole(*parts: Any) -> Any:
        given = list(parts)
        for i in complex_inputs:
            x = inputs[i]
            if name == "real":
                given[i] = parts[i] + x.imag * 1j
            else:
                given[i] = x.real + parts[i] * 1j
        return func(*given)

    return whole
