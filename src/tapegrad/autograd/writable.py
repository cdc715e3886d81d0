"""Checks of writes in place: what may be written, and what fits, before anything is."""

import sys

import numpy as np

from tapegrad.autograd.mode import is_grad_enabled, is_inference_mode_enabled
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, version_of
from tapegrad.autograd.view import check_base
from tapegrad.autograd.view_origin import ORDINARY, view_error
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import users_level
from tapegrad.core.dtype import of
from tapegrad.core.memory_format import is_dense
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.promote_types import can_cast


def check_writable(x: Any, others: Any = ()) -> None:
    """Raise where PyTorch forbids a write: leaves that require grad, some views, inference.

    Some views may be written as long as nothing that is written, nor `others`, requires grad.
    """
    check_inference(x)
    if not is_grad_enabled():
        return
    view = x._view
    if view is None:
        if type(x._node) is AccumulateGrad:
            raise errors.leaf_in_place()
        return
    base = view.base._node
    if base is None and x._node is None:
        if view.made is not ORDINARY and any(getattr(t, "requires_grad", False) for t in others):
            check_view(x)
        return
    check_view(x)
    if base is None or type(base) is AccumulateGrad or type(x._node) is AccumulateGrad:
        raise errors.leaf_in_place(is_view=True)


def check_target(x: Any, others: Any = (), apart: bool = False, repeats: bool = False) -> None:
    """Raise where `x` cannot take what is computed from `others`, whatever that is.

    These checks come before those of shapes and dtypes, as in PyTorch. With `repeats`, several
    elements may be one place in memory if there is no graph.
    """
    check_writable(x, others)
    if not repeats or x.requires_grad:
        check_storable(x)
    if others:
        check_overlap(x, others, apart)


def check_view(x: Any) -> None:
    """Raise where a view may not be written with a gradient, because of how it was made."""
    view = x._view
    if view is None:
        return
    if view.made is not ORDINARY:
        raise view_error(view.made, x._node, indirect=False)
    check_base(view)


def check_inference(x: Any) -> None:
    """Raise where `x` is of inference mode, and is written outside of it."""
    if x._counter is INFERENCE and not is_inference_mode_enabled():
        raise errors.runtime_error(
            "Inplace update to inference tensor outside InferenceMode is not allowed."
            "You can make a clone to get a normal tensor before doing inplace update."
            "See https://github.com/pytorch/rfcs/pull/17 for more details.",
            "clone() the tensor first.",
        )


def check_fits(name: str, x: Any, result: Any) -> None:
    """Raise unless `result` can be written into `x`: its shape the same, its dtype no wider."""
    shape = x._array.shape
    if result._array.shape != shape:
        advice = "An in-place operator cannot enlarge its tensor: use the out-of-place form."
        raise output_shape(shape, result._array.shape, advice)
    if result._array.dtype != x._array.dtype:
        have, want = of(result._array.dtype), of(x._array.dtype)
        if not can_cast(have, want):
            advice = "Convert the tensor first, or use the out-of-place form."
            raise cannot_cast(have, want, advice, name.rstrip("_"))


def output_shape(shape: tuple, wide: tuple, advice: str) -> RuntimeError:
    """A tensor too small for what is to be written into it."""
    return errors.runtime_error(
        f"output with shape {list(shape)} doesn't match the broadcast shape {list(wide)}", advice
    )


_CANNOT_CAST = {
    "cat": "torch.cat(): input types can't be cast to the desired output type {want}",
    "stack": "torch.cat(): input types can't be cast to the desired output type {want}",
    "clamp_number": "result type {have} can't be cast to the desired output type {c_name}",
    "ldexp": "ldexp can't be cast to the desired output type {want}",
    "mvlgamma": "mvlgamma: result type {want} can't be cast to the desired output type {have}",
}


def cannot_cast(have: Any, want: Any, advice: str, name: str = "") -> Exception:
    """A tensor of a dtype that cannot hold what is to be written into it."""
    text = "result type {have} can't be cast to the desired output type {want}"
    text = _CANNOT_CAST.get(name, text).format(
        have=have.scalar_name, want=want.scalar_name, c_name=errors.c_name(want)
    )
    if name in ("cat", "stack"):
        return errors.type_error(text, advice)
    return errors.runtime_error(text, advice)


