"""Functions without a batching rule: called once for each sample, with a warning that says so."""

from tapegrad.arrays.batched.array import Batched, closed, top_level
from tapegrad.arrays.batched.refusal import OPERATORS, dynamic_shape
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, LevelLike, Sequence
from tapegrad.core.argument_check import users_level

_warned: set[str] = set()


def warn_of_loop(name: str) -> None:
    """Say once for each operator that it runs once for each sample."""
    title = OPERATORS[-1] if OPERATORS else name
    if title in _warned:
        return
    _warned.add(title)
    errors.warn(
        "There is a performance drop because we have not yet implemented the batching rule for "
        f"aten::{title}. Please file us an issue on GitHub so that we can prioritize its "
        "implementation.",
        users_level(),
    )


def looped(name: str) -> Callable:
    """The function `name` of the namespace below, once for each sample of the batch."""

    def function(*args: object, **params: object) -> Any:
        level = top_level(_leaves((args, params)))
        if level is None:
            return getattr(numpy_namespace, name)(*args, **params)
        if not _is_mapped((args, params), level):
            args, params = _member((args, params), level, None)
            return closed(level, _below(name, args, params)(*args, **params), False)
        warn_of_loop(name)
        outs = []
        for i in range(max(level.size, 1)):
            own, own_params = _member((args, params), level, i)
            outs.append(_below(name, own, own_params)(*own, **own_params))
        return _stacked(level, outs)

    function.__name__ = name
    return function


def _below(name: str, args: Sequence, params: Any) -> Callable:
    arrays = [x for x in _leaves((args, params)) if hasattr(x, "shape")]
    return getattr(namespace_of(arrays), name)


def _leaves(tree: Any) -> list:
    """The values in tuples, lists and dictionaries of any depth."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        return [leaf for each in tree for leaf in _leaves(each)]
    return [tree]


def _is_mapped(tree: Any, level: LevelLike) -> bool:
    return any(type(x) is Batched and x.level is level and x.mapped for x in _leaves(tree))


def _member(tree: Any, level: Any, i: int | None) -> Any:
    """The same arguments with the `i`-th sample in the place of each batch; None: without batch."""
    if type(tree) is Batched and tree.level is level:
        if not tree.mapped or i is None:
            return tree.value
        if not level.size:  # one sample of zeros stands for none
            return namespace_of((tree.value,)).zeros(tree.shape, dtype=tree.dtype)
        return tree.value[i]
    if isinstance(tree, dict):
        return {key: _member(each, level, i) for key, each in tree.items()}
    if isinstance(tree, (tuple, list)):
        parts = [_member(each, level, i) for each in tree]
        if isinstance(tree, list):
            return parts
        return type(tree)._make(parts) if hasattr(tree, "_make") else tuple(parts)
    return tree


def _stacked(level: Any, outs: list) -> Any:
    """The results of all samples in one."""
    first = outs[0]
    if isinstance(first, (tuple, list)):
        columns = [_stacked(level, list(column)) for column in zip(*outs, strict=True)]
        if isinstance(first, list):
            return columns
        return type(first)._make(columns) if hasattr(first, "_make") else tuple(columns)
    if not hasattr(first, "shape"):
        return first
    xp = namespace_of(outs)
    if len({tuple(x.shape) for x in outs}) > 1:
        raise dynamic_shape()
    whole = xp.stack([xp.asarray(x) for x in outs], axis=0)
    return closed(level, whole if level.size else whole[:0], True)
