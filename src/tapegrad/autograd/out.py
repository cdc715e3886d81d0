"""`out=`: a result put where the caller says."""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.autograd.inplace import write, written
from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.autograd.writable import check_storable
from tapegrad.dtype import of
from tapegrad.promotion import can_cast
from tapegrad.storage import grown


def write_out(name: str, result: Any, out: Any) -> Any:
    """Write a result where `out=` says: resized if it must be, never part of a graph."""
    if isinstance(out, (tuple, list)):
        results = tuple(write_out(name, r, o) for r, o in zip(result, out, strict=True))
        return type(result)(results) if hasattr(result, "_fields") else results
    if not isinstance(out, _tensor.Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if is_grad_enabled() and (result.requires_grad or out.requires_grad):
        raise errors.advised(
            RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            ),
            "Leave out= away, or compute inside `with torch.no_grad():`.",
        )
    mode = MODE.get()
    if type(mode) is not bool:
        mode.check_out(name, result, out)
    have, want = of(result._array.dtype), of(out._array.dtype)
    if not can_cast(have, want):
        raise errors.advised(
            RuntimeError(
                f"result type {have.scalar_name} can't be cast to the desired output type "
                f"{want.scalar_name}"
            ),
            f"Give an out tensor of dtype {have}.",
        )
    check_storable(out)
    if out._array.shape != result._array.shape:
        if out._array.size:
            import warnings

            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out._array.shape)}, which does not match the required output shape "
                f"{list(result._array.shape)}. This behavior is deprecated, and in a future "
                "PyTorch release outputs will not be resized unless they have zero elements. You "
                "can explicitly reuse an out tensor t by resizing it, inplace, to zero elements "
                "with t.resize_(0).",
                UserWarning,
                stacklevel=3,
            )
        out._array = grown(out._array, result._array.shape)
        out._mark = None
    write(out._array, result._array)
    written(out, name)
    return out
