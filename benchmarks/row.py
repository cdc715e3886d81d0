"""A row of the table: the same work for tensors and by hand, and the bounds it has to meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

TAPEGRAD, TORCH, NUMPY, JAX = "tapegrad", "torch", "numpy", "jax"
BEFORE = "before"  # another checkout of tapegrad
LIBRARIES = (TAPEGRAD, TORCH, NUMPY, JAX)
OTHERS = ("mygrad", "micrograd", "tinygrad")  # measured where they are asked for by name
TITLES = {
    **{TAPEGRAD: "tapegrad", TORCH: "PyTorch", NUMPY: "NumPy", JAX: "JAX", BEFORE: "before"},
    **{"mygrad": "MyGrad", "micrograd": "micrograd", "tinygrad": "tinygrad"},
}
CPU, WALL = "cpu", "wall"
CLOCKS = {CPU: "CPU time", WALL: "wall time"}
PEAK = "peak memory above that before the first step, bytes"

Step = Callable[[], "dict[str, float] | None"]


@dataclass(frozen=True)
class Figure:
    """One measured number: which library, and what of it (`cpu` and `wall` are seconds)."""

    library: str
    name: str


@dataclass(frozen=True)
class Bound:
    """`of` may be at most `limit` times `over`, or at most `limit` where `over` is None."""

    what: str
    of: Figure
    over: Figure | None
    limit: float


@dataclass(frozen=True)
class Row:
    """One line of work.

    `tensors(torch)` is given tapegrad and then PyTorch, and nothing else differs between the two;
    `by_hand(numpy)` does the same without either, `jitted(jax)` by compiled JAX, `others` by the
    libraries of `OTHERS`. Each prepares its data and returns a step. A step that returns None is
    timed by the harness and its time divided by `count`; a step that measures by itself returns its
    figures.
    """

    name: str
    title: str
    tensors: Callable[[Any], Step]
    by_hand: Callable[[Any], Step] | None = None
    jitted: Callable[[Any], Step] | None = None
    others: Mapping[str, Callable[[Any], Step]] = field(default_factory=dict)
    count: int = 1
    per: str = "operator"
    clock: str = CPU
    pinned: bool = True
    repeats: int = 15
    warmup: int = 2
    peak: bool = False  # whether the most memory it held is measured, too
    native: bool = False  # whether tapegrad computes with kernels in C
    bounds: tuple[Bound, ...] = ()

    def work(self, library: str) -> Callable[[Any], Step] | None:
        """What a library does in this row; None where it has no part."""
        if library == NUMPY:
            return self.by_hand
        if library in OTHERS:
            return self.others.get(library)
        return self.jitted if library == JAX else self.tensors


def ratio(over: str, limit: float, clock: str = CPU) -> Bound:
    """The bound on tapegrad's time over another library's."""
    what = f"tapegrad / {TITLES[over]}, {CLOCKS[clock]}"
    return Bound(what, Figure(TAPEGRAD, clock), Figure(over, clock), limit)


def memory(over: str, limit: float) -> Bound:
    """The bound on tapegrad's peak memory over another library's, in a row with `peak`."""
    what = f"tapegrad / {TITLES[over]}, peak memory"
    return Bound(what, Figure(TAPEGRAD, PEAK), Figure(over, PEAK), limit)


def all_cores(row: Row, limit: float) -> Row:
    """`row` on all cores, where the clock counts: at most `limit` times PyTorch's time."""
    return replace(
        row,
        name=f"{row.name}_all_cores",
        title=f"{row.title}, on all cores",
        clock=WALL,
        pinned=False,
        bounds=(ratio(TORCH, limit, WALL), *row.bounds[1:]),
    )


def native(row: Row, limit: float) -> Row:
    """`row` on all cores by tapegrad's kernels in C: at most `limit` times PyTorch's time."""
    title = f"{row.title}, kernels in C, on all cores"
    return replace(all_cores(row, limit), name=f"{row.name}_native", title=title, native=True)
