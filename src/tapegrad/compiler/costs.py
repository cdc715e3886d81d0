"""What programs cost: operations and bytes, and how many of each this machine does in a second."""

import time
from functools import cache
from math import prod

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Program, Value
from tapegrad.compiler import instructions
from tapegrad.core.annotations import Any, Callable


def flops_of(program: Program) -> int:
    """Floating-point operations of a program: those of its products, else one for each element.

    What only sees memory in another way counts nothing.
    """
    return sum(map(flops_of_instruction, program.instructions))


def flops_of_instruction(each: Instruction) -> int:
    """The same of one instruction."""
    values = [v for v in instructions.made(each) if isinstance(v, Value)]
    if not values or (values[0].root is not values[0] and not instructions.writes(each)):
        return 0
    operands = [v for v in instructions.read(each) if isinstance(v, Value)]
    read, made = [v.shape for v in operands], [v.shape for v in values]
    if each.text in ("xp.matmul", "np.matmul", "np.dot") and operands and read[0]:
        return 2 * prod(made[0]) * read[0][-1]
    kernel = _KERNELS.get(each.text)
    if kernel is not None:
        return 2 * kernel(read, made)
    return max([prod(shape) for shape in (*made, *read)], default=0)


def bytes_of(program: Program) -> int:
    """Bytes of what a program is given: as much has to be read at least."""
    return sum(_bytes(v) for v in program.inputs if isinstance(v, Value))


def eager_bytes_of(program: Program) -> int:
    """Bytes that its operations read and write, each for itself."""
    total = 0
    for each in program.instructions:
        made = [v for v in instructions.made(each) if isinstance(v, Value)]
        if made and made[0].root is not made[0] and not instructions.writes(each):
            continue
        total += sum(_bytes(v) for v in (*made, *instructions.read(each)) if isinstance(v, Value))
    return total


def _bytes(v: Value) -> int:
    return prod(v.shape) * v.dtype.itemsize


# --- kernels that are made of products -----------------------------------------------------------


def _attend(shapes: list[tuple], keys: int, values: int) -> int:
    """So many products of the size of queries by keys, and of weights by values."""
    q, k, v = shapes
    return prod(q[:-1]) * k[-2] * (keys * q[-1] + values * v[-1])


def _recurrent(read: list, weights: slice, times: int) -> int:
    """Each row of the input and of the state by its weights."""
    return times * prod(read[0][:-1]) * sum(map(prod, read[weights]))


_KERNELS: dict[str, Callable[[list, list], int]] = {  # multiplications, by shapes read and made
    "xp.attend": lambda read, made: _attend(read[:3], 1, 1),
    "xp.attend_back": lambda read, made: _attend(read[1:4], 3, 2),
    "xp.convolve": lambda read, made: prod(made[0]) * prod(read[1][1:]),
    "xp.convolve_transposed": lambda read, made: prod(read[0]) * prod(read[1][1:]),
    "xp.convolve_weights": lambda read, made: prod(read[1]) * prod(made[0][1:]),
    "xp.lstm": lambda read, made: _recurrent(read, slice(3, 5), 1),
    "xp.lstm_back": lambda read, made: _recurrent(read, slice(3, 5), 2),
    "xp.gru": lambda read, made: _recurrent(read, slice(2, 4), 1),
    "xp.gru_back": lambda read, made: _recurrent(read, slice(2, 4), 2),
    "xp.rnn": lambda read, made: _recurrent(read, slice(2, 4), 1),
    "xp.rnn_back": lambda read, made: _recurrent(read, slice(2, 4), 2),
}


# --- this machine --------------------------------------------------------------------------------


@cache
def limits() -> tuple[float, float]:
    """The floating-point operations and the bytes that this machine does in a second: measured,
    by a product of matrices and by a copy of more than its caches hold."""
    x = np.ones((384, 384), np.float32)
    source, target = np.ones((2, 2**23), np.float32)
    product = _least(lambda: x @ x)
    copy = _least(lambda: np.copyto(target, source))
    return 2 * 384**3 / product, 2 * source.nbytes / copy


def _least(run: Any) -> float:
    found = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)
