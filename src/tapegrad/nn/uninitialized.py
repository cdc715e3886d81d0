"""Parameters and buffers that have no shape yet: those of lazy modules before their first call."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.tensor_base import wrap
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor

_CALL = "Call the lazy module once with an input of the size that it will get."
_KNOWN = frozenset(
    "convert data detach device dtype grad grad_fn is_cuda is_leaf materialize persistent "
    "requires_grad requires_grad_ share_memory_".split()
)


class Uninitialized:
    """A tensor without shape or elements; `materialize` makes an ordinary one of it."""

    __slots__ = ()

    _becomes: type

    def __getattribute__(self, name: str) -> Any:
        # Operators read `_array`: whatever would compute ends here.
        if name in _KNOWN or (name[0] == "_" and name != "_array"):
            return object.__getattribute__(self, name)
        if name == "shape":
            raise runtime_error(
                "Can't access the shape of an uninitialized parameter or buffer. This error "
                "usually happens in `load_state_dict` when trying to load an uninitialized "
                "parameter into an initialized one. Call `forward` to initialize the "
                "parameters before accessing their attributes.",
                _CALL,
            )
        raise value_error(
            f"Attempted to use an uninitialized parameter in {name}. This error happens when "
            "you are using a `LazyModule` or explicitly manipulating "
            "`torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch "
            "functions",
            _CALL,
        )

    @property
    def data(self) -> Any:
        """An empty tensor of the dtype and device that this one will have."""
        return wrap(object.__getattribute__(self, "_array"))

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def device(self) -> Any:
        return self.data.device

    def detach(self) -> Any:
        """This tensor itself: there is nothing to detach."""
        return self

    def share_memory_(self) -> Any:
        raise runtime_error(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`.",
            _CALL,
        )

    def convert(self, fn: Any) -> None:
        """Have the dtype and device that `fn` gives an empty tensor."""
        data, kind = fn(self.data), type(self)
        self._become(data)
        self.__class__ = kind

    def _become(self, data: Any) -> None:
        tensor: Any = self
        tensor.__class__ = self._becomes
        tensor.data = data

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary tensor of this shape, its elements undefined.

        >>> p = torch.nn.UninitializedParameter()
        >>> p.materialize((2, 3))
        >>> p.shape
        torch.Size([2, 3])
        """
        device = self.device if device is None else device
        dtype = self.dtype if dtype is None else dtype
        self._become(empty(shape, device=device, dtype=dtype))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            kind: Any = type(self)
            memo[id(self)] = kind(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    __hash__ = object.__hash__


class UninitializedParameter(Uninitialized, Parameter):
    """A parameter that has no shape yet.

    >>> torch.nn.UninitializedParameter()
    <UninitializedParameter>
    """

    __slots__ = ()

    _becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        parameter = Parameter(empty(0, device=device, dtype=dtype), requires_grad)
        parameter.__class__ = cls
        return parameter


class UninitializedBuffer(Uninitialized, Tensor):
    """A buffer that has no shape yet.

    >>> torch.nn.UninitializedBuffer()
    <UninitializedBuffer>
    """

    __slots__ = ()

    _becomes = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        buffer = empty(0, device=device, dtype=dtype).requires_grad_(requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        buffer.__class__ = cls
        return buffer


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet.

    >>> torch.nn.parameter.is_lazy(torch.nn.LazyLinear(3).weight)
    True
    """
    return isinstance(param, Uninitialized)
