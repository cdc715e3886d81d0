"""Derivatives and batches of operators that programs define: each is an `autograd.Function`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import tapegrad
from tapegrad.autograd.function import Function
from tapegrad.autograd.mode import MODE, Mode, is_grad_enabled, no_grad
from tapegrad.core import errors
from tapegrad.core.registration import CUSTOM_FUNCTIONS
from tapegrad.core.tensor_base import TensorBase
from tapegrad.library.binding import Bound, filled

if TYPE_CHECKING:
    from tapegrad.library.operator import Operator


class Formula(NamedTuple):
    """What `register_autograd` was given."""

    backward: Callable | None
    setup_context: Callable | None


class Call:
    """A call without its tensors, which go through the graph: those are put in again."""

    def __init__(self, operator: Operator, bound: Bound):
        self.operator = operator
        self.tensors: list[Any] = []
        self._args = tuple([self._taken(value) for value in bound.args])
        self._kwargs = {name: self._taken(value) for name, value in bound.kwargs.items()}

    def _taken(self, value: Any) -> Any:
        if isinstance(value, TensorBase):
            self.tensors.append(value)
            return _Place(len(self.tensors) - 1)
        if isinstance(value, list):
            return [self._taken(each) for each in value]
        return value

    def put(self, values: Any) -> Bound:
        """The arguments with `values` in place of the tensors."""

        def back(value: Any) -> Any:
            if isinstance(value, _Place):
                return values[value.n]
            return [back(each) for each in value] if isinstance(value, list) else value

        args = tuple([back(value) for value in self._args])
        return Bound(args, {name: back(value) for name, value in self._kwargs.items()})

    def shaped(self, values: Any, other: Any) -> tuple:
        """`values` where tensors are among the arguments by place, `other` elsewhere."""

        def back(value: Any) -> Any:
            if isinstance(value, _Place):
                return values[value.n]
            if isinstance(value, list) and any(map(_is_place, value)):
                return [back(each) for each in value]
            return other

        return tuple([back(value) for value in self._args])

    def result(self, found: Any) -> Any:
        """What the function gave, as the signature has it: a list where it says one."""
        returns = self.operator.schema.returns
        if len(returns) == 1 and returns[0].schema_type.is_list and isinstance(found, tuple):
            return list(found)
        return found


class _Place(NamedTuple):
    """Where a tensor was."""

    n: int


class _Formula(Function):
    """What all such functions share; the last argument is the call."""

    @staticmethod
    def forward(*args: Any) -> Any:
        call = args[-1]
        result = call.operator.below(call.put(args[:-1]))
        return tuple(result) if isinstance(result, list) else result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        call = inputs[-1]
        ctx._library_call = _without_tensors(call)
        formula = call.operator.formula
        if formula is None or formula.setup_context is None:
            return  # what is to be saved nobody says
        whole = filled(call.operator.schema, call.put(inputs[:-1]))
        needs = ctx.needs_input_grad
        ctx.needs_input_grad = call.shaped(needs, False)
        named = {"keyword_only_inputs": whole.kwargs} if whole.kwargs else {}
        try:
            formula.setup_context(ctx=ctx, inputs=whole.args, output=call.result(output), **named)
        finally:
            ctx.needs_input_grad = needs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call = ctx._library_call
        operator = call.operator
        formula = operator.formula
        if formula is None or formula.backward is None:
            raise errors.runtime_error(
                f"Trying to backward through {operator.overload} but no autograd formula was "
                "registered. Please use register_autograd to add one.",
                "To compute without a gradient, call it under torch.no_grad().",
            )
        needs = ctx.needs_input_grad
        ctx.needs_input_grad = call.shaped(needs, False)
        given = (list(grads),) if call.result(()) == [] else grads
        try:
            found = formula.backward(ctx, *given)
        finally:
            ctx.needs_input_grad = needs
        return (*_in_order(call, found, len(needs) - 1), None)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
        call = args[-1]
        rule = call.operator.vmap_rule
        if rule is None:
            return _each_sample(info, in_dims, *args)
        bound = call.put(args[:-1])
        return rule(info, call.shaped(in_dims, None), *bound.args, **bound.kwargs)


def _each_sample(info: Any, in_dims: tuple, *args: Any) -> tuple[Any, int]:
    """The operator on one sample after the other, as PyTorch does where there is no rule."""
    call = args[-1]
    rows = []
    for i in range(info.batch_size):
        sample = [
            x if dim is None else x.select(dim, i)
            for x, dim in zip(args[:-1], in_dims, strict=False)
        ]
        found = call.operator.dispatch(call.put(sample))
        rows.append(tuple(found) if isinstance(found, list | tuple) else (found,))
    stacked = tuple([tapegrad.stack(column) for column in zip(*rows, strict=True)])
    return (stacked if call.operator.schema.several or len(stacked) > 1 else stacked[0]), 0


def _without_tensors(call: Call) -> Call:
    call.tensors = []
    return call


def _in_order(call: Call, found: Any, n: int) -> list[Any]:
    """The gradients of the tensors of a call, from those of its arguments."""
    name = call.operator.overload
    if not isinstance(found, tuple):
        found = (found,)
    args = call._args
    if any(isinstance(value, list) for value in args):
        _check_structure(args, found)
    while len(found) > len(args) and found[-1] is None:
        found = found[:-1]
    if len(found) != len(args):
        raise errors.runtime_error(
            f"function {node_name(name)}Backward returned an incorrect number of gradients "
            f"(expected {len(args)}, got {len(found)})",
            "backward returns a gradient, or None, for each argument of the operator.",
        )
    gradients: list[Any] = [None] * n
    for i, (place, gradient) in enumerate(zip(args, found, strict=True)):
        places = place if isinstance(place, list) else [place]
        each = gradient if isinstance(place, list) and gradient is not None else [gradient]
        for one, g in zip(places, each, strict=False):
            if isinstance(one, _Place):
                gradients[one.n] = g
            elif g is not None:
                raise errors.runtime_error(
                    f"function {node_name(name)}Backward returned a gradient different from None "
                    f"at position {i + 1}, but the corresponding forward input was not a Variable",
                    "Return None for what is no tensor.",
                )
    return gradients


def _check_structure(args: tuple, found: tuple) -> None:
    from tapegrad.utils._pytree import tree_structure

    def shape(values: tuple) -> tuple:
        return tuple([len(each) if isinstance(each, list) else None for each in values])

    lists = [isinstance(value, list) and any(map(_is_place, value)) for value in args]
    wrong = len(found) < len(args) or any(
        is_list and each is not None and shape((value,)) != shape((each,))
        for is_list, value, each in zip(lists, args, found, strict=False)
    )
    if wrong:
        raise errors.runtime_error(
            "Expected the return from backward to be of the same structure as the inputs. Got: "
            f"{tree_structure(found)} (return from backward), {tree_structure(args)} (inputs)",
            "For a list of tensors return a list of gradients.",
        )


def _is_place(value: Any) -> bool:
    return isinstance(value, _Place)


def node_name(overload: Any) -> str:
    """What a node of the operator is called, less the word Backward."""
    return f"GeneratedBackwardFor_{str(overload).replace('.', '_')}"


@cache
def _function_of(operator: Operator) -> Any:
    return type(node_name(operator.overload), (_Formula,), {})


def recorded(operator: Operator, bound: Bound) -> Any:
    """The result of a call, behind a node that has the operator's formula."""
    call = Call(operator, bound)
    if _has_tensors_by_name(call):
        # PyTorch has no gradient for those either: register_autograd refuses such operators.
        return operator.below(bound)
    grad = MODE.get()
    if type(grad) is bool and not (grad and any([x.requires_grad for x in call.tensors])):
        with no_grad():
            return operator.below(bound)
    return call.result(_function_of(operator).apply(*call.tensors, call))


