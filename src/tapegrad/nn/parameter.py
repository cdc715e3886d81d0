"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from collections import OrderedDict

import numpy as np

from tapegrad.autograd.captured import born_of
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import make_leaf
from tapegrad.core.annotations import Any, Callable, DeviceLike, DTypeLike, Shape
from tapegrad.core.dtype import default
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.tensor_base import BORN, REFUSING, wrap
from tapegrad.core.torch_function import IN_USE, disabled, undisturbed
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """The class of `Parameter`: a marked tensor of a class that overrides is one, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and "_is_param" in vars(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a parameter of the module it is assigned to; it requires grad.

    It shares its memory with `data`. Of a tensor of a class of your own it makes one of that class,
    marked so that it counts as a parameter.

    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()
    __torch_function__ = disabled

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        kind = type(data)
        if data is not None and kind is not Tensor and kind is not Parameter and kind is not cls:
            return _marked(data, requires_grad)
        return (
            undisturbed(_of_plain, cls, data, requires_grad)
            if IN_USE
            else _of_plain(cls, data, requires_grad)
        )

    def __repr__(self) -> str:
        text = super().__repr__()
        if type(self) is not Parameter:
            text = f"Parameter({text})"
        return f"Parameter containing:\n{text}"

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


def _of_plain(cls: type, data: Tensor | None, requires_grad: bool) -> Any:
    """A parameter that shares its memory with a tensor of no class of the program."""
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
    if REFUSING[0] and data is not None:
        parameter._born = born_of(data)
    if data is not None and type(mode) is not bool:
        mode.cut(data, parameter, "nn.Parameter()")
    return parameter


def _marked(data: Any, requires_grad: bool) -> Any:
    """A parameter of the class of `data`, which is a class of the program."""
    found = data.detach().requires_grad_(requires_grad)
    if type(found) is not type(data):
        raise runtime_error(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
            f"detach() returns an instance of the same type, but return type "
            f"{type(found).__name__} was found instead. To use the type as a Parameter, please "
            "correct the detach() semantics defined by its __torch_dispatch__() implementation.",
            "Let __torch_function__ give an object of the class for torch.Tensor.detach.",
        )
    found._is_param = True
    return found


def _make(cls: type, array: Any, requires_grad: bool) -> Any:
    parameter: Any = object.__new__(cls)
    parameter._array = array
    parameter._node = parameter._counter = parameter._view = None
    parameter._grad = parameter._signature = None
    parameter._born = BORN[0]
    return make_leaf(parameter) if requires_grad else parameter


def _rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any) -> Parameter:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, hooks: Any, state: dict[str, Any]
) -> Parameter:
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(state)
    return parameter


class _BufferMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and "_is_buffer" in instance.__dict__


class Buffer(metaclass=_BufferMeta):
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


def add_parameter(
    module: Any, name: str, wanted: bool, shape: Any, device: Any = None, dtype: Any = None
) -> None:
    """Register a parameter that is still to be filled, or None where it is not wanted."""
    parameter = Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None
    module.register_parameter(name, parameter)


_CALL = "Call the lazy module once with an input of the size that it will get."
_KNOWN = frozenset(
    "convert data detach device dtype grad grad_fn is_cuda is_leaf materialize persistent "
    "requires_grad requires_grad_ share_memory_".split()
)


def require_initialized(weight: Any, hook: str, what: str) -> None:
    """Raise if a weight waits for its first input."""
    if is_lazy(weight):
        raise value_error(
            f"The module passed to `{hook}` can't have uninitialized parameters. Make sure to run "
            f"the dummy forward before applying {what}",
            _CALL,
        )


class UninitializedTensorMixin:
    """A tensor without shape or elements; `materialize` makes an ordinary one of it."""

    __slots__ = ()
    __torch_function__ = disabled

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

    def convert(self, fn: Callable) -> None:
        """Have the dtype and device that `fn` gives an empty tensor."""
        data, kind = fn(self.data), type(self)
        self._become(data)
        self.__class__ = kind

    def _become(self, data: object) -> None:
        tensor: Any = self
        tensor.__class__ = self._becomes
        tensor.data = data

    def materialize(self, shape: Shape, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
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


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter that has no shape yet.

    >>> torch.nn.UninitializedParameter()
    <UninitializedParameter>
    """

    __slots__ = ()

    _becomes = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: DeviceLike = None, dtype: DTypeLike = None
    ) -> Any:
        parameter = Parameter(empty(0, device=device, dtype=dtype), requires_grad)
        parameter.__class__ = cls
        return parameter


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer that has no shape yet.

    >>> torch.nn.UninitializedBuffer()
    <UninitializedBuffer>
    """

    __slots__ = ()

    _becomes = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
        persistent: bool = True,
    ) -> Any:
        buffer = empty(0, device=device, dtype=dtype).requires_grad_(requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        buffer.__class__ = cls
        return buffer


def is_lazy(param: Tensor) -> bool:
    """Whether a parameter or buffer has no shape yet.

    >>> torch.nn.parameter.is_lazy(torch.nn.LazyLinear(3).weight)
    True
    """
    return isinstance(param, UninitializedTensorMixin)


__getattr__ = _refuses(__name__)
