"""Dispatch modes: blocks in which every operator is handed over, below autograd.

A mode is a layer over the grad mode. What it gives for a call is what the graph then records as the
result of the operator. The backward pass runs on tensors under it, so that its operators are
handed over, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Token

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.layered_mode import Layered, layer_of, stripped
from tapegrad.autograd.mode import MODE, Mode, Under
from tapegrad.autograd.node import version_of
from tapegrad.autograd.saved import CONSTANT, GRAD, RAW
from tapegrad.autograd.view import edge_of, mark_view
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Callable, ModeLike, OperatorLike
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.core.torch_dispatch import is_stand_in, tensors_of
from tapegrad.core.torch_function import require_plain_method
from tapegrad.dispatch.apply import record
from tapegrad.dispatch.op import Op
from tapegrad.overrides.dispatch_call import Call, call_of, made_call, write_call


class Dispatching(Layered):
    """Hands operators over to `handler`, a `TorchDispatchMode`."""

    __slots__ = given = ("handler",)
    handler: Any

    @property
    def on_tensors(self) -> bool:
        return True

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, params = args
        if type(op) is Op:
            return self._handed(op, inputs, params)
        if inputs:
            return self._write(name, function, args, kwargs)
        return self._make(name, function, args, kwargs)

    def _handed(self, op: Op, inputs: tuple, params: dict) -> Any:
        with Under(below_autograd(self.under)):
            result = self._ask(call_of(op, inputs, params)._replace(grad=self.grad))
        return settled(self, op, inputs, params, result)

    def _ask(self, call: Call) -> Any:
        own = tensors_of((*call.args, *call.kwargs.values()))
        types = dict.fromkeys(map(type, own))
        require_plain_method(self.handler, "__torch_dispatch__")
        result = call.hand_to(self.handler.__torch_dispatch__, tuple(types))
        if result is NotImplemented and own:
            with Under(below_autograd(Dispatching(MODE.get(), self.handler))):
                return DISPATCH_CLASSES().ask(call)
        if result is NotImplemented:
            raise nobody(call.overload, [f"mode object {self.handler}"])
        return result

    def _write(self, name: str, function: Callable, args: tuple, kwargs: dict) -> None:
        """A write is recorded where it is done, if the mode lets it be done."""
        op, inputs, params = args
        target = inputs[0]

        def run() -> Any:
            function(*args, **kwargs)
            return target

        with Under(self.under):
            self._ask(write_call(name, op, inputs, params, run))

    def _make(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        mode = stripped(self.under, Dispatching)
        if isinstance(mode, Mode):
            return self._offer(name, mode.call(name, function, args, kwargs))
        with Under(mode):
            made = function(*args, **kwargs)
        return self._offer(name, made)

    def _offer(self, name: str, made: Any) -> Any:
        """What the mode, and those around it, make of a tensor that was made."""

        def run() -> Any:
            around = layer_of(Dispatching)
            return made if around is None else around._offer(name, made)

        with Under(below_autograd(self.under)):
            return require_tensor(self._ask(made_call(name, made, run)))


def below_autograd(mode: ModeLike) -> Any:
    """A mode without recording, as it is inside a `__torch_dispatch__`."""
    return mode.with_grad(False) if isinstance(mode, Mode) else False


def nobody(overload: Any, handlers: list[str]) -> TypeError:
    """PyTorch's error where all say NotImplemented."""
    listed = "".join(f"  - {each}\n" for each in handlers)
    return errors.type_error(
        f"Multiple dispatch failed for 'torch.ops.{overload}'; all __torch_dispatch__ handlers "
        f"returned NotImplemented:\n\n{listed}\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented",
        "Return a result for it, or func(*args, **kwargs).",
    )


def require_tensor(out: Any) -> Any:
    """`out`, which a `__torch_dispatch__` has given in the place of a tensor."""
    if isinstance(out, TensorBase | None):
        return out
    raise errors.runtime_error(
        f"Unable to cast {out} to Tensor",
        "What __torch_dispatch__ returns for an operator must be a tensor, or several.",
    )


