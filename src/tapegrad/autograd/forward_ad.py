"""Forward-mode differentiation: tensors with a tangent, within a level.

    with torch.autograd.forward_ad.dual_level():
        x = make_dual(primal, tangent)
        y = f(x)
        unpack_dual(y).tangent            # the derivative of f at `primal` along `tangent`

Tangents go along with everything that is computed from a dual tensor: through operators, views,
writes in place and backward passes. They are tensors: gradients may be taken of them, too.
"""

from typing import Any, NamedTuple

import numpy as np

from tapegrad.autograd.forward.mode import Forward, Level, enabled, entered, forward_mode, without
from tapegrad.autograd.forward.tangent import own_tensor, zeros_of
from tapegrad.autograd.mode import MODE, Under, _Decorating
from tapegrad.autograd.writable import is_repeated
from tapegrad.core import errors
from tapegrad.core.annotations import Array
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.missing import missing
from tapegrad.core.storage import elements_of, offset_of, owner_of, shaped
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.core.torch_function import ALL_OFF, IN_USE, STATE, undisturbed
from tapegrad.operators.shape.forward_ad_views import dual_view, primal_view


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: a tensor without its tangent, and the tangent or None."""

    primal: Any
    tangent: Any


UnpackedDualTensor.__module__ = "torch.autograd.forward_ad"


def enter_dual_level() -> int:
    """Begin a level: from here on tensors can have tangents. Returns its number, 0.

    >>> torch.autograd.forward_ad.enter_dual_level()
    0
    >>> torch.autograd.forward_ad.exit_dual_level()
    """
    if forward_mode() is not None:
        raise errors.runtime_error(
            "Nested forward mode AD is not supported at the moment", "torch.func.jvp can be nested."
        )
    MODE.set(entered(MODE.get(), Level()))
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: no tensor has a tangent any more.

    >>> level = torch.autograd.forward_ad.enter_dual_level()
    >>> x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
    >>> torch.autograd.forward_ad.exit_dual_level(level=level)
    >>> torch.autograd.forward_ad.unpack_dual(x).tangent is None
    True
    """
    mode = forward_mode()
    if level is None and mode is None:
        raise errors.runtime_error("Dual level must be a positive number.", "No level was begun.")
    if mode is None or level not in (None, 0):
        raise errors.runtime_error(
            "Trying to exit a forward AD level that was not the last one that was created. "
            "This is not supported.",
            "Leave level= away: there is one level.",
        )
    MODE.set(without(MODE.get(), mode.level))
    mode.level.clear()


def make_dual(tensor: Any, tangent: Array, *, level: int | None = None) -> Any:
    """A view of `tensor` that has the tangent `tangent`.

    Args:
        tensor: the primal: floating-point or complex.
        tangent: of the same shape; it is used as it is where it is laid out as `tensor`, and copied
            where not.
        level: the number of the level, if it is to be checked.

    >>> import tapegrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    ...     x * x
    tensor([1., 4.], tangent=tensor([2., 0.]))
    """
    if IN_USE and STATE.get() != ALL_OFF:  # nobody is asked for this
        return undisturbed(make_dual, tensor, tangent, level=level)
    mode = forward_mode()
    if (level is None and mode is None) or (level is not None and level < 0):
        raise errors.runtime_error(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first.",
            "Work inside `with torch.autograd.forward_ad.dual_level():`.",
        )
    mode = _mode_of(mode, level, "_make_dual")
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, TensorBase):
            raise errors.advised(
                AttributeError(f"'{type(x).__name__}' object has no attribute 'is_floating_point'"),
                f"The {name} has to be a tensor.",
            )
        if not (x.dtype.is_floating_point or x.dtype.is_complex):
            raise errors.value_error(
                f"Expected {name} to be floating point or complex, but got: {x.dtype}",
                "Convert it first, for example with .float().",
            )
    if mode.tangent(tangent) is not None:
        raise errors.runtime_error(
            "Setting a forward grad that itself has a forward gradient at the same level0 is "
            "not supported.",
            "unpack_dual(tangent).primal has no tangent.",
        )
    return dual(mode, tensor, tangent)


