"""Where memory goes: what operators make and keep, and who was alive at the peak.

Arrays are followed from the operator that made them until Python frees them; the graph keeps some
of them for the backward pass. What was there before the block is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapegrad.arrays.numpy.memory_pool import watch
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.lifetime import (
    Lives,
    ids,
    made_by_node,
    node_behind,
    owner,
    owners,
    saved_arrays,
)
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import Trace, frames_here
from tapegrad.profiler.names import node_title, title_of


class Maker:
    """An operator, or the node of one, called in one line of the user's file.

    Attributes:
        name: `aten::mul`, or `MulBackward0`.
        place: file and line, None where it is not known.
        module: the layer that was being called, `Net.body.0`; "" outside layers.
        calls: how often.
        made: bytes of the arrays that it made, those of all calls.
        kept: bytes that its nodes keep for the backward pass, each array once and with the first
            that keeps it; the memory of leaves, such as parameters, is not counted.
        at_peak: bytes of its arrays that were alive at the peak.
    """

    def __init__(self, name: str, place: tuple[str, int] | None, module: str):
        self.name = name
        self.place = place
        self.module = module
        self.calls = self.made = self.kept = self.at_peak = 0

    def __repr__(self) -> str:
        return f"{self.name}: {self.calls} calls made {self.made:,} bytes, keep {self.kept:,}"


class Memory:
    """What `memory` gives: a table as text, a picture, and the figures themselves.

    Attributes:
        makers: a `Maker` for each operator and line, in the order in which they came.
        changes: what happened, in order: a maker and the bytes it made, less than nought when
            they were freed.
        peak: the most bytes that were alive at one time.
        peak_at: after how many changes that was.
        total_kept: bytes that nodes kept for the backward pass.
        left: bytes that were alive at the end of the block.
    """

    def __init__(self) -> None:
        self.makers: list[Maker] = []
        self.changes: list[tuple[Maker, int]] = []
        self.peak = self.peak_at = self.left = 0

    @property
    def total_kept(self) -> int:
        return sum(maker.kept for maker in self.makers)

    def finish(self) -> None:
        """Find the peak and who was alive at it."""
        held = 0
        for number, (_, n_bytes) in enumerate(self.changes, 1):
            held += n_bytes
            if held > self.peak:
                self.peak, self.peak_at = held, number
        self.left = held
        for maker, n_bytes in self.changes[: self.peak_at]:
            maker.at_peak += n_bytes

    def __str__(self) -> str:
        from tapegrad.inspect.memory_picture import table

        return table(self)

    __repr__ = __str__

    def svg(self) -> str:
        """The picture: bytes alive over time, by the operators that made them."""
        from tapegrad.inspect.memory_picture import svg

        return svg(self)

    def _repr_html_(self) -> str:
        from tapegrad.inspect.memory_picture import html

        return html(self)


class _Books:
    """Which arrays are alive, and who made them."""

    def __init__(self, report: Memory):
        self.report = report
        self.lives = Lives(self._freed)
        self.kept: set[int] = set()
        self.makers: dict[tuple, Maker] = {}
        self.open = True

    def maker(self, name: str) -> Maker:
        modules: list = []
        trace = Trace(frames_here(modules), None, modules)
        key = (name, trace.line(), trace.module)
        found = self.makers.get(key)
        if found is None:
            found = self.makers[key] = Maker(*key)
            self.report.makers.append(found)
        found.calls += 1
        return found

    def born(self, maker: Maker, array: np.ndarray) -> None:
        """Note an array, if it is new."""
        if self.lives.born(array, (maker, id(array))):
            self.report.changes.append((maker, array.nbytes))
            maker.made += array.nbytes

    def _freed(self, note: tuple[Maker, int], n_bytes: int) -> None:
        maker, key = note
        self.kept.discard(key)
        if self.open:
            self.report.changes.append((maker, -n_bytes))

    def keeps(self, maker: Maker, node: Any) -> None:
        """Note what a node keeps."""
        leaves = {id(owner(edge.array)) for edge in node.edges if type(edge) is AccumulateGrad}
        for array in saved_arrays(node):
            if id(array) in leaves or id(array) in self.kept:
                continue
            if self.lives.note(array) is not None:  # made here: forgotten when it is freed
                self.kept.add(id(array))
            maker.kept += array.nbytes


class _Weighing(Layered):
    """Follows the arrays that operators and nodes make, on top of another mode."""

    __slots__ = ("books",)

    def __init__(self, under: Any, books: _Books):
        super().__init__(under)
        self.books = books

    def over(self, under: Any) -> _Weighing:
        return _Weighing(under, self.books)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        given = ids(owners(list(inputs)))
        result = self.below(name, function, args, kwargs)
        maker = self.books.maker(title_of(name, op))
        node = node_behind(result)
        kept = [] if node is None else saved_arrays(node)
        for array in (*owners(result), *kept):
            if id(array) not in given:  # no view
                self.books.born(maker, array)
        if node is not None:
            self.books.keeps(maker, node)
        return result

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        given = ids(owners(args[1])) | ids(saved_arrays(node))
        result = super().backward_node(node, function, args)
        maker = self.books.maker(node_title(type(node).__name__))
        for array in made_by_node(node, given, result):
            self.books.born(maker, array)
        return result


@contextmanager
def memory() -> Iterator[Memory]:
    """A block in which memory is watched: what operators make and keep, the peak, who is in it.

    The result prints as a table, one row for each operator and line; in a notebook it is the table
    and a picture. Arrays that no operator made, such as data that is read and parameters, are not
    counted; what operators make and drop while they run is not seen.

    >>> model = torch.nn.Sequential(torch.nn.Linear(100, 50), torch.nn.Tanh())
    >>> x = torch.ones(10, 100)
    >>> with tapegrad.inspect.memory() as seen:
    ...     y = model(x)
    >>> [(maker.name, maker.module, maker.made) for maker in seen.makers]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('aten::t', 'Sequential.0', 0),
     ('aten::addmm', 'Sequential.0', 2000),
     ('aten::tanh', 'Sequential.1', 2000)]
    >>> seen.peak
    4000
    """
    report = Memory()
    books = _Books(report)
    watch(books)
    token = MODE.set(_Weighing(MODE.get(), books))
    try:
        yield report
    finally:
        MODE.reset(token)
        watch(books, on=False)
        books.open = False
        report.finish()
