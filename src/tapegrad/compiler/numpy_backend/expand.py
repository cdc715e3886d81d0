"""Kernels of the namespace in the steps that they are made of, each an instruction of its own.

Steps write into memory that is there, join chains and are shared with others; they are those that
the kernel takes on arrays of that size, or give the same bits.
"""

from types import SimpleNamespace

import numpy as np

from tapegrad.arrays.numpy.softmax import _is_plain as is_plain_softmax
from tapegrad.arrays.numpy.where_clamp import _LIMITED as FEW_LIMITED
from tapegrad.arrays.traced.program import Constant, Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block
from tapegrad.compiler.numpy_backend.fold import plain
from tapegrad.compiler.numpy_backend.geometry import are_aligned, is_dense, size_of
from tapegrad.core.annotations import Any, Callable

_BITS = {np.dtype(np.float32): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.int64)}
_MANY = 256  # elements: below it `np.where` between two arrays costs no more than its steps


def expand(block: Block) -> None:
    """Replace kernels by their steps."""
    done: list[Instruction] = []
    for each in block.instructions:
        rule = _RULES.get(each.text)
        steps = Steps(block, each)
        if rule is not None and isinstance(each.result, Value) and rule(steps, each):
            done += steps.instructions
        else:
            done.append(each)
    block.instructions = done


class Steps:
    """Instructions in the place of another."""

    def __init__(self, block: Block, instead: Instruction):
        self.block, self.instead = block, instead
        self.instructions: list[Instruction] = []

    def constant(self, x: Any) -> Constant:
        return self.block.constant(x)

    def array(self, shape: tuple, strides: tuple, dtype: Any) -> Value:
        """A value with memory of its own."""
        n = self.block.new_number()
        return Value(n, SimpleNamespace(shape=shape, strides=strides, dtype=dtype))

    def call(self, text: str, function: Any, args: tuple, result: Value, **kwargs: Any) -> Value:
        """Append a call."""
        if function is not None:
            self.block.functions.setdefault(text, function)
        line = self.instead.line
        self.instructions.append(Instruction(text, args, kwargs, result, line))
        return result

    def ufunc(self, ufunc: np.ufunc, *args: Any, result: Any = None, dtype: Any = None) -> Value:
        """Append a call of a ufunc, the result of which is laid out as that of the kernel."""
        if result is None:
            like = self.instead.result
            result = self.array(like.shape, like.strides, like.dtype if dtype is None else dtype)
        return self.call(f"np.{ufunc.__name__}", ufunc, args, result)

    def bits(self, x: Value, dtype: Any) -> Value:
        """The same memory with another dtype."""
        found = self.array(x.shape, x.strides, dtype)
        found.root, found.offset = x.root, x.offset
        return self.call(".view", None, (x, self.constant(dtype)), found)

    def give(self, x: Value) -> None:
        """Let the result be the memory of `x`."""
        result = self.instead.result
        self.block.move(result, x)
        self.call(".view", None, (x, self.constant(result.dtype)), result)


# --- where ---------------------------------------------------------------------------------------


def _where(steps: Steps, each: Instruction) -> bool:
    """The bits of one or of the other, by a mask of ones."""
    condition, x1, x2 = each.args
    result, dtype = each.result, _BITS.get(each.result.dtype)
    if dtype is None or not isinstance(condition, Value) or condition.dtype != np.bool_:
        return False
    if not result.shape or not are_aligned(condition, result) or result.root is not result:
        return False
    if not all(_fits(steps.block, x, result) for x in (x1, x2)):
        return False
    one_is_zero = any(_is_zero(x) for x in (x1, x2))
    if not one_is_zero and size_of(result) < _MANY:
        return False
    byte = steps.bits(condition, np.dtype(np.int8))
    mask = steps.array(result.shape, result.strides, dtype)
    steps.call(".astype", None, (byte, steps.constant(dtype)), mask)
    if one_is_zero and _is_zero(x1):
        mask = steps.ufunc(np.subtract, mask, 1, dtype=dtype)
        kept = x2
    else:
        mask = steps.ufunc(np.negative, mask, dtype=dtype)
        kept = x1
    if one_is_zero:
        steps.give(steps.ufunc(np.bitwise_and, mask, _bits(steps, kept, dtype), dtype=dtype))
        return True
    first, second = _bits(steps, x1, dtype), _bits(steps, x2, dtype)
    if isinstance(first, Constant) and isinstance(second, Constant):
        first = steps.constant(plain(steps.block, first) ^ plain(steps.block, second))
    else:
        first = steps.ufunc(np.bitwise_xor, first, second, dtype=dtype)
    mask = steps.ufunc(np.bitwise_and, mask, first, dtype=dtype)
    steps.give(steps.ufunc(np.bitwise_xor, mask, second, dtype=dtype))
    return True


