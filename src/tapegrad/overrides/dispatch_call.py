"""Calls of operators as `__torch_dispatch__` is told of them: an overload and its arguments.

Arguments stand as `aten_form.py` says that PyTorch has them; for operators that it does not know,
tensors come first, and options follow by their own names. Called with arguments of the form that it
was handed over with, the overload runs the very operator again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tapegrad.autograd.operator_base import public_name
from tapegrad.core.annotations import Any, OperatorLike
from tapegrad.core.dtype import default as default_dtype
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_dispatch import tensors_of
from tapegrad.dispatch.apply import apply
from tapegrad.library.aten import overload_named, overload_of
from tapegrad.library.overload import HANDED, OpOverload
from tapegrad.overrides.aten_form import Form, form_of, same, variant


class Call(NamedTuple):
    """A call as it is handed over, and what the overload does when it is called."""

    overload: OpOverload
    args: tuple
    kwargs: dict[str, Any]
    run: Callable[[tuple, dict], Any]  # NotImplemented for arguments of another form
    grad: bool = False  # whether there is a grad mode outside, where the call was made

    def hand_to(self, handler: Callable, types: tuple = ()) -> Any:
        """What `handler`, a `__torch_dispatch__`, gives for the call."""
        token = HANDED.set(self)
        try:
            return handler(self.overload, types, self.args, self.kwargs)
        finally:
            HANDED.reset(token)


def call_of(op: OperatorLike, inputs: tuple, params: dict) -> Call:
    """A call of an operator as it is handed over."""
    overload, form = _meant(op, inputs, params)
    args, kwargs = (inputs, params) if form is None else form.written(inputs, params)

    def run(given: tuple, named: dict) -> Any:
        found = _read(form, inputs, params, given, named)
        if found is None:
            return NotImplemented
        if tensors_of(found[0]):
            return DISPATCH_CLASSES().with_classes(apply, (op, *found), {})
        return apply(op, *found)

    return Call(overload, tuple(args), dict(kwargs), run)


def _meant(op: OperatorLike, inputs: tuple, params: dict) -> tuple[OpOverload, Form | None]:
    """The overload that a call is, and the form in which it takes the arguments."""
    name, text = variant(op, inputs, params)
    if name:
        return overload_named(f"aten.{name}"), form_of(op, name, inputs, text)
    overload = _overload_for(op, inputs)
    return overload, form_of(op, overload.__name__, inputs)


def _overload_for(op: OperatorLike, inputs: tuple) -> OpOverload:
    first = inputs[0] if inputs else None
    if op.name == "matrix_product" and isinstance(first, TensorBase) and len(first.shape) > 2:
        return overload_named("aten.bmm.default")
    found = overload_of(op, inputs)
    if found is None:  # PyTorch has no such operator
        return overload_named(f"tapegrad.{public_name(op.name, op.node_name)}.default")
    return found


def _read(
    form: Form | None, inputs: tuple, params: dict, given: tuple, named: dict
) -> tuple[tuple, dict] | None:
    """Inputs and options of a call of the form in which this one was handed over.

    None if it has another form: more or fewer arguments, other keywords.
    """
    if form is not None:
        return form.read(inputs, params, given, named)
    if len(given) != len(inputs) or named.keys() != params.keys():
        return None
    changed = {name: value for name, value in named.items() if not same(value, params[name])}
    return given, {**params, **changed}


def write_call(
    name: str, op: OperatorLike, inputs: tuple, params: dict, run: Callable[[], Any]
) -> Call:
    """A call that writes into its first input: `copy_`, `fill_`, `index_put_`, `zero_`."""
    overload = "default"
    if name == "fill_":
        overload = "Scalar" if "value" in params else "Tensor"
    form = form_of(op.op, f"{name}.{overload}", inputs, "$0" if name == "zero_" else "")
    args, kwargs = (inputs, {}) if form is None else form.written(inputs, params)
    return _as_given(f"{name}.{overload}", args, kwargs, run)


def made_call(name: str, made: Any, run: Callable[[], Any]) -> Call:
    """A call that made the tensor `made`, of which `run` tells the modes around."""
    if name not in ("empty", "ones", "zeros", "rand", "randn"):
        return _as_given("lift_fresh.default", (made,), {}, run)
    overload = "memory_format" if name == "empty" else "default"
    options = {"device": made.device, "pin_memory": False}
    if made.dtype is not default_dtype():
        options = {"dtype": made.dtype, **options}
    return _as_given(f"{name}.{overload}", ([*made.shape],), options, run)


def _as_given(name: str, args: tuple, kwargs: dict, run: Callable[[], Any]) -> Call:
    """A call that `run` does where it is called with the very arguments."""

    def again(given: tuple, named: dict) -> Any:
        unchanged = same(given, args) and named.keys() == kwargs.keys()
        if not unchanged or not all(same(named[key], kwargs[key]) for key in kwargs):
            return NotImplemented
        return run()

    return Call(overload_named(f"aten.{name}"), args, kwargs, again)
