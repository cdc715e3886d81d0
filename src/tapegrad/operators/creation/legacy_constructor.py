"""The constructors from before `torch.tensor`: `Tensor(...)`, `FloatTensor(...)` and the others."""

import numpy as np

from tapegrad.core import errors, tensor_base, torch_dispatch, uninitialized
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.device import as_device, place
from tapegrad.core.dtype import ALIASES, default
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.memory_format import strided
from tapegrad.core.shape import ints_of
from tapegrad.core.size import Size
from tapegrad.core.torch_function import undisturbed
from tapegrad.core.untyped_storage import elements_given
from tapegrad.operators.creation.factory_options import build
from tapegrad.operators.creation.nested_list import array_of
from tapegrad.operators.creation.tensor import cast, supported


def legacy_tensor(
    cls: type, args: tuple, kwargs: dict, dtype: Dtype | None = None, is_new: bool = False
) -> Any:
    """What `cls(*args, **kwargs)` makes: a tensor of given sizes, uninitialised, or one of data."""
    _check_keywords(args, kwargs)
    if "size" in kwargs:
        args = (Size(kwargs["size"]),)
    elif "data" in kwargs or "other" in kwargs:
        args = (kwargs["data"] if "data" in kwargs else kwargs["other"],)
    kind = default() if dtype is None else dtype
    if len(args) == 1 and isinstance(args[0], tensor_base.Tensor):
        if kwargs.get("device") is not None:
            raise _no_device(is_new)
        result = _of_tensor(args[0], dtype)
    else:
        result = build("empty", legacy_array, args, kind, where=place(kwargs.get("device")))
    if cls is not tensor_base.Tensor:
        result = retyped(result, cls)
    return result


def retyped(tensor: Tensor, cls: type) -> Any:
    """The same tensor as an object of `cls`, a subclass of `Tensor`."""
    if not issubclass(cls, tensor_base.TensorBase):
        raise errors.type_error(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor.",
            "class Mine(torch.Tensor): ...",
        )
    if type(tensor._array) is torch_dispatch.StandIn:
        if issubclass(type(tensor), cls):
            return tensor
        raise errors.runtime_error(
            f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already "
            f"associated to a python object of type {type(tensor).__name__} which is not a "
            "subclass of the requested type",
            "Make the object of what the tensor wraps.",
        )
    made: Any = object.__new__(cls)
    for name in ("_array", "_node", "_counter", "_view", "_grad", "_signature", "_born"):
        setattr(made, name, getattr(tensor, name))
    if torch_dispatch.dispatches(cls):
        array = tensor._array
        inside = array.inside if type(array) is torch_dispatch.StandIn else array
        made._array, made._signature = torch_dispatch.StandIn(made, array, inside), False
    return made


def legacy_array(args: tuple, dtype: Dtype) -> np.ndarray:
    """The array meant by the arguments of a constructor: sizes as integers, or data."""
    if not args:
        return np.empty(0, dtype.numpy)
    first = args[0]
    if len(args) == 1:
        text = (
            f"Expected a Storage of type {dtype.scalar_name} or an UntypedStorage, but got type "
            "{} for argument 1 'storage'"
        )
        elements = elements_given(first, dtype, text)
        if elements is not None:
            return elements
    is_size = type(first).__name__ == "Size" or _is_integer(first)
    if not is_size and len(args) == 1:
        if isinstance(first, np.ndarray):
            return cast(supported(first), dtype, copy=False)
        return array_of(_sequence(first), dtype)
    shape = ints_of("new", "size", args)
    for n in shape:
        if n < 0:
            advice = "Sizes are not negative. For a tensor of these numbers, pass them in a list."
            raise errors.negative_size(n, list(shape), advice)
    return uninitialized.empty(shape, dtype.numpy)


def _is_integer(x: object) -> bool:
    if isinstance(x, (bool, np.bool_, np.ndarray, list, tuple)):
        return False
    return hasattr(type(x), "__index__")


def _sequence(x: Tensor) -> Any:
    if isinstance(x, str) or (hasattr(x, "__len__") and hasattr(x, "__getitem__")):
        return x
    text = f"new(): data must be a sequence (got {errors.type_name(x)})"
    raise errors.type_error(text, "torch.tensor() takes a single number.")