def check_constant(function: str, argument: str, x: Any) -> None:
    """Raise where a derivative is asked for that is not defined."""
    if x is not None and x.requires_grad and is_grad_enabled():
        raise errors.runtime_error(
            f"The function '{function}' is not differentiable with respect to argument "
            f"'{argument}'. This input cannot have requires_grad True.",
            f"Pass {argument}.detach().",
        )


def is_repeated(array: Any) -> bool:
    """Whether several elements are one place in memory, as `expand` has it."""
    return (array.size and 0 in array.strides) and any(
        not step and n > 1 for n, step in zip(array.shape, array.strides, strict=True)
    )


def warn_repeated(name: str, x: Any) -> None:
    """Warn, or raise if `x` has a graph, where several elements are one place in memory.

    PyTorch raises only when that graph is gone back.
    """
    if not is_repeated(x._array):
        return
    if x.requires_grad:
        check_writable(x)
        check_storable(x)
    assigned = "tensor[indices] = tensor" if name == "index_put_" else "tensor[mask] = scalar"
    errors.warn(
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before "
        f"performing this operation. This also applies to advanced indexing e.g. {assigned}",
        users_level(),
    )


def check_storable(x: Any) -> None:
    """Raise where several elements of `x` are one place in memory."""
    if is_repeated(x._array):
        raise errors.runtime_error(
            "unsupported operation: more than one element of the written-to tensor refers to "
            "a single memory location. Please clone() the tensor before performing the "
            "operation.",
            "expand() repeats without copying: clone() makes elements of their own.",
        )


def check_overlap(x: Any, others: Any, apart: bool = False) -> None:
    """Raise where an operand lies partly in the memory that is written: what would be read?

    `apart` says that it must not be that memory as a whole either, as where an index leads about.
    """
    if apart and any(other is x for other in others) and x._array.size:
        raise _overlapping()
    version = x._counter
    if version is None:
        return  # nobody else has its memory
    a = x._array
    if type(a) is MetaArray:
        return  # without elements
    for other in others:
        if getattr(other, "_counter", None) is not version or other is x:
            continue
        b = other._array
        if not (_is_dense(a) and _is_dense(b)):
            continue
        if np.may_share_memory(a, b) and (apart or not _same(a, b)):
            raise _overlapping()


def _is_dense(array: Any) -> bool:
    flags = array.flags
    return flags.c_contiguous or flags.f_contiguous or is_dense(array)


def _same(a: Any, b: Any) -> bool:
    """Whether arrays without holes are one: the same elements in the same order."""
    if a.shape != b.shape or a.nbytes != b.nbytes or a.ctypes.data != b.ctypes.data:
        return False
    steps = zip(a.shape, a.strides, b.strides, strict=True)
    return all([i == j or n == 1 for n, i, j in steps])


def _overlapping() -> RuntimeError:
    return errors.runtime_error(
        "unsupported operation: some elements of the input tensor and the written-to tensor "
        "refer to a single memory location. Please clone() the tensor before performing the "
        "operation.",
        "Read from a tensor with memory of its own.",
    )


def check_out(out: Out, *inputs: Tensor) -> None:
    """Raise where `out=` lies in a part of the memory of an input; all of it is allowed."""
    if out is not None:
        _check_memory(out, inputs, False)


def check_apart(out: Out, *inputs: Tensor) -> None:
    """Raise where `out=` lies in the memory of an input that is read while it is written."""
    if out is not None:
        _check_memory(out, inputs, True)


def _check_memory(out: Any, inputs: Any, apart: bool) -> None:
    a = getattr(out, "_array", None)
    if type(a) is not np.ndarray or not a.size or not _is_dense(a):
        return
    for x in inputs:
        b = getattr(x, "_array", None)
        if type(b) is not np.ndarray or not b.size or not np.may_share_memory(a, b):
            continue
        if _is_dense(b) and (apart or not _same(a, b)):
            raise _overlapping()


def written(x: object, name: str) -> None:
    """Count a write to `x` and remember which line of the user's file made it."""
    version = version_of(x)
    if version is INFERENCE:
        return
    version.value += 1
    version.operator = name
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tapegrad."):
        frame = frame.f_back
    version.line = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
