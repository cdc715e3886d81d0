"""Small helpers of modules, where PyTorch has them."""

from collections.abc import Callable, Iterable
from types import FunctionType

from tapegrad.core.annotations import Any, ModuleLike

__all__ = ["consume_prefix_in_state_dict_if_present"]


class ClassOptions:
    """What the classes of a family differ in: `class Conv2d(_Convolution, n_axes=2)`."""

    _n_axes: int
    _function: Any

    def __init_subclass__(
        cls, n_axes: int | None = None, function: Callable | None = None, **options: object
    ) -> None:
        super().__init_subclass__(**options)
        if n_axes is not None:
            cls._n_axes = n_axes
        if function is not None:
            cls._function = staticmethod(function)


def of_each(value: Any, n: int) -> tuple[Any, ...]:
    """`value` for each of n axes; what is a sequence already stays as it is.

    >>> from tapegrad.nn.modules.utils import of_each
    >>> of_each(3, 2), of_each([3, 4], 2)
    ((3, 3), (3, 4))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def _reverse_repeat_tuple(t: tuple, n: int) -> tuple:
    """The elements from the last to the first, each n times: `F.pad` takes borders so."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple]:
    """The function that repeats a number n times, and leaves a sequence as it is."""

    def parse(x: object) -> tuple:
        return of_each(x, n)

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take `prefix` off the names in a state, in place: the "module." of `DataParallel`, say.

    >>> state = {"module.weight": 1, "bias": 2}
    >>> torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'bias': 2, 'weight': 1}
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata: Any = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)


def unusual(layer: ModuleLike, **usual: Any) -> list[str]:
    """`name=value` for each option of a layer that is not as usual, for its `extra_repr`."""
    found = ((name, getattr(layer, name), value) for name, value in usual.items())
    return [f"{name}={is_}" for name, is_, value in found if is_ != value]


def shown(layer: ModuleLike, names: str) -> str:
    """`name=value` for each of these options of a layer, for its `extra_repr`."""
    return ", ".join(f"{name}={getattr(layer, name)}" for name in names.split())


def has_own_constructor(*layers: Any) -> None:
    """Give classes the `__init__` they inherit under their own name, which errors of calls tell."""
    for layer in layers:
        shared = layer.__init__
        code, scope, cells = shared.__code__, shared.__globals__, shared.__closure__
        layer.__init__ = FunctionType(code, scope, "__init__", shared.__defaults__, cells)
        layer.__init__.__annotations__ = shared.__annotations__
        layer.__init__.__kwdefaults__ = shared.__kwdefaults__
        layer.__init__.__qualname__ = f"{layer.__name__}.__init__"
