"""Modes that stand on another mode: profilers, forward mode, traces, saved-tensor hooks."""

from contextvars import Token

from tapegrad.autograd.mode import MODE, Mode
from tapegrad.core.annotations import Any, Callable, ModeLike, NodeLike


class Layered(Mode):
    """A mode that adds something on top of `under`: a grad mode, or another mode.

    `given` are the attributes that it is made with besides: with them `over` makes the same mode on
    top of another one.
    """

    __slots__ = ("under",)
    given: tuple[str, ...] = ()

    def __init__(self, under: ModeLike, *given: Any):
        super().__init__(under if type(under) is bool else under.grad)
        self.under = under
        for name, value in zip(self.given, given, strict=True):
            setattr(self, name, value)

    def over(self, under: ModeLike) -> Any:
        return type(self)(under, *[getattr(self, name) for name in self.given])

    @property
    def on_tensors(self) -> bool:
        under = self.under
        return type(under) is not bool and under.on_tensors

    def with_grad(self, grad: bool) -> Mode:
        under = self.under
        return self.over(grad if type(under) is bool else under.with_grad(grad))

    def below(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Run one operator under the mode below this one, and nothing else."""
        under = self.under
        if type(under) is not bool:
            return under.call(name, function, args, kwargs)
        token = MODE.set(under)
        try:
            return function(*args, **kwargs)
        finally:
            MODE.reset(token)

    def in_place(self, name: str, compute: Callable, x: object) -> Any:
        under = self.under
        return compute(x) if type(under) is bool else under.in_place(name, compute, x)

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        under = self.under
        return function(*args) if type(under) is bool else under.backward_node(node, function, args)


def stripped(mode: ModeLike, kind: type[Layered]) -> Any:
    """`mode` less the modes of a class."""
    if isinstance(mode, kind):
        return stripped(mode.under, kind)
    if isinstance(mode, Mode) and mode.under is not None:
        return mode.over(stripped(mode.under, kind))
    return mode


def layer_of(kind: type[Layered]) -> Any:
    """The topmost mode of a class in the current context, None where there is none."""
    mode = MODE.get()
    while isinstance(mode, Mode) and not isinstance(mode, kind):
        mode = mode.under
    return mode if isinstance(mode, Mode) else None


class Block:
    """A block in which a mode of a class is on; it may be entered again."""

    def __init__(self, kind: type[Layered], *args: object):
        self._kind = kind
        self._args = args
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        self._tokens.append(MODE.set(self._kind(MODE.get(), *self._args)))

    def __exit__(self, *error: object) -> None:
        MODE.reset(self._tokens.pop())
