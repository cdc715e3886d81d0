"""Gradients that are sparse, on their way to a dense leaf, and gradients of sparse tensors."""

from sys import getrefcount
from typing import Any

import numpy as np

from tapegrad.autograd import backward_grad
from tapegrad.core import errors, tensor_base
from tapegrad.core.memory_format import sparse_coo
from tapegrad.core.tensor_base import VALUES_OF, wrap
from tapegrad.sparse.conversion import detach, masked_values
from tapegrad.sparse.table import has, serves
from tapegrad.sparse.tensor import as_leaf, gradient_at, is_sparse, make


def _tensor(x: Any) -> Any:
    return x if isinstance(x, tensor_base.TensorBase) else wrap(np.asarray(x))


def gradient_of_rows(g: Any, indices: Any, shape: Any, padding: int = -1) -> Any:
    """The gradient of a table of which rows were looked up: the rows of `g` at `indices`.

    `g` (..., D) and `indices` (...) are arrays, or tensors where a graph is recorded.
    """
    at = _tensor(indices).detach()._array.reshape(-1).astype(np.int64)
    rows = _tensor(g).reshape(at.size, shape[1])
    kept = np.flatnonzero(at != padding)
    rows = rows.index_select(0, wrap(kept))  # a copy: nobody else holds it
    return make(at[kept][None], rows, tuple(shape))


def by_frequency_refused() -> Exception:
    """The error for gradients that are divided by how often a row was named."""
    return errors.runtime_error(
        "embedding_backward: scale_grad_by_freq not supported with sparse gradients",
        "Leave sparse=True away.",
    )


def accumulated(leaf: Any, g: Any, create_graph: bool) -> Any:
    """The `.grad` of a leaf and `g`: one is sparse, or the leaf holds values of what is."""
    held = getrefcount(g) > 3  # who calls, `g` and the argument: more would see it written
    g, old, like = _tensor(g), leaf._grad, leaf.__dict__.get(VALUES_OF)
    if like is not None and not is_sparse(g):
        g = gradient_at(like, g)
    if old is None:
        if create_graph or not is_sparse(g):
            return g
        g = detach(g)
        return g.clone() if held or not g._data.is_contiguous() else g
    if create_graph:
        return g + old if is_sparse(old) else old + g
    if is_sparse(old) and not is_sparse(g):
        return g + detach(old)
    if like is not None and like.layout is not sparse_coo and is_sparse(old):
        old._data.add_(g._data)  # both stand where the leaf has its own
        return old
    return old.add_(g)  # in place, so that who holds .grad sees it


def _values_of(x: Any) -> Any:
    return x._data if is_sparse(x) else x


def _cotangent(out: Any, g: Any) -> Any:
    if g is None or not isinstance(out, tensor_base.TensorBase):
        return g
    if is_sparse(out):
        if g.shape != out.shape:
            raise errors.runtime_error(
                f"Mismatch in shape: grad_output[0] has a shape of {g.shape} and output[0] has a "
                f"shape of {out.shape}.",
                "The cotangent has the shape of its output.",
            )
        return masked_values(g, out)
    return g.to_dense() if is_sparse(g) else g


def _listed(x: Any) -> list:
    return [x] if isinstance(x, tensor_base.TensorBase) else list(x)


@serves("grad")
def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> tuple:
    """`torch.autograd.grad` of or with respect to sparse tensors."""
    outs, targets = _listed(outputs), _listed(inputs)
    given = [None] * len(outs) if grad_outputs is None else _listed(grad_outputs)
    cotangents = [_cotangent(out, g) for out, g in zip(outs, given, strict=True)]
    found = backward_grad.grad(
        [_values_of(x) for x in outs],
        [_values_of(x) for x in targets],
        cotangents,
        **{name: x for name, x in options.items() if x is not None},
    )
    return tuple(
        gradient_at(x, g) if is_sparse(x) and g is not None else g
        for x, g in zip(targets, found, strict=True)
    )


@serves("backward")
def backward(
    self: Any,
    gradient: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add gradients to the leaves it was computed from; `gradient` may be sparse."""
    if gradient is None and self.requires_grad:
        raise errors.runtime_error(
            "grad can be implicitly created only for scalar outputs",
            f"This output has shape {list(self.shape)}: pass gradient=..., or sum it first.",
        )
    targets = None if inputs is None else [_values_of(x) for x in _listed(inputs)]
    start = _cotangent(self, gradient)
    self._data.backward(start, retain_graph, create_graph, targets)


@serves("register_hook")
def register_hook(self: Any, hook: Any) -> Any:
    """Call `hook` with the sparse gradient; what it returns replaces it."""

    def on_values(g: Any) -> Any:
        found = hook(None if g is None else gradient_at(self, g))
        return None if found is None else masked_values(found, self)

    return self._data.register_hook(on_values)


@serves("register_post_accumulate_grad_hook")
def register_post_accumulate_grad_hook(self: Any, hook: Any) -> Any:
    """Call `hook(tensor)` after the `.grad` of this leaf has changed."""
    return self._data.register_post_accumulate_grad_hook(lambda values: hook(self))


@has("retains_grad")
def retains_grad(self: Any) -> bool:
    """Whether `.grad` of this tensor, no leaf, is kept."""
    return self._data.retains_grad


@serves("retain_grad")
def retain_grad(self: Any) -> None:
    """Keep the gradient of this tensor in `.grad` although it is no leaf."""
    self._data.retain_grad()


@serves("requires_grad_", "_require")
def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """Say whether gradients shall flow to this leaf; returns the tensor."""
    self._data.requires_grad_(requires_grad)
    return as_leaf(self)


@serves("detach_")
def detach_(self: Any) -> Any:
    """Cut this tensor off from its history; returns it."""
    self._data = self._data.detach()
    return self
