"""Adding a gradient to a leaf's `.grad`, without a copy where nobody else holds the array."""

import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar

import numpy as np

from tapegrad.arrays.namespaces import is_recorded
from tapegrad.arrays.numpy.memory_pool import SMALLEST, empty, keeps
from tapegrad.autograd.node import version_of
from tapegrad.autograd.writable import check_storable
from tapegrad.core import errors, registration, tensor_base
from tapegrad.core.annotations import Any, Array
from tapegrad.core.registration import DISPATCH_CLASSES, FRONT_DOOR
from tapegrad.core.tensor_base import SPARSE, VALUES_OF
from tapegrad.core.torch_dispatch import CLASSES, is_stand_in

# Whether a new `.grad` has to be laid out as its leaf: `autograd.enforce_grad_layout_policy`.
ENFORCED: ContextVar[bool] = ContextVar("tapegrad_grad_layout", default=True)

_lock = threading.Lock()  # several threads may walk graphs that share a leaf


def zero_grads(tensors: Iterable[Any], set_to_none: bool) -> None:
    """Forget the gradients of tensors, or fill them with zeros that have no history."""
    for x in tensors:
        grad = x._grad
        if grad is None:
            continue
        if set_to_none:
            x._grad = None
            continue
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
        grad.zero_()


def collected(old: Any, g: Array) -> Any:
    """The sum of two gradients in an array of its own, so that more can be added in place."""
    if type(old) is np.ndarray and old.nbytes >= SMALLEST and old.shape == g.shape:
        return np.add(old, g, empty(old.size, old.dtype).reshape(old.shape))
    total = old + g
    return np.asarray(total) if isinstance(total, np.generic) else total


def _copied(g: np.ndarray) -> np.ndarray:
    if g.nbytes < SMALLEST or not g.flags.c_contiguous:
        return g.copy()
    copy = empty(g.size, g.dtype).reshape(g.shape)
    np.copyto(copy, g)
    return copy


def _references_of_a_fresh_array() -> int:
    """What `getrefcount(g)` gives for an array that only a variable `g` holds."""
    g = np.empty(1)
    return getrefcount(g)


def _references_of_a_base() -> int:
    """The same for `g.base` where nobody but the view `g` holds it."""
    g = np.empty(2)[::-1]
    return getrefcount(g.base)


getrefcount: Any = getattr(sys, "getrefcount", lambda x: -1)
_SOLE, _SOLE_BASE = 0, 0  # an interpreter that does not count references: always copy
if hasattr(sys, "getrefcount"):
    _SOLE, _SOLE_BASE = _references_of_a_fresh_array(), _references_of_a_base()


def is_shared(array: Any) -> bool:
    """Whether anybody else than who calls, and who called that, holds an array."""
    return getrefcount(array) != _SOLE + 1


def accumulate(leaf: Any, pending: list, create_graph: bool) -> None:
    """Add the gradient in `pending`, a list of one that gives it up, to `leaf.grad`.

    A new `.grad` is laid out in memory as the leaf is, or row by row where that overlaps or has
    gaps: `.grad.view(-1)` works where `leaf.view(-1)` does.
    """
    g = pending.pop()
    if CLASSES and (is_stand_in(g) or is_stand_in(leaf._grad)):
        leaf._grad = DISPATCH_CLASSES().accumulated(leaf._grad, g)
        return
    if SPARSE and (_is_sparse(g) or _is_sparse(leaf._grad) or VALUES_OF in leaf.__dict__):
        with _lock:
            leaf._grad = registration.SPARSE().accumulated(leaf, g, create_graph)
        return
    with _lock:
        if create_graph:
            leaf._grad = _copy(g, leaf) if leaf._grad is None else leaf._grad + g
            return
        old = leaf._grad
        if old is None:
            if type(g) is not np.ndarray:
                if is_recorded(g) and g.strides != leaf._array.strides:
                    g = _recorded_like(g, leaf._array)
                g = np.asarray(g) if isinstance(g, np.generic) else g
            elif g.base is None:
                if getrefcount(g) != _SOLE:
                    g = _copied(g)
            elif (
                g.base.__class__ is not np.ndarray
                or not _whole(g)
                or getrefcount(g) != _SOLE
                or getrefcount(g.base) - keeps(g.base) != _SOLE_BASE
            ):
                g = _copied(g)
            if type(g) is np.ndarray and g.strides != leaf._array.strides:
                g = _laid_out(g, leaf._array)
            leaf._grad = tensor_base.wrap(g)
        elif old._node is not None or type(old._array) is not np.ndarray:
            if old._node is None and is_recorded(old._array):
                old._array += g
                version_of(old).value += 1
                old._counter.operator = "a backward pass that added to .grad"
            else:
                leaf._grad = tensor_base.wrap(old._array + g)
        else:
            if old._array.shape != g.shape:
                raise errors.runtime_error(
                    f"The size of .grad {list(old.shape)} is not that of the gradient "
                    f"{list(g.shape)}",
                    "Set .grad to None before the backward pass.",
                )
            if 0 in old._array.strides:
                check_storable(old)
            if type(g) is not np.ndarray and is_recorded(g):
                g.program.owner.refuse("a gradient goes to a tensor that is not looked at")
                g = g.array
            np.add(old._array, g, old._array)  # in place, so that who holds .grad sees it
            version = old._counter
            if version is None:
                version = version_of(old)
            version.value += 1
            version.operator = "a backward pass that added to .grad"


def _is_sparse(x: Any) -> bool:
    return isinstance(x, tensor_base.TensorBase) and x.is_sparse


def _copy(g: Array, leaf: Any) -> Any:
    """A tensor of its own with the values and the history of `g`."""
    like = leaf if leaf.shape == g.shape else g
    return FRONT_DOOR().empty_like(like, dtype=g.dtype, requires_grad=False).copy_(g)


def _laid_out(g: np.ndarray, like: Any) -> np.ndarray:
    """The gradient with the strides of its leaf, copied if it has others."""
    if type(like) is not np.ndarray or g.shape != like.shape or not ENFORCED.get():
        return g
    if not _is_dense(like):
        return g if g.flags.c_contiguous else np.ascontiguousarray(g)
    laid_out = np.empty_like(like, dtype=g.dtype, order="K")
    np.copyto(laid_out, g)
    return laid_out


def _recorded_like(g: Array, like: Any) -> Any:
    """The same for a gradient that is recorded."""
    if g.shape != like.shape or not ENFORCED.get():
        return g
    if not _is_dense(getattr(like, "array", like)):
        return g if g.flags.c_contiguous else g.copy("C")
    order = sorted(range(g.ndim), key=lambda i: like.strides[i], reverse=True)
    back = sorted(range(g.ndim), key=lambda i: order[i])
    return g.transpose(order).copy("C").transpose(back)


def _is_dense(x: np.ndarray) -> bool:
    """Whether the elements of an array are neighbours in memory, in the order of some axes."""
    step = x.itemsize
    for stride, n in sorted(zip(x.strides, x.shape, strict=True)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def _whole(g: Array) -> bool:
    """Whether a view covers its base: a transposed matrix does, an expanded number does not."""
    return g.size == g.base.size and (g.flags.c_contiguous or g.flags.f_contiguous)
