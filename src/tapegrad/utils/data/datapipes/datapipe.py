"""`IterDataPipe` and `MapDataPipe`: data sets whose steps are methods."""

from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from typing import Any, ClassVar, TypeVar

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._hook_iterator import hook_iterator
from tapegrad.utils.data.dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe"]

T_co = TypeVar("T_co", covariant=True)


class _Steps:
    """Steps by name, for all pipes of a kind: `pipe.batch(2)` is `Batcher(pipe, 2)`."""

    functions: ClassVar[dict[str, Callable]]
    getstate_hook: ClassVar[Callable | None] = None
    reduce_ex_hook: ClassVar[Callable | None] = None

    def __getattr__(self, name: str) -> Any:
        if name in type(self).functions:
            function = type(self).functions[name]
            bound = partial(function, self)
            update_wrapper(bound, function, assigned=("__doc__",))
            return bound
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")

    @classmethod
    def register_function(cls, function_name: str, function: Callable) -> None:
        """Make a function of a pipe a method of all."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False
    ) -> None:
        """Make a class of pipes a method of all."""
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )

        def made(source: Any, *args: Any, **options: Any) -> Any:
            return cls_to_register(source, *args, **options)

        made.__doc__ = cls_to_register.__doc__
        cls.functions[function_name] = made

    def __getstate__(self) -> Any:
        state = dict(self.__dict__)
        hook = type(self).getstate_hook
        return state if hook is None else hook(state)

    def __reduce_ex__(self, *args: Any) -> Any:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(*args)

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable | None) -> None:
        """Have `hook_fn` look at what is pickled of a pipe."""
        if cls.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing getstate_hook")
        cls.getstate_hook = hook_fn

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable | None) -> None:
        """Have `hook_fn` say how a pipe is pickled."""
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = hook_fn

    def __repr__(self) -> str:
        return str(type(self).__qualname__)

    def __str__(self) -> str:
        return str(type(self).__qualname__)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).functions]


class IterDataPipe(_Steps, IterableDataset[T_co]):
    """Samples that come one after the other: derive a class with `__iter__`.

    There is one iterator at a time: a second one ends the first. `reset()`, where a class has it,
    is called as an iterator begins.

    >>> from tapegrad.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(-2, 3)).map(abs).batch(2))
    [[2, 1], [0, 1], [2]]
    """

    functions: ClassVar[dict[str, Callable]] = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded: int = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__iter__" in vars(cls):
            hook_iterator(cls)

    def reset(self) -> None:
        """What a class does as an iterator begins: nothing."""


class DFIterDataPipe(IterDataPipe):
    """Pipes of data frames."""


class MapDataPipe(_Steps, Dataset[T_co]):
    """Samples with an index: derive a class with `__getitem__` and `__len__`.

    >>> from tapegrad.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper("abc").batch(2)[0]
    ['a', 'b']
    """

    functions: ClassVar[dict[str, Callable]] = {}


class DataChunk(list):
    """A batch of samples, which is a list.

    >>> from tapegrad.utils.data.datapipes.datapipe import DataChunk
    >>> DataChunk([1, 2]).as_str("  ")
    '  [1, 2]'
    """

    def __init__(self, items: Any) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The samples as text."""
        return indent + "[" + ", ".join(map(str, iter(self))) + "]"

    def raw_iterator(self) -> Iterator[Any]:
        """The samples as they were given."""
        yield from self.items


__getattr__ = _refuses(__name__)
