"""Bringing gradients back to the shape and dtype of an input that was broadcast or cast."""

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core import tensor_base
from tapegrad.core.annotations import Any, Array, DTypeLike, Namespace, Sequence
from tapegrad.core.dtype import of
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.tensor_base import SPARSE


def restored(grads: Sequence, spec: tuple) -> list:
    """Gradients of all inputs, each as `spec`, a (shape, dtype) or None for each, wants it."""
    return [sum_to_size(g, want) for g, want in zip(grads, spec, strict=True)]


def sum_to_size(g: Array, want: tuple | None) -> Any:
    """The gradient of one input in its shape and dtype; `want` is None where nothing changed."""
    return g if g is None or want is None else restore(g, want[0], want[1])


def sum_to_shape(xp: Namespace, g: Array, shape: tuple[int, ...]) -> Any:
    """The sum of `g` over the axes that broadcasting added to `shape`, or stretched."""
    have, shape = tuple(g.shape), tuple(shape)
    if have == shape:
        return g
    extra = len(have) - len(shape)
    axes = tuple(range(extra))
    axes += tuple([extra + i for i, n in enumerate(shape) if n == 1 and have[extra + i] != 1])
    if axes and shape and isinstance(g, tensor_base.Tensor):
        g = xp.sum(g, axis=axes, keepdims=True)  # as PyTorch's graph has it
    elif axes:
        g = xp.sum(g, axis=axes) if shape else xp.sum(g)
    return g if tuple(g.shape) == shape else xp.reshape(g, shape)


def restore(g: Array, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """Sum `g` over the axes that broadcasting added or stretched, and cast it to `dtype`."""
    tensors = isinstance(g, tensor_base.Tensor)
    if tensors and SPARSE and g.is_sparse:
        return g.to(of(dtype))
    if tensors:
        xp = TENSOR_NAMESPACE()
    else:
        xp = namespace_of((g,))
    g = sum_to_shape(xp, g, shape)
    have = g._array.dtype if tensors else g.dtype
    if have != dtype:
        if of(have).is_complex and not of(dtype).is_complex:
            g = xp.real(g)
        g = xp.astype(g, dtype, copy=False)
    return g