def _mode_of(mode: Forward | None, level: int | None, function: str) -> Forward:
    """The forward mode of a level that was given by its number; there is one, 0, at most."""
    if level not in (None, 0):
        raise errors.runtime_error(f"Invalid level given to {function}", "Leave it away.")
    if mode is None:
        raise errors.runtime_error(
            "Trying to access a forward AD level with an invalid index. This index was either "
            "not created or is already deleted.",
            "Work inside `with torch.autograd.forward_ad.dual_level():`.",
        )
    return mode


def dual(mode: Forward, tensor: Any, tangent: Array) -> Any:
    """A view of `tensor` that has the tangent `tangent` in the level of `mode`."""
    if tangent.shape != tensor.shape:
        raise errors.tangent_size(tensor, tangent)
    if mode.tangent(tensor) is not None:
        raise errors.runtime_error(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at "
            "the same level 0 is not supported.",
            "unpack_dual(tensor).primal has no tangent.",
        )
    with Under(mode.under):
        made = dual_view(tensor)
        if not _laid_out_alike(tensor._array, tangent._array):
            tangent = _laid_out_as(made, tangent)
    if mode.is_on:
        mode.level.set(made._array, tangent)
    return made


def _laid_out_alike(a: Any, b: Any) -> bool:
    """Whether the same memory formats, signs and places in a storage are behind two arrays."""
    if type(a) not in _HERE or type(b) not in _HERE:
        return getattr(a, "strides", None) == getattr(b, "strides", None)
    if a.base is b.base is None and a.strides == b.strides and a.dtype == b.dtype:
        return True
    return _layout(a) == _layout(b)


_HERE = (np.ndarray, ConjNegView)


def _layout(array: Any) -> tuple:
    steps = [array.strides[i] // array.itemsize for i, n in enumerate(array.shape) if n > 1]
    signs = None
    if type(array) is ConjNegView:
        signs, array = (array.conj, array.neg), array.raw
    room = owner_of(array).nbytes // array.itemsize
    return steps if array.size else 0, signs, offset_of(array), room


def _laid_out_as(primal: Any, tangent: Any) -> Any:
    """A copy of a tangent that lies in memory as its primal does."""
    array = primal._array
    if type(array) not in _HERE or type(tangent._array) not in _HERE or is_repeated(array):
        return own_tensor(tangent, primal)
    if type(array) is ConjNegView:
        return zeros_of(primal).copy_(tangent)
    memory = np.zeros_like(elements_of(array))
    steps = tuple([step // array.itemsize for step in array.strides])
    return wrap(shaped(memory, offset_of(array), array.shape, steps)).copy_(tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor without its tangent, a view of it, and the tangent, or None if it has none.

    >>> import tapegrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    ...     fwAD.unpack_dual(x.exp()).tangent
    tensor([2.7183, 0.0000])
    """
    mode = forward_mode()
    if not isinstance(tensor, TensorBase):
        if mode is None:
            return UnpackedDualTensor(tensor, None)
        raise errors.must_be("_unpack_dual", "dual", 1, "Tensor", tensor)
    if mode is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    mode = _mode_of(mode, level, "_fw_primal")
    return UnpackedDualTensor(primal(mode, tensor), mode.tangent(tensor) if mode.is_on else None)


def primal(mode: Forward, tensor: Any) -> Any:
    """A view of `tensor` without the tangent it has in the level of `mode`."""
    with Under(mode.under):
        return primal_view(tensor)


class dual_level(_Decorating):
    """A level for a block or a function: it ends with it.

    >>> import tapegrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     fwAD.unpack_dual(x**2).tangent
    tensor(6.)
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: object) -> None:
        exit_dual_level()


class _set_fwd_grad_enabled(_Decorating):
    """Switch tangents off or on: at once as a statement, for a block as a context manager."""

    def __init__(self, mode: bool):
        self._on = mode
        self._tokens = [MODE.set(enabled(MODE.get(), mode))]

    def _fresh(self) -> Any:
        return _set_fwd_grad_enabled(self._on)

    def __enter__(self) -> None:
        """The mode was set when the object was made; leaving the block takes it back."""


def _is_fwd_grad_enabled() -> bool:
    """Whether tangents go along with what is computed, where there is a level."""
    mode = forward_mode()
    return mode is None or mode.is_on


def __getattr__(name: str) -> int:
    """`_current_level`, the number of the level that is open: 0, or -1 where none is."""
    if name == "_current_level":
        return -1 if forward_mode() is None else 0
    raise missing(__name__, name)


__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip
