"""`opcheck`: whether what is registered for an operator goes together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tapegrad
from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase
from tapegrad.library.overload import OpOverloadPacket
from tapegrad.utils._pytree import tree_leaves, tree_map

_ALL = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """What `opcheck` raises."""


OpCheckError.__module__ = "torch.testing._internal.optests.generate_tests"


def opcheck(
    op: Any,
    args: tuple,
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _ALL,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Call an operator on samples and see whether what is said of it is so.

        test_schema                 it writes only what its signature marks, and returns new tensors
        test_autograd_registration  where gradients are wanted the results have them
        test_faketensor             its fake kernel gives the shapes and dtypes of the results
        test_aot_dispatch_dynamic   a second run gives the same results and gradients

    Whether its derivative is right says `torch.autograd.gradcheck`.

    Returns: of each test "SUCCESS" or, without `raise_exception`, its error.

    Raises:
        OpCheckError: a test fails.

    >>> @torch.library.custom_op("docs::negative", mutates_args=())
    ... def negative(x: torch.Tensor) -> torch.Tensor:
    ...     return -x
    >>> negative.register_fake(torch.empty_like) is torch.empty_like
    True
    >>> torch.library.opcheck(negative, (torch.ones(2),), test_utils="test_faketensor")
    {'test_faketensor': 'SUCCESS'}
    """
    names = (test_utils,) if isinstance(test_utils, str) else test_utils
    if not set(names) <= {*_ALL, "test_aot_dispatch_static"}:
        raise errors.value_error(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of "
            f"{_ALL} but it was not",
            "Leave it out for all.",
        )
    overload = getattr(op, "_opoverload", op)
    if isinstance(overload, OpOverloadPacket) and "default" in overload.overloads():
        overload = overload.default
    if getattr(overload, "operator", None) is None:
        raise errors.value_error(
            f"opcheck(op, ...): op must be instance of torch._ops.OpOverload or CustomOpDef of "
            f"torch.library, got {type(op)}",
            "Pass torch.ops.mylib.myop.default.",
        )
    found: dict[str, Any] = {}
    for name in names:
        try:
            _TESTS[name](overload, args, kwargs or {}, (rtol, atol))
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            found[name] = error
        else:
            found[name] = "SUCCESS"
    return found


def _copied(values: Any) -> Any:
    """Arguments of their own, leaves where they were."""

    def copy(x: Any) -> Any:
        if not isinstance(x, TensorBase):
            return x
        return x.detach().clone().requires_grad_(x.requires_grad)

    return tree_map(copy, values)


def _schema(overload: Any, args: tuple, kwargs: dict, tolerance: tuple) -> None:
    from tapegrad.library.binding import bind, filled

    schema = overload._schema
    bound = filled(schema, bind(schema, *_copied((args, kwargs))))
    values = dict(zip([each.name for each in schema.arguments], bound.args, strict=False))
    values |= bound.kwargs
    before = _copied(values)
    results = overload(*bound.args, **bound.kwargs)
    for argument in schema.arguments:
        pairs = zip(
            tree_leaves(before[argument.name]), tree_leaves(values[argument.name]), strict=True
        )
        for old, new in pairs:
            if isinstance(old, TensorBase) and not argument.is_write and not _equal(old, new):
                raise errors.runtime_error(
                    f"Argument {argument.name} is not defined as mutable but was mutated",
                    "Name it in mutates_args.",
                )
            shared = isinstance(old, TensorBase) and any(
                isinstance(y, TensorBase)
                and y.numel()
                and y.untyped_storage().data_ptr() == new.untyped_storage().data_ptr()
                for y in tree_leaves(results)
            )
            if shared and argument.alias_info is None:
                raise errors.runtime_error(
                    f"Argument {argument.name} is not defined to alias output but was aliasing",
                    "Return a clone, or mark it: Tensor(a) x.",
                )


def _equal(a: Any, b: Any) -> bool:
    try:
        tapegrad.testing.assert_close(a.detach(), b.detach(), rtol=0, atol=0, equal_nan=True)
    except AssertionError:
        return False
    return True


def _autograd(overload: Any, args: tuple, kwargs: dict, tolerance: tuple) -> None:
    args, kwargs = _copied((args, kwargs))
    wanted = [x for x in tree_leaves((args, kwargs)) if getattr(x, "requires_grad", False)]
    operator = overload.operator
    if not wanted or operator.schema.is_mutable:
        return
    if operator.formula is None and operator.custom is None:
        keys = {"Autograd", "AutogradCPU", "AutogradCUDA", "CompositeImplicitAutograd"}
        if not keys & operator.kernels.keys():
            raise errors.assertion_error(
                f"{overload.name()}: a Tensor requires grad, but no autograd formula is registered "
                "for the operator.",
                "torch.library.register_autograd adds one.",
            )


def _fake(overload: Any, args: tuple, kwargs: dict, tolerance: tuple) -> None:
    real = tree_leaves(overload(*_copied(args), **_copied(kwargs)))

    def on_meta(x: Any) -> Any:
        if not isinstance(x, TensorBase):
            return x
        return x.detach().to("meta").requires_grad_(x.requires_grad)

    fake = tree_leaves(overload(*tree_map(on_meta, args), **tree_map(on_meta, kwargs)))
    if len(real) != len(fake):
        raise errors.assertion_error(
            f"The fake kernel gives {len(fake)} results, the operator {len(real)}",
            "Return as many.",
        )
    for x, y in zip(real, fake, strict=True):
        if not isinstance(x, TensorBase):
            continue
        for what in ("shape", "dtype"):
            if getattr(x, what) != getattr(y, what):
                raise errors.assertion_error(
                    f"{what} mismatch! Got {getattr(y, what)} of the fake kernel and "
                    f"{getattr(x, what)} of the operator",
                    "The fake kernel has to give what the operator gives.",
                )


def _twice(overload: Any, args: tuple, kwargs: dict, tolerance: tuple) -> None:
    rtol, atol = tolerance

    def run() -> list[Any]:
        given = _copied((args, kwargs))
        results = tree_leaves(overload(*given[0], **given[1]))
        total = [
            x.real.sum() if x.is_complex() else x.sum()
            for x in results
            if isinstance(x, TensorBase) and x.requires_grad
        ]
        if total:
            sum(total).backward()
        leaves = [x for x in tree_leaves(given) if isinstance(x, TensorBase)]
        return [*results, *(x.grad for x in leaves if x.grad is not None)]

    for a, b in zip(run(), run(), strict=True):
        tapegrad.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if any(each.is_write for each in overload._schema.arguments):
        return
    _fake(overload, args, kwargs, tolerance)


_TESTS: dict[str, Callable] = {
    "test_schema": _schema,
    "test_autograd_registration": _autograd,
    "test_faketensor": _fake,
    "test_aot_dispatch_dynamic": _twice,
    "test_aot_dispatch_static": _twice,
}
