"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import make_leaf
from tapegrad.core.dtype import default
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor


class Parameter(Tensor):
    """A tensor that is a parameter of the module it is assigned to; it requires grad.

    It shares its memory with `data`.

    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        mode = MODE.get()
        if data is None:
            source: Any = wrap(np.empty(0, default().numpy))
        elif type(mode) is bool:
            source = data.detach()
        else:
            source = wrap(mode.alone(data._array))
        if requires_grad and not (source.dtype.is_floating_point or source.dtype.is_complex):
            raise runtime_error(
                "Only Tensors of floating point and complex dtype can require gradients",
                f"This one is {source.dtype}: pass requires_grad=False, or convert it.",
            )
        parameter = _make(cls, source._array, requires_grad)
        if data is not None and type(mode) is not bool:
            mode.cut(data, parameter, "nn.Parameter()")
        return parameter

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copy = _make(type(self), self._array.copy(), self.requires_grad)
            memo[id(self)] = copy
            mode = MODE.get()
            if type(mode) is not bool:
                mode.copied(self, copy, "copy.deepcopy()")
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        args: tuple = (self.data, self.requires_grad, OrderedDict())
        if self.__dict__:
            return _rebuild_parameter_with_state, (*args, dict(self.__dict__))
        return _rebuild_parameter, args


Parameter.__module__ = "torch.nn.parameter"


def _make(cls: type, array: Any, requires_grad: bool) -> Any:
    parameter: Any = object.__new__(cls)
    parameter._array = array
    parameter._node = parameter._counter = parameter._view = None
    parameter._grad = parameter._mark = None
    return make_leaf(parameter) if requires_grad else parameter


def _rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any) -> Parameter:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, hooks: Any, state: dict[str, Any]
) -> Parameter:
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(state)
    return parameter


class _BufferType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and "_is_buffer" in instance.__dict__


class Buffer(metaclass=_BufferType):
    """A tensor that becomes a buffer of the module it is assigned to: state, but no parameter.

    It is an ordinary tensor with a mark, and shares its memory with `data`. It is part of the
    module's `state_dict` if `persistent`.

    >>> m = torch.nn.Module()
    >>> m.mean = torch.nn.Buffer(torch.zeros(2))
    >>> dict(m.state_dict())
    {'mean': tensor([0., 0.])}
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        source = wrap(np.empty(0, default().numpy)) if data is None else data
        buffer = source.detach().requires_grad_(source.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


def __getattr__(name: str) -> Any:
    if name in ("UninitializedBuffer", "UninitializedParameter", "is_lazy"):
        from tapegrad.nn import uninitialized

        return getattr(uninitialized, name)
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