def _has_tensors_by_name(call: Call) -> bool:
    return any(
        isinstance(each, _Place)
        for value in call._kwargs.values()
        for each in (value if isinstance(value, list) else [value])
    )


def is_mapped(bound: Bound) -> bool:
    """Whether `vmap` maps over an argument."""
    mode = MODE.get()
    if not isinstance(mode, Mode):
        return False
    return CUSTOM_FUNCTIONS().mapping_of(mode, tuple(bound.tensors())) is not None


_WARNING = (
    "{}: an autograd kernel was not registered to the Autograd key(s) but we are trying to "
    "backprop through it. This may lead to silently incorrect behavior. This behavior is "
    "deprecated and will be removed in a future version of PyTorch. If your operator is "
    "differentiable, please ensure you have registered an autograd kernel to the correct Autograd "
    "key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your operator "
    "is not differentiable, or to squash this warning and use the previous behavior, please "
    "register torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
)


class _WarnNotImplemented(Function):
    """The end of a graph: results of an operator of which no derivative is known."""

    @staticmethod
    def forward(ctx: Any, name: str, results: list, *tensors: Any) -> Any:
        ctx.name, ctx.n = name, len(tensors)
        return tuple([each.view_as(each) for each in results])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        warnings.warn(_WARNING.format(ctx.name), stacklevel=2)
        return (None,) * (2 + ctx.n)


_WarnNotImplemented._backward_cls.__name__ = "WarnNotImplemented"


def unrecorded(operator: Operator, bound: Bound, result: Any) -> Any:
    """The result of a kernel for which no derivative is registered: to go back warns."""
    if not is_grad_enabled() or operator.schema.is_mutable:
        return result
    inputs = [x for x in bound.tensors() if x.requires_grad]
    if not inputs:
        return result
    name = operator.schema.name
    several = isinstance(result, tuple | list)
    outs = list(result) if several else [result]
    cut = []
    for i, out in enumerate(outs):
        if not isinstance(out, TensorBase):
            continue
        if out.requires_grad:
            out.register_hook(lambda g: warnings.warn(_WARNING.format(name), stacklevel=2))
        elif out.dtype.is_floating_point or out.dtype.is_complex:
            cut.append(i)
    if cut:
        ends = _WarnNotImplemented.apply(name, [outs[i] for i in cut], *inputs)
        for i, end in zip(cut, ends, strict=True):
            outs[i] = end
    return type(result)(outs) if several else outs[0]
