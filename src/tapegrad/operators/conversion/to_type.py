"""Other dtypes: `to`, `type`, `float()` and the like; devices, of which there is one."""

import numpy as np

from tapegrad.arrays.namespaces import native_dtype
from tapegrad.core import errors, tensor_base
from tapegrad.core import memory_format as _memory_format
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, MemoryFormat, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.device import CPU, META, place, require_cpu
from tapegrad.core.device import device as Device
from tapegrad.core.dtype import bool_, complex128, default, float64, int64
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.meta_array import MetaArray, device_of, no_data, preserved_nowhere
from tapegrad.core.result_order import as_first
from tapegrad.core.torch_function import overridden
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.clone import copied_as

_BUILTIN = {float: float64, int: int64, bool: bool_, complex: complex128}


ndarray = np.ndarray


def _from_nowhere(xp: Any, g: Any) -> Any:
    """What comes back from the meta device has no elements."""
    raise no_data()


@vjp(x=lambda xp, g, x_like: xp.astype(g, x_like.dtype, copy=False))
@linear(node="ToCopyBackward0", order=as_first)
def to_copy(xp, x, *, dtype):
    """The same numbers in another dtype."""
    return xp.astype(x, native_dtype(xp, dtype))


@vjp(x=_from_nowhere)
@linear(node="ToCopyBackward0", registered=False)
def to_meta(xp, x):
    """A tensor's shape, dtype and strides without its elements."""
    return preserved_nowhere(resolved(x), x.dtype)


def moved_to(x: Any, where: Any) -> Any:
    """A tensor on the CPU (None) or on the meta device; itself if it is there."""
    here = None if device_of(x._array) is CPU else META
    if here is where:
        return x
    if where is None:
        raise no_data()
    return to_meta(x)


def cast(x: Any, dtype: Dtype) -> Any:
    """`x` in another dtype; itself if it has that."""
    have = x.dtype
    if have is dtype:
        return x
    if have.is_complex and dtype.category in (1, 2):
        _warn_of_lost_part()
    return to_copy(x, dtype=dtype)


def _warn_of_lost_part() -> None:
    warn_once("Casting complex values to real discards the imaginary part")


