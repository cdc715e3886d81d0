"""The memory of a profile: when arrays of tensors came and went, and what they were for."""

import json
import time
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from threading import get_ident
from time import perf_counter_ns

from tapegrad.arrays.numpy.memory_pool import watch
from tapegrad.autograd import lifetime
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.core.annotations import Any, NodeLike, OptimizerLike
from tapegrad.profiler.chrome_trace import open_file
from tapegrad.profiler.recorder import RECORDER

# What an array is for: the categories of PyTorch's timeline, by their place in its files.
PARAMETER, STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, DETAIL = range(7)
CATEGORIES = (
    *("Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient"),
    *("Autograd detail", "Unknown"),
)


@dataclass(eq=False, slots=True)
class Block:
    """An array: its bytes, what it is for, and whether it was there before."""

    address: int
    n_bytes: int
    category: int
    before: bool


@dataclass(eq=False, slots=True)
class Change:
    """A block came or went: `n_bytes` is negative then; `held` is what there is after it."""

    block: Block
    n_bytes: int
    held: int
    thread: int = field(default_factory=get_ident)
    time: int = field(default_factory=perf_counter_ns)


class Allocations:
    """Notes the arrays that operators, nodes and optimizers make, and when they are freed.

    Arrays that were there before are known once they are used; their end is not noted.
    """

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.before: list[Block] = []
        self.held = 0
        self._lives = lifetime.Lives(self._freed)
        self._open = True
        self._hooks: list[Any] = []

    def open(self) -> None:
        """Begin to follow arrays."""
        from tapegrad.optim import optimizer as hook

        watch(self)
        self._hooks = [
            hook.register_optimizer_step_pre_hook(lambda optimizer, *_: self._before(optimizer)),
            hook.register_optimizer_step_post_hook(lambda optimizer, *_: self._after(optimizer)),
        ]

    def close(self) -> None:
        """Follow no more."""
        if self._open:
            self._open = False
            watch(self, on=False)
            for each in self._hooks:
                each.remove()

    # --- what is told by those who make arrays ----------------------------------------------------

    def given(self, inputs: tuple) -> set[int]:
        """Note what a call is given; the arrays of it, for `made`."""
        for x in _tensors(inputs):
            self._met(x, PARAMETER if x.requires_grad and x.is_leaf else INPUT)
        return lifetime.ids(lifetime.owners(list(inputs)))

    def made(self, given: set[int], inputs: tuple, result: object) -> None:
        """Note the arrays of a result, and those that its node keeps."""
        node = lifetime.node_behind(result)
        category = ACTIVATION if node is not None else INPUT
        if node is None and any(self._is_of_model(x) for x in lifetime.owners(list(inputs))):
            category = TEMPORARY
        arrays = list(lifetime.owners(result)) + (
            [] if node is None else lifetime.saved_arrays(node)
        )
        for array in arrays:
            if id(array) not in given:
                self._born(array, category)

    def of_node(self, node: NodeLike, g: Any) -> set[int]:
        """The arrays that a node is given and keeps, for `made_by_node`."""
        return lifetime.ids(lifetime.owners(g)) | lifetime.ids(lifetime.saved_arrays(node))

    def made_by_node(self, node: NodeLike, given: set[int], result: object) -> None:
        """Note what a node has made, and the gradient that it was added to."""
        for array in lifetime.made_by_node(node, given, result):
            self._born(array, DETAIL)
        if type(node) is AccumulateGrad and node.variable is not None:
            for array in lifetime.owners(node.variable.grad):
                self._born(array, GRADIENT)
                block = self._lives.note(array)
                if block is not None:  # it has elements
                    block.category = GRADIENT

    # --- optimizers -------------------------------------------------------------------------------

    def _before(self, optimizer: OptimizerLike) -> None:
        if not self._is_heard():
            return
        for param, state in _of_optimizer(optimizer):
            self._met(param, PARAMETER)
            if param.grad is not None:
                self._met(param.grad, GRADIENT)
            for array in lifetime.owners(state):
                self._met(array, STATE)

    def _after(self, optimizer: OptimizerLike) -> None:
        if not self._is_heard():
            return
        for param, state in _of_optimizer(optimizer):
            for array in lifetime.owners(param):
                self._born(array, PARAMETER)
            for array in lifetime.owners(state):
                self._born(array, STATE)

    def _is_heard(self) -> bool:
        """Whether what happens here belongs to this profile."""
        recorder = RECORDER.get()
        return recorder is not None and recorder.on and recorder.allocations is self

    # --- the books --------------------------------------------------------------------------------

    def _born(self, array: Any, category: int) -> None:
        block = Block(id(array), array.nbytes, category, False)
        if self._lives.born(array, block):
            self._change(block, array.nbytes)

    def _met(self, x: Any, category: int) -> None:
        array = lifetime.owner(getattr(x, "_array", x))
        block = Block(id(array), array.nbytes, category, True)
        if self._lives.born(array, block):
            self.before.append(block)

    def _freed(self, block: Block, n_bytes: int) -> None:
        if self._open and not block.before:
            self._change(block, -n_bytes)

    def _change(self, block: Block, n_bytes: int) -> None:
        self.held += n_bytes
        self.changes.append(Change(block, n_bytes, self.held))

    def _is_of_model(self, array: Any) -> bool:
        block = self._lives.note(array)
        return block is not None and block.category != INPUT


