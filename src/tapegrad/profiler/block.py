"""Listening to a context, and blocks that have a name there: `record_function`."""

from __future__ import annotations

import functools
from threading import get_ident
from time import perf_counter as clock

from tapegrad.autograd.layered_mode import Layered, stripped
from tapegrad.autograd.mode import MODE, Mode
from tapegrad.core.annotations import Any, Callable, ModeLike, NodeLike, OperatorLike, Tensor
from tapegrad.core.errors import assertion_error, runtime_error
from tapegrad.dispatch.apply import apply
from tapegrad.dispatch.fast_pointwise import binary, unary
from tapegrad.profiler.names import n_of_operator, takes_list, titles_of
from tapegrad.profiler.recorder import BACKWARD, RECORDER, USER, Record, Recorder, shapes_of


class _Emitting:
    """A block in which operators would be marked for another program's timeline."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled, self.record_shapes = enabled, record_shapes
        self.entered = False

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            kind = type(self).__name__.removeprefix("emit_").upper()
            raise runtime_error(
                f"{kind} annotation context manager is not reentrant",
                "Make a new one for each block.",
            )
        return self._begin()

    def _begin(self) -> Any:
        self.entered = True
        return self

    def __exit__(self, *error: object) -> None:
        return None


class emit_nvtx(_Emitting):
    """Context manager that would mark operators for NVIDIA's tools; there are none on a CPU.

    >>> with torch.autograd.profiler.emit_nvtx(enabled=False):
    ...     y = torch.ones(2) * 2
    """

    def _begin(self) -> Any:
        raise assertion_error(
            "Torch not compiled with CUDA enabled",
            "There are no CUDA kernels to mark: use torch.profiler.profile().",
        )


class emit_itt(_Emitting):
    """Context manager that would mark operators for Intel's VTune, which is not there to listen.

    >>> with torch.autograd.profiler.emit_itt():
    ...     y = torch.ones(2) * 2
    """


class record_function:
    """Context manager and decorator that gives a block a name in the profile.

    Args:
        name: what the block is called.
        args: a note, kept as the attribute `args`.

    >>> x = torch.ones(2)
    >>> with torch.autograd.profiler.profile() as prof:
    ...     with torch.autograd.profiler.record_function("my block"):
    ...         y = x * x
    >>> [event.name for event in prof.function_events]
    ['my block', 'aten::mul']
    """

    def __init__(self, name: str, args: str | None = None):
        self.name, self.args = name, args
        self._open: tuple[Recorder, Record] | None = None

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise runtime_error(
                "profiler::_record_function_enter_new() Expected a value of type 'str' for "
                f"argument 'name' but instead found type '{type(self.name).__name__}'.\n"
                f"Position: 0\nValue: {self.name}\nDeclaration: "
                "profiler::_record_function_enter_new(str name, str? args=None) -> "
                "__torch__.torch.classes.profiler._RecordFunction\n"
                "Cast error details: Unable to cast Python instance of type "
                f"{type(self.name)} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES "
                "or compile in debug mode for details)",
                "Give the block a name: record_function('name').",
            )
        recorder = RECORDER.get()
        if recorder is not None and recorder.on:
            inputs: list | None = [[]] if self.args is not None and recorder.shapes else None
            self._open = recorder, recorder.push(self.name, USER, inputs)
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            recorder, record = self._open
            self._open = None
            recorder.pop(record)

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: object, **kwargs: object) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapper


def attach(recorder: Recorder) -> tuple:
    """Have `recorder` hear of what runs in this context; what is returned is for `detach`."""
    from tapegrad.profiler import composite

    composite.listen()
    profiling = Profiling(stripped(MODE.get(), Profiling), recorder)
    return RECORDER.set(recorder), MODE.set(profiling), profiling


def detach(recorder: Any, token: Any, profiling: Profiling) -> None:
    """Let nobody hear any more: `attach` undone."""
    from tapegrad.profiler import composite

    composite.leave()
    RECORDER.reset(recorder)
    if MODE.get() is profiling:
        MODE.reset(token)
    else:  # inside a block that was entered since
        MODE.set(stripped(MODE.get(), Profiling))


# --- the mode of a context where a profiler is on ---

set_mode, reset_mode = MODE.set, MODE.reset
_QUICK: dict[bool, dict[Any, Callable]] = {True: {}, False: {}}  # by grad mode and operator


class Profiling(Layered):
    """Records operators on top of the mode `under`, a grad mode or another Mode."""

    __slots__ = ("note", "quick", "recorder")
    given = ("recorder",)
    recorder: Recorder

    def __init__(self, under: ModeLike, recorder: Recorder):
        super().__init__(under, recorder)
        self.note = recorder.operators.extend
        self.quick: dict[Any, Callable] | None = None  # where five entries say all there is
        if recorder.brief and type(under) is bool:
            self.quick = _QUICK[under]

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        recorder = self.recorder
        op, inputs, params = args
        ways = self.quick
        if ways is not None and function is apply:
            try:
                quick = ways[op]
            except KeyError:
                quick = ways[op] = quick_way(op, self.under)
            if not recorder.on:
                return quick(*inputs, **params)
            start = clock()
            try:
                result = quick(*inputs, **params) if params else quick(*inputs)
            except BaseException:
                self.note((op, start, clock(), -1, get_ident()))
                raise
            end = clock()
            try:
                node = result._node
                sequence = -1 if node is None else node.sequence or -1
            except AttributeError:  # several results, or one of several outputs of a node
                sequence = sequence_of(result)
            self.note((op, start, end, sequence, get_ident()))
            return result
        if not recorder.on:
            return self.below(name, function, args, kwargs)
        return self._noted(name, function, args, kwargs)

    def _noted(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Run an operator and note all that is asked for."""
        recorder = self.recorder
        op, inputs, params = args
        titles = titles_of(name, op)
        record = recorder.push(titles[-1])
        record.above = titles[:-1]
        if recorder.shapes:
            record.inputs = shapes_of(inputs)
            record.n_arguments = n_of_operator(name)
        books = recorder.allocations
        given = set() if books is None else books.given(inputs)
        try:
            result = self.below(name, function, args, kwargs)
            record.sequence = sequence_of(result)
            if books is not None:
                books.made(given, inputs, result)
            if recorder.values:
                from tapegrad.profiler.execution_trace import described_call

                tensors = [list(inputs)] if takes_list(record.name) else inputs
                record.values = described_call(tensors, params, result)
            return result
        finally:
            recorder.pop(record)

    def runner(self) -> Callable | None:
        """What runs a node of a plain backward pass and notes it, where that is all to be done."""
        if self.quick is None:
            return None
        if not self.recorder.on:
            return lambda node, g, retain: node.plan.run(node, g, retain)
        extend, thread = self.recorder.nodes.extend, get_ident()

        def run(node: NodeLike, g: Any, retain: bool) -> Any:
            start = clock()
            flow = node.plan.run(node, g, retain)
            extend((type(node), start, clock(), node.sequence, thread))
            return flow

        return run

    def around(self, name: str, run: Callable) -> Any:
        if not self.recorder.on:
            return super().around(name, run)
        record = self.recorder.push(name)
        try:
            return super().around(name, run)
        finally:
            self.recorder.pop(record)

    def in_place(self, name: str, compute: Callable, x: object) -> Any:
        recorder = self.recorder
        if not recorder.on:
            return super().in_place(name, compute, x)
        record = recorder.push("aten::" + name)
        under = self.under
        if recorder.shapes:
            record.inputs = shapes_of([x])
            under = _Seeing(under, record)
        token = MODE.set(self._replaced(MODE.get(), under))  # what is inside is no event
        try:
            return compute(x) if type(under) is bool else under.in_place(name, compute, x)
        finally:
            MODE.reset(token)
            recorder.pop(record)

    def _replaced(self, mode: ModeLike, other: object) -> Any:
        """`mode` with another one in the place of this one, those above it as they are."""
        if mode is self:
            return other
        if isinstance(mode, Mode) and mode.under is not None:
            return mode.over(self._replaced(mode.under, other))
        return mode

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        recorder = self.recorder
        if not recorder.on:
            return super().backward_node(node, function, args)
        received = args[1] if isinstance(args[1], (tuple, list)) else [args[1]]
        shapes = shapes_of(received) if recorder.shapes else None
        record = recorder.push(type(node).__name__, BACKWARD, shapes, node.sequence or -1)
        books = recorder.allocations
        given = set() if books is None else books.of_node(node, args[1])
        if recorder.values:
            from tapegrad.profiler.execution_trace import described

            record.values = list(map(described, received)), []
        try:
            result = super().backward_node(node, function, args)
            if books is not None:
                books.made_by_node(node, given, result)
            return result
        finally:
            recorder.pop(record)