def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The tensor in another dtype; itself if nothing changes.

    Call it as `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(other_tensor)`; each takes
    `non_blocking`, `copy` and `memory_format` besides.

    >>> torch.tensor([1, 2]).to(torch.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    if len(args) == 1 and not kwargs:
        target = args[0]
        kind = type(target)
        if kind is Dtype:
            return cast(self, target)
        if (kind is str and target == "cpu") or (kind is Device and target.type == "cpu"):
            return self if type(self._array) is ndarray else moved_to(self, None)
    again = None
    try:
        device, dtype, copy, format = parse_to(args, kwargs)
    except Exception:
        again = overridden(to, (self, *args), kwargs)
        if again is None:
            raise
    if again is not None:
        return again()
    if device is not None:
        self = moved_to(self, place(device))
    if dtype is None:
        dtype = self.dtype
    if format is not None and format is not _memory_format.preserve_format:
        _memory_format.check_format("to", format, self.ndim)
        kept = not copy and dtype is self.dtype
        if kept and _memory_format.suggested(self._array) is format:
            return self
        return copied_as(cast(self, dtype), format)
    if dtype is self.dtype:
        return to_copy(self, dtype=dtype) if copy else self
    return cast(self, dtype)


def parse_to(args: tuple, kwargs: dict) -> tuple:
    """(device, dtype, copy, memory_format) of the arguments of `to`, of a tensor or module."""
    named = dict(kwargs)
    if "tensor" in named and not args:
        args = (named.pop("tensor"),)
    format = named.pop("memory_format", None)
    if format is not None and type(format) is not _memory_format.memory_format:
        raise _invalid(args, kwargs)
    rest = list(args)
    device = dtype = None
    first = rest[0] if rest else None
    if isinstance(first, tensor_base.Tensor):
        device, dtype = first.device, first.dtype
        rest.pop(0)
        order: tuple = ("non_blocking", "copy")
    elif type(first) is Dtype or _is_builtin(first):
        order = ("dtype", "non_blocking", "copy")
    else:
        order = ("device", "dtype", "non_blocking", "copy")
    values = dict(zip(order, rest, strict=False))
    if len(rest) > len(order) or values.keys() & named.keys():
        raise _invalid(args, kwargs)
    values.update(named)
    if not values.keys() <= {*order, "dtype"} or ("dtype" in named and dtype is not None):
        raise _invalid(args, kwargs)
    device = values.get("device", device)
    dtype = values.get("dtype", dtype)
    if device is not None and not isinstance(device, (str, Device, int)):
        raise _invalid(args, kwargs)
    if dtype is not None and type(dtype) is not Dtype:
        if not _is_builtin(dtype):
            raise _invalid(args, kwargs)
        dtype = _BUILTIN[dtype]
    for name in ("non_blocking", "copy"):
        if type(values.get(name, False)) is not bool:
            raise _invalid(args, kwargs)
    return device, dtype, values.get("copy", False), format


def _is_builtin(x: Any) -> bool:
    return isinstance(x, type) and x in _BUILTIN


_TAIL = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None"
_FORMS = (
    f"torch.device device = None, torch.dtype dtype = None, {_TAIL}",
    f"torch.dtype dtype, {_TAIL}",
    f"Tensor tensor, {_TAIL}",
)


def _invalid(args: tuple, kwargs: dict) -> TypeError:
    return errors.invalid_combination("to", args, kwargs, _FORMS)


def cast_as(x: Any, dtype: Dtype, format: Any) -> Any:
    """`x` in another dtype and memory format."""
    return cast(x, dtype) if format is None else to(x, dtype, memory_format=format)


def type_(self: Any, dtype: DTypeLike = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """The name of the tensor's type; with `dtype`, the tensor in that dtype.

    >>> torch.ones(2).type()
    'torch.FloatTensor'
    >>> torch.ones(2).type(torch.int64)
    tensor([1, 1])
    """
    if dtype is None:
        kind = "" if type(self._array) is not MetaArray else "meta."
        return f"torch.{kind}{self.dtype.scalar_name}Tensor"
    return cast(self, dtype_of_type(dtype))


def dtype_of_type(given: object) -> Dtype:
    """The dtype meant by a dtype, a type such as `torch.LongTensor`, or the name of one."""
    from tapegrad.operators.creation.legacy_constructor import TYPES, tensortype

    if type(given) is Dtype:
        return given
    if given is tensor_base.Tensor:
        return default()
    if type(given) is tensortype:
        if given.is_cuda:
            require_cpu("cuda")
        return given.dtype
    if not isinstance(given, (str, type)):
        text = "dtype must be a type, str, or dtype object"
        raise errors.type_error(text, "Pass a dtype such as torch.float32.")
    name = given if isinstance(given, str) else given.__name__
    if name.startswith("torch.cuda."):
        require_cpu("cuda")
    found = TYPES.get(name.removeprefix("torch.")) if name.startswith("torch.") else None
    if found is None:
        if name == "torch.Tensor":
            return default()
        raise errors.value_error(f"invalid type: '{name}'", "Pass a dtype such as torch.float32.")
    return found.dtype


@require_tensors
def type_as(self: Tensor, other: Tensor) -> Any:
    """The tensor in the dtype of `other`.

    >>> torch.ones(2).type_as(torch.tensor(3))
    tensor([1, 1])
    """
    errors.need_tensor("type_as", "other", 1, other)
    return cast(self, other.dtype)


def cpu(self: Tensor, memory_format: MemoryFormat = None) -> Any:
    """The tensor on the CPU: itself.

    >>> torch.ones(2).cpu()
    tensor([1., 1.])
    """
    if type(self._array) is not ndarray:
        self = moved_to(self, None)
    return self if memory_format is None else to(self, memory_format=memory_format)


def cuda(
    self: Tensor,
    device: DeviceLike = None,
    non_blocking: bool = False,
    memory_format: MemoryFormat = None,
) -> Any:
    """The tensor on a GPU: an error, there is none.

    >>> torch.zeros(2).cuda()
    Traceback (most recent call last):
    AssertionError: Torch not compiled with CUDA enabled
    tapegrad computes on the CPU: pass device='cpu', or ask torch.cuda.is_available() first.
    """
    require_cpu("cuda" if device is None else device)
    return self