def _fits(block: Block, x: Any, result: Value) -> bool:
    """Whether a choice is a number, or an array of the dtype and layout of the result."""
    if isinstance(x, Constant):
        x = plain(block, x)
        if not isinstance(x, (np.ndarray, np.generic)) or x.dtype != result.dtype:
            return False
        return not x.shape
    if isinstance(x, Value):
        return x.dtype == result.dtype and are_aligned(x, result)
    return type(x) in (int, float)


def _is_zero(x: Any) -> bool:
    return type(x) in (int, float) and x == 0 and not np.signbit(x)


def _bits(steps: Steps, x: Any, dtype: Any) -> Any:
    if isinstance(x, Value):
        return steps.bits(x, dtype)
    number = np.asarray(plain(steps.block, x), steps.instead.result.dtype)
    return steps.constant(number.view(dtype))


# --- limits --------------------------------------------------------------------------------------


def _limit(ufunc: np.ufunc) -> Callable[[Steps, Instruction], bool]:
    """`maximum` or `minimum`, where it is NumPy's own: of two arrays, and of few elements."""

    def rule(steps: Steps, each: Instruction) -> bool:
        x1, x2 = each.args
        if not isinstance(x1, Value) or each.kwargs:
            return False
        if type(x2) in (int, float) and size_of(x1) > FEW_LIMITED:
            return False
        if not isinstance(x2, Value) and type(x2) not in (int, float):
            return False
        steps.ufunc(ufunc, x1, x2, result=each.result)
        return True

    return rule


# --- the logistic function and softmax -----------------------------------------------------------


def _sigmoid(steps: Steps, each: Instruction) -> bool:
    (x,), result = each.args, each.result
    if not isinstance(x, Value) or not x.shape or x.dtype not in _BITS:
        return False
    if not are_aligned(x, result):
        return False
    y = steps.ufunc(np.exp, steps.ufunc(np.negative, x))
    steps.ufunc(np.reciprocal, steps.ufunc(np.add, y, 1), result=result)
    return True


def _is_softmax(each: Instruction, *arrays: Any) -> bool:
    """Whether a kernel of softmax takes its plain steps."""
    result = each.result
    return all(
        isinstance(x, Value)
        and x.dtype in _BITS
        and x.dtype == result.dtype
        and x.shape == result.shape
        and is_dense(x)
        and x.strides == result.strides
        and is_plain_softmax(SimpleNamespace(size=size_of(x), dtype=x.dtype))
        for x in arrays
    )


def _reduced(steps: Steps, ufunc: np.ufunc, x: Value, axis: int) -> Value:
    """`ufunc.reduce` along an axis that is kept, laid out as NumPy does."""
    stand_in = np.ndarray(x.shape, x.dtype, np.empty(size_of(x), x.dtype), 0, x.strides)
    found = np.maximum.reduce(stand_in, axis=axis, keepdims=True)
    result = steps.array(found.shape, found.strides, x.dtype)
    text = f"np.{ufunc.__name__}.reduce"
    return steps.call(text, ufunc.reduce, (x,), result, axis=axis, keepdims=True)


def _softmax(steps: Steps, each: Instruction) -> bool:
    x, axis = each.args
    if not _is_softmax(each, x):
        return False
    shifted = steps.ufunc(np.subtract, x, _reduced(steps, np.maximum, x, axis))
    e = steps.ufunc(np.exp, shifted)
    steps.ufunc(np.divide, e, _reduced(steps, np.add, e, axis), result=each.result)
    return True


def _log_softmax(steps: Steps, each: Instruction) -> bool:
    x, axis = each.args
    if not _is_softmax(each, x):
        return False
    shifted = steps.ufunc(np.subtract, x, _reduced(steps, np.maximum, x, axis))
    total = _reduced(steps, np.add, steps.ufunc(np.exp, shifted), axis)
    log = steps.array(total.shape, total.strides, total.dtype)
    steps.ufunc(np.log, total, result=log)
    steps.ufunc(np.subtract, shifted, log, result=each.result)
    return True


def _softmax_back(steps: Steps, each: Instruction) -> bool:
    g, y, axis = each.args
    if not _is_softmax(each, g, y):
        return False
    product = steps.ufunc(np.multiply, g, y)
    part = steps.ufunc(np.multiply, y, _reduced(steps, np.add, product, axis))
    steps.ufunc(np.subtract, product, part, result=each.result)
    return True


def _log_softmax_back(steps: Steps, each: Instruction) -> bool:
    g, y, axis = each.args
    if not _is_softmax(each, g, y):
        return False
    e = steps.ufunc(np.exp, y)
    part = steps.ufunc(np.multiply, e, _reduced(steps, np.add, g, axis))
    steps.ufunc(np.subtract, g, part, result=each.result)
    return True


_RULES: dict[str, Callable[[Steps, Instruction], bool]] = {
    "xp.where": _where,
    "xp.maximum": _limit(np.maximum),
    "xp.minimum": _limit(np.minimum),
    "xp.sigmoid": _sigmoid,
    "xp.softmax_along": _softmax,
    "xp.log_softmax_along": _log_softmax,
    "xp.softmax_back": _softmax_back,
    "xp.log_softmax_back": _log_softmax_back,
}
