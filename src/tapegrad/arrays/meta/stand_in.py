"""Functions without a rule of shapes: computed on ordinary arrays where these are small."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.meta_array import MetaArray, nowhere_strided

_MOST = 1 << 14  # elements of all arguments together, and of a result


def computed(name: str, plain: Callable) -> Callable:
    """The shapes that a function gives, found by calling it; refused where that costs memory."""

    def rule(*args: Any, **params: Any) -> Any:
        given = _stood_in((args, params), [0], name)
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            found = plain(*given[0], **given[1])
        return _without_elements(found, name)

    rule.__name__ = name
    return rule


def refusal(name: str) -> NotImplementedError:
    """There is no rule for the shape of what a function gives."""
    return errors.not_implemented(
        f"aten::{name}: attempted to run this operator with Meta tensors, but there was no fake "
        "impl or Meta kernel registered.",
        "It runs on the CPU: make the tensors with device='cpu'.",
    )


def _stood_in(tree: Any, total: list, name: str) -> Any:
    if type(tree) is MetaArray:
        total[0] += tree.size
        if total[0] > _MOST:
            raise refusal(name)
        return stand_in(tree)
    if isinstance(tree, dict):
        return {key: _stood_in(each, total, name) for key, each in tree.items()}
    if isinstance(tree, (tuple, list)):
        parts = [_stood_in(each, total, name) for each in tree]
        if type(tree) is list:
            return parts
        return type(tree)._make(parts) if hasattr(tree, "_make") else tuple(parts)
    return tree


def stand_in(x: MetaArray) -> np.ndarray:
    """An ordinary array of that shape: identity matrices for numbers, zeros for indices."""
    memory = nowhere_strided(x.shape, x.dtype, x.strides) if 0 in x.shape else None
    if memory is not None or 0 in x.strides or x.ndim < 1:
        found = np.zeros(x.shape, x.dtype)
    else:
        order = np.argsort([-s for s in x.strides], kind="stable")
        found = np.zeros([x.shape[i] for i in order], x.dtype).transpose(np.argsort(order))
    if x.dtype.kind in "fcV" and x.ndim > 1:
        np.einsum("...ii->...i", found[..., : min(x.shape[-2:]), : min(x.shape[-2:])])[...] = 1
    elif x.dtype.kind in "fcV":
        found[...] = 1
    return found


def _without_elements(tree: Any, name: str) -> Any:
    if isinstance(tree, np.generic):
        tree = np.asarray(tree)
    if type(tree) is np.ndarray:
        return nowhere_strided(tree.shape, tree.dtype, _as_if_own(tree))
    if isinstance(tree, (tuple, list)):
        parts = [_without_elements(each, name) for each in tree]
        if type(tree) is list:
            return parts
        return type(tree)._make(parts) if hasattr(tree, "_make") else tuple(parts)
    return tree


def _as_if_own(x: np.ndarray) -> tuple[int, ...]:
    """Strides without turned axes."""
    return tuple([abs(s) for s in x.strides])
