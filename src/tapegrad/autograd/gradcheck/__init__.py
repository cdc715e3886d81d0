"""Derivatives against finite differences: `gradcheck`, and of second order `gradgradcheck`."""

import sys
import warnings
from types import ModuleType

from tapegrad.autograd.backward_grad import grad
from tapegrad.autograd.gradcheck.analytical import as_tuple, with_gradient
from tapegrad.autograd.gradcheck.batched import check_batched_gradients, check_batched_tangents
from tapegrad.autograd.gradcheck.deprecated import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)
from tapegrad.autograd.gradcheck.fast_and_slow_mode import check_backward, check_forward
from tapegrad.autograd.gradcheck.message import GradcheckError
from tapegrad.autograd.gradcheck.problem import Options
from tapegrad.autograd.gradcheck.undefined_and_layout import check_multiplied, check_undefined
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, OneOrMore
from tapegrad.core.dtype import complex128, float64
from tapegrad.core.errors import warn
from tapegrad.core.memory_format import strided
from tapegrad.core.tensor_base import TensorBase

__all__ = [
    "GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input", "gradcheck", "gradgradcheck",
]  # fmt: skip


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the derivatives of a function with central differences.

    Slow mode compares the whole Jacobian of each result with respect to each input that requires
    grad, `|analytical - numerical| <= atol + rtol * |numerical|` for each element. Fast mode
    compares `v^T J u` for fixed random u and v. Results that are complex are checked by their real
    and imaginary parts, and so are complex inputs in forward mode. Besides, gradients must be the
    same when they are computed again, zero for cotangents of zero, and None must count as zeros.

    Args:
        func: takes the inputs, gives a tensor or a tuple of tensors; always the same for the same
            inputs, which it must not change
        inputs: a tensor or a tuple; those that require grad should be float64 or complex128
        eps: the step of the differences
        atol, rtol: how far derivatives may be apart
        raise_exception: whether to raise where they are, or to return False
        nondet_tol: how far gradients that are computed twice may be apart
        check_undefined_grad: whether cotangents and tangents that are None have to count as zeros
        check_grad_dtypes: whether gradients must have the dtypes of inputs
        check_batched_grad, check_batched_forward_grad: whether to check derivatives under vmap
        check_forward_ad, check_backward_ad: which modes to check
        fast_mode: whether to compare products with random vectors instead of Jacobians
        masked: of sparse tensors, of which there are none here

    Raises:
        GradcheckError: derivatives are not right.
        ValueError: no input requires grad.
        AssertionError: options contradict each other, or results change their shape.

    >>> x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, x)
    True
    >>> torch.autograd.gradcheck(lambda x: x * x.detach(), x, raise_exception=False)
    False
    """
    if not (check_forward_ad or check_backward_ad):
        raise _contradiction("Expected at least one of check_forward_ad or check_backward_ad to be")
    if check_batched_grad and not check_backward_ad:
        raise _contradiction("Setting check_batched_grad=True requires check_backward_ad to be")
    if check_batched_forward_grad and not check_forward_ad:
        raise _contradiction(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be"
        )
    options = Options(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    given = as_tuple(inputs)
    try:
        _check_inputs(given)
        if check_backward_ad:
            check_backward(func, given, options)
        if check_forward_ad:
            check_forward(func, given, options, check_undefined_grad)
        if check_batched_forward_grad:
            check_batched_tangents(func, given)
        if check_backward_ad:
            outputs = with_gradient(as_tuple(func(*given)))
            if check_batched_grad:
                check_batched_gradients(outputs, given)
            if outputs:
                check_multiplied(outputs, given)
                if check_undefined_grad:
                    check_undefined(func, given)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _contradiction(text: str) -> AssertionError:
    return errors.assertion_error(f"{text} True", "Switch the other option on, or this off.")


def _check_inputs(inputs: tuple) -> None:
    if not with_gradient(inputs):
        raise errors.value_error(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True.",
            "Call requires_grad_() on the inputs to check.",
        )
    for i, x in enumerate(inputs):
        if not (isinstance(x, TensorBase) and x.requires_grad):
            continue
        if x.dtype is not float64 and x.dtype is not complex128:
            warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                3,
            )
        held = x if x.layout is strided else x._values() if x.is_sparse else x.values()
        if any(step == 0 and n > 1 for step, n in zip(held.stride(), held.shape, strict=True)):
            raise errors.runtime_error(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck.",
                "Several of its elements are one place in memory.",
            )


def gradgradcheck(
    func: Callable,
    inputs: OneOrMore,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives of a function with central differences of its first.

    It is `gradcheck` of the function that gives the gradients of `func`, with respect to the inputs
    and to the cotangents.

    Args:
        grad_outputs: cotangents of the results of `func`; random ones from -1 to 1 if not given
        gen_non_contig_grad_outputs: whether random cotangents are not contiguous
        check_fwd_over_rev: whether to differentiate gradients in forward mode
        check_rev_over_rev: whether to differentiate them in reverse mode
        inputs, eps, atol, rtol, fast_mode, ...: as for `gradcheck`

    Raises:
        GradcheckError: second derivatives are not right.

    >>> x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x**3, x)
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise _contradiction(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be"
        )
    for name, wanted in (
        ("check_undefined_grad", check_undefined_grad),
        ("check_batched_grad", check_batched_grad),
    ):
        if wanted and not check_rev_over_rev:
            raise _contradiction(f"Setting {name}=True requires check_rev_over_rev to be")
    given = as_tuple(inputs)
    if grad_outputs is None:
        outputs = with_gradient(as_tuple(func(*given)))
        if not outputs and with_gradient(given):
            raise errors.type_error(
                "gradgradcheck(): no output of func requires grad",
                "There is no gradient to differentiate: was an input detached?",
            )
        cotangents = tuple(_random_like(y, gen_non_contig_grad_outputs) for y in outputs)
    else:
        cotangents = as_tuple(grad_outputs)
    n = len(given)
    tracked = {
        i
        for i, x in enumerate((*given, *cotangents))
        if isinstance(x, TensorBase) and x.requires_grad
    }

    def gradients(*args: Any) -> tuple:
        # forward mode comes with detached inputs
        args = tuple(x.requires_grad_() if i in tracked else x for i, x in enumerate(args))
        outputs = with_gradient(as_tuple(func(*args[:n])))
        targets = [x for i, x in enumerate(args[:n]) if i in tracked]
        found = grad(outputs, targets, list(args[n:]), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        (*given, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_like(y: Array, scattered: bool) -> Any:
    """A tensor of the shape of `y`, uniform on (-1, 1), that requires grad."""
    from tapegrad.operators.creation.zeros_eye import empty

    dtype = y.dtype if y.is_floating_point() or y.is_complex() else float64
    shape = list(y.shape)
    spread = scattered and y.ndim > 0 and y.numel() > 1
    if spread:
        shape[-1] *= 2
    x = empty(shape, dtype=dtype, device=y.device)
    if dtype.is_complex:
        x.real.uniform_(-1, 1)
        x.imag.uniform_(-1, 1)
    else:
        x.uniform_(-1, 1)
    return (x[..., ::2] if spread else x).detach().requires_grad_()


class _Callable(ModuleType):
    """`torch.autograd.gradcheck` is a function and a module: this file can be called, too."""

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
