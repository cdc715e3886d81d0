"""Comparing a trace with a second one, and with the function."""

from __future__ import annotations

import difflib
import warnings

import tapegrad
from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Any, Callable
from tapegrad.jit.recorder import TracerWarning
from tapegrad.tensors.tensor import Tensor

_RANDOM = (
    "rand randn randint randperm bernoulli bernoulli_ normal normal_ multinomial poisson "
    "rand_like randn_like randint_like uniform_ exponential_ random_ log_normal_ cauchy_ "
    "geometric_ rrelu gumbel_softmax"
).split()


class TracingCheckError(Exception):
    """A second trace that differs from the first."""

    def __init__(
        self, graph_diff_error: str, tensor_compare_error: Any = None, extra_msg: Any = None
    ):
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += f"{extra_msg}\n"
        self.message += "ERROR: Graphs differed across invocations!\n" + graph_diff_error
        super().__init__(self.message)


def check(traced: Any, again: Callable, function: Callable, inputs: tuple, options: tuple) -> None:
    """Raise or warn if tracing again, or the function itself, gives something else."""
    on, others, tolerance = options
    if not on:
        return
    with no_grad():
        for given in [inputs] if others is None else others:
            each = (given,) if isinstance(given, Tensor) else tuple(given)
            _check(traced, again, function, each, tolerance)


def _check(
    traced: Any, again: Callable, function: Callable, inputs: tuple, tolerance: float
) -> None:
    from tapegrad.jit._trace import cloned

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)  # those of the first trace
        second = again(cloned(inputs))
    first_code, second_code = traced.code, second.code
    if first_code != second_code:
        lines = difflib.ndiff(first_code.splitlines(), second_code.splitlines())
        raise TracingCheckError("\tGraph diff:\n" + "\n".join(f"\t\t{line}" for line in lines))
    drawn = [step for step in traced._program.steps if _is_random(step)]
    if drawn:
        nodes = "\n".join(f"\t{step.name}" for step in drawn)
        warnings.warn(
            "Trace had nondeterministic nodes. Did you forget call .eval() on your model? "
            f"Nodes:\n{nodes}\nThis may cause errors in trace checking. To disable trace checking, "
            "pass check_trace=False to torch.jit.trace()",
            TracerWarning,
            stacklevel=4,
        )
    results = list(_tensors(traced(*cloned(inputs))))
    expected = list(_tensors(function(*cloned(inputs))))
    second(*cloned(inputs))  # as often as PyTorch, so that running averages agree
    for i, (x, y) in enumerate(zip(results, expected, strict=True)):
        difference = _difference(x, y, tolerance)
        if difference:
            warnings.warn(
                f"Output nr {i + 1}. of the traced function does not match the corresponding "
                f"output of the Python function. Detailed error:\n{difference}",
                TracerWarning,
                stacklevel=4,
            )


def _is_random(step: Any) -> bool:
    name = step.name.rpartition(".")[2]
    if "dropout" in name:
        return step.kwargs.get("training", True) is not False
    return name in _RANDOM


def _tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)
    else:
        yield tapegrad.as_tensor(value)  # a size


def _difference(x: Tensor, y: Tensor, tolerance: float) -> str:
    """How two tensors differ; "" if they do not."""
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: {x.shape} != {y.shape}."
    a, b = x.double(), y.double()
    near = tapegrad.isclose(a, b, rtol=tolerance, atol=1e-5, equal_nan=True)
    if near.all():
        return ""
    wrong, n = int((~near).sum()), near.numel()
    return (
        f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {n} ({wrong / n:.1%})\n"
        f"Greatest absolute difference: {(a - b).abs().max().item()} (up to 1e-05 allowed)"
    )
