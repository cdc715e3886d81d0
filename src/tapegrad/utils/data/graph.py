"""Which pipes a pipe takes its samples from."""

import io
import pickle
from types import BuiltinFunctionType, FunctionType
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

_PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


class _Finder(pickle.Pickler):
    """Pickles a pipe to find those that it holds; what cannot be pickled has none."""

    def __init__(self, root: Any) -> None:
        super().__init__(io.BytesIO())
        self.root = root
        self.found: dict[int, Any] = {}

    def persistent_id(self, x: Any) -> Any:
        if x is not self.root and isinstance(x, (IterDataPipe, MapDataPipe)):
            self.found.setdefault(id(x), x)
            return id(x)
        return None

    def reducer_override(self, x: Any) -> Any:
        if isinstance(x, (IterDataPipe, MapDataPipe)):
            return _nothing, (), vars(x)
        if x is _nothing or isinstance(x, (type, *_PLAIN)):
            return NotImplemented
        if isinstance(x, (FunctionType, BuiltinFunctionType)):
            return _nothing, ()
        try:
            return x.__reduce_ex__(2)
        except (AttributeError, NotImplementedError, RuntimeError, TypeError, pickle.PicklingError):
            return _nothing, ()  # it cannot be pickled, so that no pipes are looked for in it


def _nothing() -> None:
    pass


def traverse_dps(datapipe: Any) -> dict[int, tuple[Any, dict]]:
    """The pipe with those it holds, as {id: (pipe, {id: ...})}.

    >>> from tapegrad.utils.data.datapipes.iter import IterableWrapper
    >>> from tapegrad.utils.data.graph import traverse_dps
    >>> pipe = IterableWrapper("ab").batch(2)
    >>> ((root, inner),) = traverse_dps(pipe).values()
    >>> root is pipe, [each for each, _ in inner.values()]
    (True, [IterableWrapperIterDataPipe])
    """
    return _traverse(datapipe, set())


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> dict[int, tuple[Any, dict]]:
    """The old name of `traverse_dps`."""
    from tapegrad.core.errors import deprecated

    deprecated(
        "`traverse` function and will be removed after 1.13. Please use `traverse_dps` instead."
    )
    return traverse_dps(datapipe)


def _traverse(pipe: Any, seen: set[int]) -> dict[int, tuple[Any, dict]]:
    if id(pipe) in seen:
        return {}
    seen = {*seen, id(pipe)}
    finder = _Finder(pipe)
    finder.dump(pipe)
    inner: dict[int, tuple[Any, dict]] = {}
    for each in finder.found.values():
        inner.update(_traverse(each, seen))
    return {id(pipe): (pipe, inner)}


__getattr__ = _refuses(__name__)
