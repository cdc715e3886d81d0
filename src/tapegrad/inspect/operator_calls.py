"""Running a model and writing down each operator: what it got and gave, and in which layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.operator_base import public_name
from tapegrad.core.annotations import Any, ModuleLike
from tapegrad.core.storage import owner_of
from tapegrad.tensors.tensor import Tensor


class Origin(NamedTuple):
    """Where a tensor comes from: output number `output` of `call`, or from outside.

    What comes from outside (an input, a parameter) has no call; `tensor` is the tensor itself.
    """

    call: OperatorCall | None
    output: int
    tensor: Tensor
    time: int  # of two origins of the same memory, the later one counts


@dataclass(eq=False)
class OperatorCall:
    """One call of an operator.

    Attributes:
        name: what PyTorch calls the operator, without `aten::`.
        layer: dotted name of the innermost layer that was running; "" for the model itself.
        sources: an `Origin` for each tensor it was given.
        options: its other arguments, by name or by place.
        shapes: those of the tensors it gave.
    """

    name: str
    layer: str
    sources: list[Origin]
    options: dict
    shapes: list[Any] = field(default_factory=list)


class OperatorCalls:
    """The calls of operators in one call of `model`: a list of `OperatorCall`, `calls`.

    >>> from tapegrad.inspect.operator_calls import OperatorCalls
    >>> recorded = OperatorCalls(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()))
    >>> y = recorded.run(torch.ones(2, 3))
    >>> [(call.layer, call.name) for call in recorded.calls]
    [('0', 't'), ('0', 'addmm'), ('1', 'relu')]
    """

    def __init__(self, model: ModuleLike) -> None:
        self.calls: list[OperatorCall] = []
        self._model = model
        self._running: list[str] = []  # names of the layers whose call has not ended
        self._made: dict[int, Origin] = {}  # by the id of a tensor
        self._written: dict[int, Origin] = {}  # by the id of the array that owns the memory
        self._kept: list[Any] = []  # tensors and arrays, so that their ids stay theirs

    def run(self, *inputs: Tensor) -> Any:
        """Call the model and return what it gives; no graph is recorded."""
        names = {id(layer): name for name, layer in self._model.named_modules()}

        def enter(layer, _):
            self._running.append(names[id(layer)])

        def leave(layer, *_):
            self._running.pop()

        handles = []
        for layer in self._model.modules():
            handles.append(layer.register_forward_pre_hook(enter, prepend=True))
            handles.append(layer.register_forward_hook(leave, prepend=True, always_call=True))
        token = MODE.set(_Recording(False, self))
        try:
            return self._model(*inputs)
        finally:
            MODE.reset(token)
            for handle in handles:
                handle.remove()

    def origin(self, x: Tensor) -> Origin:
        """Where the values of `x` come from, now."""
        made = self._made.get(id(x))
        written = self._written.get(id(owner_of(x._array)))
        if written is not None and (made is None or written.time > made.time):
            return written
        return made if made is not None else self._note(x, None, 0)

    def add(self, name: str, inputs: tuple, options: dict[str, Any]) -> OperatorCall:
        """Note that an operator is called."""
        sources: list[Origin] = []
        others: dict[Any, Any] = {}
        for number, value in enumerate(inputs):
            tensors = list(tensors_in(value))
            sources += map(self.origin, tensors)
            if not tensors:
                others[number] = value
        layer = self._running[-1] if self._running else ""
        call = OperatorCall(name, layer, sources, others | options)
        self.calls.append(call)
        return call

    def gave(self, call: OperatorCall, inputs: tuple, result: object) -> None:
        """Note what an operator gave."""
        writes = call.name.endswith("_")
        outputs = list(tensors_in(result))
        if writes and not outputs:
            outputs = list(tensors_in(inputs))[:1]
        for number, tensor in enumerate(outputs):
            call.shapes.append(tensor.shape)
            origin = self._note(tensor, call, number)
            owner = id(owner_of(tensor._array))
            if writes or owner not in self._written:  # a view is no news of its memory
                self._written[owner] = origin

    def wrote(self, x: Tensor, result: Tensor) -> None:
        """Note that `x` holds the values of `result` from now on."""
        origin = self._made[id(x)] = self.origin(result)
        self._written[id(owner_of(x._array))] = origin
        self._kept += [x, x._array]

    def same(self, x: Tensor, other: Tensor) -> None:
        """Note that `other` stands for `x`."""
        self._made[id(other)] = self.origin(x)
        self._kept.append(other)

    def _note(self, x, call, output):
        origin = self._made[id(x)] = Origin(call, output, x, len(self._kept))
        self._kept += [x, x._array]
        return origin


class _Recording(Layered):
    """Notes every operator on top of the mode `under`."""

    __slots__ = given = ("record",)
    record: OperatorCalls

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, options = args
        public = name if name.endswith("_") else public_name(name, op.node_name)
        call = self.record.add(public, inputs, options)
        result = self.below(name, function, args, kwargs)
        self.record.gave(call, inputs, result)
        return result

    def stands_in(self, x: Any, before: Any) -> None:
        self.record.same(x, before)
        super().stands_in(x, before)

    def wrote(self, x: Any, result: Any) -> None:
        self.record.wrote(x, result)
        super().wrote(x, result)


def tensors_in(value: object) -> Iterator[Tensor]:
    """The tensors in `value`, in their order.

    >>> from tapegrad.inspect.operator_calls import tensors_in
    >>> list(tensors_in({"x": [torch.ones(1), 5]}))
    [tensor([1.])]
    """
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from tensors_in(each)