class _Seeing(Layered):
    """Sees the shapes that the operator of an in-place function is given."""

    __slots__ = given = ("record",)
    record: Any

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        if len(self.record.inputs) == 1:
            self.record.inputs += shapes_of(args[1][1:])
        return self.below(name, function, args, kwargs)


def quick_way(op: OperatorLike, grad: bool) -> Callable:
    """The function of an operator that takes the grad mode as given, and asks for no other."""

    def general(op: OperatorLike, inputs: tuple, params: dict) -> Any:
        token = set_mode(grad)
        try:
            return apply(op, inputs, params)
        finally:
            reset_mode(token)

    def called(*inputs: Tensor, **params: object) -> Any:
        token = set_mode(grad)
        try:
            return op.call(*inputs, **params)
        finally:
            reset_mode(token)

    if hasattr(op.call, "direct"):  # elementwise, on the fast path
        make = unary if len(op.inputs) == 1 else binary
        fast: Any = make(op, get_mode=lambda: grad, apply=general)
        return fast.direct
    return called


def sequence_of(result: object) -> int:
    """The sequence number of the node that made a tensor; -1 where no operator made it."""
    node = getattr(result, "_node", None)
    node = getattr(node, "node", node)  # one of several outputs
    return getattr(node, "sequence", 0) or -1


def _profiler_enabled() -> bool:
    """Whether a profile is being recorded."""
    recorder = RECORDER.get()
    return recorder is not None and recorder.on


def _disable_profiler() -> None:
    """Have the profile that is being recorded hear of nothing more."""
    recorder = RECORDER.get()
    if recorder is not None:
        recorder.on = False
