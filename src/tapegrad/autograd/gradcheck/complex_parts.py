"""The Jacobians of both modes, of complex numbers by their real and imaginary parts."""

from tapegrad.autograd.gradcheck.analytical import as_tuple
from tapegrad.autograd.gradcheck.fast_mode import check_fast
from tapegrad.autograd.gradcheck.problem import Options, Problem
from tapegrad.autograd.gradcheck.slow_mode import check_slow
from tapegrad.autograd.gradcheck.undefined_and_layout import check_undefined_forward
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.tensor_base import TensorBase


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
