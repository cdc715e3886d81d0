"""Functions of `torch.autograd.gradcheck` that PyTorch is about to remove: Jacobians."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapegrad.autograd.gradcheck.analytical import as_tuple, backward_jacobians, with_gradient
from tapegrad.autograd.gradcheck.numerical import numerical_jacobian
from tapegrad.core import errors
from tapegrad.core.errors import deprecated
from tapegrad.core.tensor_base import TensorBase, wrap

_ADVICE = "torch.autograd.functional.jacobian gives Jacobians."


def _deprecated(name: str, outputs: tuple, grad_out: float) -> None:
    deprecated(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. If you have a "
        "specific use for this or feature request for this to be a stable API, please file us an "
        "issue at https://github.com/pytorch/pytorch/issues/new",
        3,
    )
    if grad_out != 1.0:
        text = f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0."
        raise errors.value_error(text, _ADVICE)
    if any(isinstance(y, TensorBase) and y.is_complex() for y in outputs):
        raise errors.value_error(
            f"Expected output to be non-complex. {name} no longer supports functions that "
            "return complex outputs.",
            _ADVICE,
        )


def _columns(fn: Callable, x: Any, eps: float, forward: bool = False) -> tuple:
    """The Jacobians of all results of `fn()` with respect to `x`, by differences."""

    def evaluate() -> list:
        return [y._array.copy() for y in as_tuple(fn())]

    return tuple(map(wrap, numerical_jacobian(evaluate, x._array, eps, forward)))


def get_numerical_jacobian(
    fn: Callable, inputs: Sequence, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple:
    """Jacobians (elements of the input, elements of the first result of `fn(inputs)`).

    One for each tensor of `target`, or of `inputs`, that requires grad, by central differences.
    Deprecated.

    >>> import warnings
    >>> from tapegrad.autograd.gradcheck import get_numerical_jacobian
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     (jacobian,) = get_numerical_jacobian(lambda inputs: inputs[0] * 3, (x,))
    >>> jacobian.round()
    tensor([[3., 0.],
            [0., 3.]], dtype=torch.float64)
    """
    _deprecated("get_numerical_jacobian", as_tuple(fn(inputs)), grad_out)
    targets = with_gradient(as_tuple(inputs if target is None else target))
    return tuple(_columns(lambda: fn(inputs), x, eps)[0] for x in targets)


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable,
    input_idx: int,
    inputs: Sequence,
    outputs: Sequence,
    eps: float,
    input: Any = None,
    is_forward_ad: bool = False,
) -> tuple:
    """Jacobians of each result of `fn(*inputs)` with respect to one input, by differences.

    >>> from tapegrad.autograd.gradcheck import get_numerical_jacobian_wrt_specific_input
    >>> x = torch.tensor([1.0], dtype=torch.float64)
    >>> get_numerical_jacobian_wrt_specific_input(torch.exp, 0, (x,), (x.exp(),), 1e-6)
    (tensor([[2.7183]], dtype=torch.float64),)
    """
    x = inputs[input_idx] if input is None else input
    return _columns(lambda: fn(*inputs), x, eps, is_forward_ad)


def get_analytical_jacobian(
    inputs: Sequence, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple:
    """Jacobians of one result, by reverse mode; and whether they are the same the second time.

    Returns (jacobians, same again, right sizes, right dtypes). Deprecated.

    >>> import warnings
    >>> from tapegrad.autograd.gradcheck import get_analytical_jacobian
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     get_analytical_jacobian((x,), (x * x).sum())
    ((tensor([[2.],
            [4.]]),), True, True, True)
    """
    _deprecated("get_analytical_jacobian", (output,), grad_out)
    pulled, first = backward_jacobians(as_tuple(inputs), output)
    _, second = backward_jacobians(as_tuple(inputs), output)
    same = all(
        not a.size or bool(np.abs(a - b).max() <= nondet_tol)
        for a, b in zip(first, second, strict=True)
    )
    return tuple(map(wrap, first)), same, pulled.right_sizes, pulled.right_dtypes
