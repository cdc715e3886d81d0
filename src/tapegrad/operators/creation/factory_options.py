"""Options of functions that make tensors, and their `out=`."""

import numpy as np

from tapegrad.autograd.mode import MODE, check_memory, is_grad_enabled
from tapegrad.autograd.node import INFERENCE, make_leaf
from tapegrad.autograd.writable import check_storable
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Callable, DeviceLike, DTypeLike, LayoutLike, Out
from tapegrad.core.device import CPU, META, place
from tapegrad.core.dtype import as_dtype, default
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.memory_format import require_strided
from tapegrad.core.meta_array import device_of
from tapegrad.core.storage import grown_like
from tapegrad.core.torch_dispatch import CLASSES, StandIn
from tapegrad.core.torch_function import IN_USE, check_modes

get_mode = MODE.get
new = object.__new__
ndarray = np.ndarray


class Maker:
    """Stands for an operator where a mode, such as a profiler, records the making of a tensor."""

    __slots__ = ("args", "name")
    node_name = ""

    def __init__(self, name: str, args: tuple):
        self.name, self.args = name, args


def build(
    name: str, make: Callable, *args: object, requires_grad: bool = False, where: Any = None
) -> Any:
    """A tensor on the array `make(*args)`; `name` is the function's, for errors and profiles.

    `where` is what `check` said: None, or the meta device, where nothing is made.
    """
    if IN_USE:
        check_modes(name)
    if CLASSES and args and type(args[0]) is StandIn:
        raise args[0].refusal(name)
    mode = get_mode()
    if where is not None:
        from tapegrad.operators.creation.meta import made_nowhere

        make, args = made_nowhere, (make, args)
    try:
        if mode is True or mode is False:
            tensor = new(tensor_base.Tensor)
            tensor._array = make(*args)
            tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._signature = None
            tensor._born = tensor_base.BORN[0]
        else:
            maker: tuple = (Maker(name, (make, *args)), (), {})
            tensor = mode.call(name, lambda *_: tensor_base.wrap(make(*args)), maker, {})
    except (MemoryError, ValueError, OverflowError) as error:
        raise errors.beyond_memory(error) from None
    return tensor if requires_grad is False else requiring(name, tensor, requires_grad)


def requiring(name: str, tensor: Any, requires_grad: Any) -> Any:
    """A fresh tensor, made to require grad if `requires_grad` says so."""
    if requires_grad is not True:
        if requires_grad is not False:
            raise errors.must_be(name, "requires_grad", 0, "bool", requires_grad)
        return tensor
    if tensor._array.dtype.kind not in "fc":
        dtype = tensor.dtype  # of NumPy's extensions, perhaps
        if not (dtype.is_floating_point or dtype.is_complex):
            raise errors.float_required(dtype)
    return make_leaf(tensor)


def native(name: str, dtype: DTypeLike) -> Any:
    """NumPy's dtype for the argument `dtype=`; the default one for None."""
    return (default() if dtype is None else known(name, dtype)).numpy


def known(name: str, dtype: DTypeLike) -> Dtype:
    """The dtype meant by the argument `dtype=`."""
    if type(dtype) is Dtype:
        return dtype
    if dtype is float or dtype is int or dtype is bool or dtype is complex:
        return as_dtype(dtype)
    raise errors.must_be(name, "dtype", 0, "torch.dtype", dtype)


def check(layout: LayoutLike, device: DeviceLike, pin_memory: bool, like: Any = None) -> Any:
    """Raise for what no tensor here can be: not strided, on a GPU, in pinned memory.

    Returns None for the CPU, else the meta device. Without `device` it is that of `like`, if there
    is one, else the default.
    """
    if device is None and like is not None:
        array = like._array
        where = None if type(array) is ndarray or device_of(array) is CPU else META
    else:
        where = place(device)
    if layout is not None:
        require_strided(layout)
    if pin_memory:
        raise errors.runtime_error(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory "
            "allocator is available on this system.",
            "Pinned memory speeds up copies to a GPU: leave pin_memory= away.",
        )
    return where


def moved(tensor: Any, where: Any) -> Any:
    """A tensor made on the CPU, on the meta device if `check` said so."""
    return tensor if where is None else tensor.to(META)


def check_out(name: str, out: Out, dtype: DTypeLike) -> None:
    """Raise if `out` cannot take the result of a function that makes a tensor of `dtype`."""
    if not isinstance(out, tensor_base.Tensor):
        raise errors.must_be(name, "out", 0, "Tensor", out)
    if dtype is not None and known(name, dtype) is not out.dtype:
        have, want = known(name, dtype).scalar_name, out.dtype.scalar_name
        text = f"dtype {have} does not match dtype of out parameter ({want})"
        raise errors.runtime_error(text, "Leave dtype= away: the result has the dtype of out.")
    if out.requires_grad and is_grad_enabled():
        raise errors.out_in_graph(f"aten::{name}")
    check_memory(name, out)


def in_row(name: str, out: Any, array: Any, requires_grad: Any = False) -> Any:
    """Give `out` the values of the vector `array`; with as many elements it keeps its shape."""
    if out._array.size == array.size:
        check_storable(out)
        array = array.reshape(out._array.shape)
    return into(name, out, array, requires_grad)


def into(name: str, out: Any, array: Any, requires_grad: Any = False) -> Any:
    """Give `out` the shape and the values of `array`; what is in it does not matter."""
    from tapegrad.dispatch.in_place import write, written

    if out._array.shape == array.shape:
        write(out._array, array)
    else:
        out._array = grown_like(out._array, array.shape, None, out.storage_offset())
        out._signature = None
        write(out._array, array)
    if out._counter is not INFERENCE:
        written(out, name)
    return out if requires_grad is False else requiring(name, out, requires_grad)