def _tensors(value: Any) -> Iterable[Any]:
    for x in value:
        if isinstance(x, (list, tuple)):
            yield from _tensors(x)
        elif type(getattr(x, "_array", None)).__name__ == "ndarray":
            yield x


def _of_optimizer(optimizer: OptimizerLike) -> Iterable[tuple[Any, list]]:
    """Parameters with what the optimizer keeps for each."""
    for group in optimizer.param_groups:
        for param in group["params"]:
            state = optimizer.state.get(param, {})
            yield param, list(state.values()) if isinstance(state, dict) else []


class Usage:
    """Bytes that came less those that went, by thread, in any stretch of time."""

    def __init__(self, changes: list[Change]):
        self._times: dict[int, list[int]] = {}
        self._sums: dict[int, list[int]] = {}
        for change in changes:
            times = self._times.setdefault(change.thread, [])
            sums = self._sums.setdefault(change.thread, [0])
            times.append(change.time)
            sums.append(sums[-1] + change.n_bytes)

    def between(self, thread: int, start: int, end: int) -> int:
        times = self._times.get(thread)
        if times is None:
            return 0
        sums = self._sums[thread]
        return sums[bisect_left(times, end)] - sums[bisect_left(times, start)]


PREEXISTING, CREATE, DESTROY = 1, 2, 4  # what happened, by the numbers that PyTorch writes
_COLORS = (
    *("darkgreen", "goldenrod", "black", "mediumpurple", "red", "mediumblue", "royalblue"),
    "grey",
)


def export(recorder: Any, path: str, device: str) -> None:
    """Write the timeline of what was recorded into a file, in the form that its name says."""
    timeline = events_of(recorder) if device == "cpu" else []
    if path.endswith(".html"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(page(timeline))
    elif path.endswith("raw.json.gz"):
        _write(timeline, path)
    else:
        _write(sizes_of(timeline), path)


def _write(value: object, path: str) -> None:
    with open_file(path) as file:
        file.write(json.dumps(value))


def events_of(recorder: Any) -> list[list[int]]:
    """`[time, action, bytes, category]` of each array that was there, came or went."""
    books = recorder.allocations
    since = time.time_ns() - time.perf_counter_ns()
    timeline = [[-1, PREEXISTING, block.n_bytes, block.category] for block in books.before]
    for change in books.changes:
        action = CREATE if change.n_bytes > 0 else DESTROY
        timeline.append([change.time + since, action, change.n_bytes, change.block.category])
    return timeline


def sizes_of(timeline: list[list[int]]) -> list[list]:
    """Times in microseconds, and at each of them nought and the bytes of each category."""
    times: list[int] = []
    sizes: list[list[int]] = []
    now = [0] * (len(CATEGORIES) + 1)
    first = next((at for at, *_ in timeline if at >= 0), -1)
    for at, _, n_bytes, category in timeline:
        before = at < 0
        at = first if before else at
        now = list(now)
        now[category + 1] += n_bytes
        if before and times:
            sizes[-1] = now
        else:
            times.append(at // 1000)
            sizes.append(now)
    return [times, sizes]


def page(timeline: list[list[int]]) -> str:
    """The picture as a page that needs nothing else."""
    from tapegrad.inspect.memory import areas

    times, sizes = sizes_of(timeline)
    start = min(times)
    layers = [
        (name, color, [row[i + 1] for row in sizes])
        for i, (name, color) in enumerate(zip(CATEGORIES, _COLORS, strict=True))
    ]
    title = f"Max memory allocated: {max(sum(row) for row in sizes):,} bytes"
    picture = areas(
        layers, places=[at - start for at in times], title=title, below=f"{max(times) - start:,} us"
    )
    return (
        '<html>\n<head><meta charset="utf-8" /><title>Memory Timeline HTML</title></head>\n'
        f"<body>\n<h3>{escape(title)}</h3>\n{picture}\n</body>\n</html>\n"
    )