def settled(layer: Layered, op: Op, inputs: tuple, params: dict, result: Any) -> Any:
    """The result of a call that was handed over, with its place in the graph."""
    if result is None:
        return None
    several = isinstance(result, tuple | list)
    outs = tuple(result) if several else (result,)
    for out in outs:
        require_tensor(out)
    edges = [edge_of(x) if isinstance(x, TensorBase) else None for x in inputs]
    wanted = layer.grad and bool(op.vjps) and any(edge is not None for edge in edges)
    if not wanted and not op.view:
        return outs if several else result

    def give(op: OperatorLike, inputs: tuple, params: dict) -> Any:
        return _placed(op, inputs, params, edges, outs, several)

    mode = stripped(layer.under, Dispatching)
    if isinstance(mode, Mode):
        return mode.call(op.name, give, (op, inputs, params), {})
    with Under(mode):
        return give(op, inputs, params)


def _placed(
    op: OperatorLike, inputs: tuple, params: dict, edges: list, outs: tuple, several: bool
) -> Any:
    """Results as outputs of the operator: behind a node, and views of its first input."""
    outs = tuple([_fresh(op, x, inputs) for x in outs])
    kinds = "".join(
        RAW if not isinstance(x, TensorBase) else CONSTANT if edge is None else GRAD
        for x, edge in zip(inputs, edges, strict=True)
    )
    mode = MODE.get()
    if mode and GRAD in kinds and op.vjps:
        given = [x._array if isinstance(x, TensorBase) else x for x in inputs]
        record(op, namespace_of(given), inputs, given, edges, kinds, params, outs, True)
    if op.view:
        for i, out in enumerate(outs):
            if type(out) is tensor_base.Tensor:
                mark_view(op, inputs[0], out, params, i if op.multi else None, mode)
            elif is_stand_in(out) and is_stand_in(inputs[0]) and out is not inputs[0]:
                out._counter = version_of(inputs[0])
    return outs if several else outs[0]


def _fresh(op: OperatorLike, x: Any, inputs: tuple) -> Any:
    """A result as a tensor that has no history yet."""
    taken = x._node is not None or any(x is each for each in inputs)
    if type(x) is tensor_base.Tensor and (taken or op.view):
        return wrap(x._array)
    return x


class TorchDispatchMode:
    """A block in which every operator is handed to the mode, those of backward passes included.

    Derive from it and write `__torch_dispatch__(self, func, types, args=(), kwargs=None)`, which
    gives the result; `func` is an overload such as `torch.ops.aten.add.Tensor`. The mode is off
    while it runs, and nothing is recorded there: what it gives becomes the operator's result.
    Which operators a function is made of is tapegrad's affair, and not always what PyTorch does;
    what is written in place is seen as the operator that computes it.

    >>> from tapegrad.utils._python_dispatch import TorchDispatchMode
    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with Log():
    ...     y = (x * x).exp().sum()
    aten.mul.Tensor
    aten.exp.default
    aten.sum.default
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        if _dispatch_key is not None:
            raise errors.not_implemented(
                "TorchDispatchMode: _dispatch_key is not supported in tapegrad",
                "There is one place at which modes are asked: derive without the argument.",
            )

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        tokens: list[Token] = self.__dict__.setdefault("_tokens", [])
        tokens.append(MODE.set(Dispatching(MODE.get(), self)))
        return self

    def __exit__(self, *error: object) -> None:
        MODE.reset(self.__dict__["_tokens"].pop())

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether the mode belongs to a library, not to the program."""
        return False

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A mode of the class."""
        return cls(*args, **kwargs)


def _get_current_dispatch_mode() -> Any:
    """The innermost mode; None where there is none."""
    layer = layer_of(Dispatching)
    return None if layer is None else layer.handler


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes of the context, the outermost first."""
    found = []
    mode = MODE.get()
    while isinstance(mode, Mode):
        if type(mode) is Dispatching:
            found.append(mode.handler)
        mode = mode.under
    return found[::-1]


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """A block in which no dispatch mode is asked; it gives those that are off."""
    modes = _get_current_dispatch_mode_stack()
    with Under(stripped(MODE.get(), Dispatching)):
        yield modes


@contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    """A block in which the innermost dispatch mode is not asked; it gives that mode."""
    mode = _get_current_dispatch_mode()
    if mode is None:
        raise AssertionError("No mode on the stack to pop")
    with Under(_without_innermost(MODE.get())):
        yield mode


def _without_innermost(mode: Any) -> Any:
    """A mode without its innermost `Dispatching` layer."""
    if type(mode) is Dispatching:
        return mode.under
    return mode.over(_without_innermost(mode.under))
