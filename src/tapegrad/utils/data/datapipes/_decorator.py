"""A class of pipes as a method of all pipes, and what is promised of them."""

import functools
from collections.abc import Callable
from typing import Any

from tapegrad.core.errors import type_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic"]


class functional_datapipe:
    """A decorator: the class becomes a method of all pipes.

    >>> from tapegrad.utils.data import IterDataPipe, functional_datapipe
    >>> from tapegrad.utils.data.datapipes.iter import IterableWrapper
    >>> @functional_datapipe("twice")
    ... class Twice(IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         for x in self.source:
    ...             yield from (x, x)
    >>> list(IterableWrapper("ab").twice())
    ['a', 'a', 'b', 'b']
    >>> del IterDataPipe.functions["twice"]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        if issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls)
        elif issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        return cls


_determinism = False


class guaranteed_datapipes_determinism:
    """A block in which no pipe may be made that gives its samples in any order."""

    def __init__(self) -> None:
        global _determinism
        self.prev, _determinism = _determinism, True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        global _determinism
        _determinism = self.prev


class non_deterministic:
    """A decorator: pipes of the class give their samples in any order, or where `arg` says so."""

    cls: Any = None

    def __init__(self, arg: Any) -> None:
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise type_error(
                    "Only `IterDataPipe` can be decorated with `non_deterministic`"
                    f", but {arg.__name__} is found",
                    "Derive the class from IterDataPipe.",
                )
            self.cls = arg
        self.deterministic_fn: Callable[..., bool] = arg

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is not None:
            _refuse_any_order(self.cls)
            return self.cls(*args, **kwargs)
        cls, decides = args[0], self.deterministic_fn

        @functools.wraps(cls)
        def made(*given: Any, **options: Any) -> Any:
            if decides(*given, **options):
                _refuse_any_order(cls)
            return cls(*given, **options)

        return made


def _refuse_any_order(cls: type) -> None:
    if _determinism:
        raise type_error(
            f"{cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. "
            "You can turn off determinism for this DataPipe if that is acceptable for your "
            "application",
            "Leave the block.",
        )


__getattr__ = _refuses(__name__)