def _no_device(is_new: bool) -> RuntimeError:
    text = "constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
    text += "torch.tensor(...) or torch.as_tensor(...) instead."
    if is_new:
        text = "new of the form tensor.new(tensor, device=device) is not supported.  Use "
        text += "torch.as_tensor(...) instead."
    return errors.runtime_error(f"Legacy tensor {text}", "Leave device= away.")


def _of_tensor(x: Tensor, dtype: Dtype | None) -> Any:
    if dtype is not None and dtype is not x.dtype:
        text = f"expected {_options(dtype)} (got {_options(x.dtype)})"
        raise errors.type_error(text, f"Convert the tensor: x.to({dtype}).")
    from tapegrad.operators.shape.as_strided import alias

    return alias(x)


def _options(dtype: Dtype) -> str:
    return (
        f"TensorOptions(dtype={errors.c_name(dtype)}, device=cpu, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


_FORMS = (
    "*, torch.device device = None",
    "torch.Storage storage",
    "Tensor other",
    "tuple of ints size, *, torch.device device = None",
    "object data, *, torch.device device = None",
)


def _is_sizes(x: object) -> bool:
    return isinstance(x, (tuple, list)) and all(map(_is_integer, x))


def _check_keywords(args: tuple, kwargs: dict) -> None:
    if not kwargs:
        return
    given = [name for name in kwargs if name != "device"]
    unknown = [name for name in given if name not in ("data", "other", "size")]
    wrong = "size" in kwargs and not _is_sizes(kwargs["size"])
    wrong = wrong or ("other" in kwargs and not hasattr(kwargs["other"], "_array"))
    if unknown or wrong or len(args) + len(given) > max(1, len(args)):
        raise errors.invalid_combination("new", args, kwargs, _FORMS)
    if kwargs.get("device") is not None and as_device(kwargs["device"]).type != "cpu":
        kind = as_device(kwargs["device"]).type
        text = f"legacy constructor expects device type: cpu but device type: {kind} was passed"
        raise errors.runtime_error(text, "There is no GPU here: leave device= away.")


class tensortype(type):
    """The class of `FloatTensor` and its like: every tensor of their dtype is an instance."""

    dtype: Any
    layout = strided
    is_cuda = False
    is_sparse = False

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, tensor_base.Tensor) or cls.is_cuda:
            return False
        return undisturbed(lambda: instance.dtype) is cls.dtype

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        if cls.is_cuda:
            raise errors.type_error(
                f"type {cls.__module__}.{cls.__name__} not available. Torch not compiled with "
                "CUDA enabled.",
                "Use the constructor without cuda: the tensor is then on the CPU.",
            )
        return undisturbed(legacy_tensor, tensor_base.Tensor, args, kwargs, cls.dtype)


tensortype.__module__ = "torch"


def _typed(name: str, dtype: Dtype, *, cuda: bool = False) -> Any:
    text = f"Makes tensors of {dtype}: `{name}(2, 3)` of that shape, `{name}([2, 3])` of data."
    names = {"dtype": dtype, "is_cuda": cuda, "__doc__": text}
    return tensortype(name, (), {**names, "__module__": "torch.cuda" if cuda else "torch"})


FloatTensor = _typed("FloatTensor", ALIASES["float32"])
DoubleTensor = _typed("DoubleTensor", ALIASES["float64"])
HalfTensor = _typed("HalfTensor", ALIASES["float16"])
BFloat16Tensor = _typed("BFloat16Tensor", ALIASES["bfloat16"])
LongTensor = _typed("LongTensor", ALIASES["int64"])
IntTensor = _typed("IntTensor", ALIASES["int32"])
ShortTensor = _typed("ShortTensor", ALIASES["int16"])
CharTensor = _typed("CharTensor", ALIASES["int8"])
ByteTensor = _typed("ByteTensor", ALIASES["uint8"])
BoolTensor = _typed("BoolTensor", ALIASES["bool"])

TYPES = {
    each.__name__: each
    for each in (
        *(FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, LongTensor),
        *(IntTensor, ShortTensor, CharTensor, ByteTensor, BoolTensor),
    )
}


def cuda_type(name: str) -> Any:
    """`torch.cuda.FloatTensor` and the like: names without a GPU behind them."""
    found = _cuda_types.get(name)
    if found is None:
        found = _cuda_types[name] = _typed(name, TYPES[name].dtype, cuda=True)
    return found


_cuda_types: dict[str, Any] = {}


__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
    "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
]  # fmt: skip
