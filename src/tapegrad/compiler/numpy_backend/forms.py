"""The table of forms: what instructions are written as, where that is cheaper and gives equal bits.

What is not in it is called as it was recorded.
"""

from math import prod

import numpy as np

from tapegrad.arrays.numpy.blas_threads import product
from tapegrad.arrays.numpy.blocks import PRODUCT
from tapegrad.arrays.numpy.gelu import gelu_into
from tapegrad.arrays.numpy.namespace import _LARGE as LARGE_SUM
from tapegrad.arrays.traced.program import Constant, Instruction, Scalar, Value
from tapegrad.compiler.numpy_backend.block import Block
from tapegrad.compiler.numpy_backend.fold import plain
from tapegrad.compiler.numpy_backend.form import Cast, Form
from tapegrad.compiler.numpy_backend.geometry import is_row_major, size_of
from tapegrad.compiler.numpy_backend.identity import uniform
from tapegrad.core.annotations import Any, Callable

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def form_of(block: Block, instruction: Instruction) -> Form | None:
    """The form of an instruction that has one result; None where it is called as recorded."""
    if not isinstance(instruction.result, Value):
        return None
    function = block.functions.get(instruction.text)
    if isinstance(function, np.ufunc):
        return _ufunc(block, instruction, function)
    rule = _RULES.get(instruction.text)
    return None if rule is None else rule(block, instruction)


# --- ufuncs --------------------------------------------------------------------------------------

_SCALAR_SIGNS: dict[Any, str] = {np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/"}
_UNIFORM = frozenset(_SCALAR_SIGNS)  # whose bits do not depend on how an operand is stored
_EXACT = _UNIFORM | {np.negative, np.absolute, np.sqrt, np.square, np.maximum, np.minimum}
"""What is rounded correctly, so that the same bits come out whichever loop NumPy takes."""


def _ufunc(block: Block, instruction: Instruction, ufunc: np.ufunc) -> Form | None:
    args, kwargs = instruction.args, instruction.kwargs
    if ufunc.nout != 1 or len(args) != ufunc.nin or set(kwargs) - {"out"}:
        return None
    if ufunc.signature is not None:
        return _product(block, instruction) if ufunc is np.matmul and not kwargs else None
    if any(type(x) is list or type(x) is tuple for x in args):
        return None
    if any(isinstance(x, Constant) and not _is_array(block, x) for x in args):
        return None
    name = ufunc.__name__
    operands = tuple([_operand(block, ufunc, args, i, instruction) for i in range(len(args))])
    places = ", ".join([f"{{{i}}}" for i in range(len(args))])
    number = _number(block, ufunc, instruction)
    numbers = tuple([_python_number(block, x) for x in args]) if number else ()
    out = "out={out}" if ufunc in (np.maximum, np.minimum) else "{out}"  # the rest may be places
    return Form(
        f"{{{name}}}({places}, {out})",
        operands,
        {name: ufunc},
        ufunc in _EXACT,
        number,
        numbers,
        True,
    )


def _is_array(block: Block, x: Constant) -> bool:
    return isinstance(block.constants[x.number], (np.ndarray, np.generic))


def _dtype(block: Block, x: Any) -> Any:
    """What a ufunc finds its loop by: a dtype, or the type of a Python number."""
    if isinstance(x, Value):
        return x.dtype
    if isinstance(x, Scalar):
        return float
    x = plain(block, x)
    return x.dtype if isinstance(x, (np.ndarray, np.generic)) else type(x)


def _operand(block: Block, ufunc: np.ufunc, args: tuple, i: int, instruction: Instruction) -> Any:
    """An operand; numbers become arrays of the dtype of the loop, which cost less in each call."""
    x = args[i]
    if isinstance(x, Value):
        return x
    found = plain(block, x)
    if isinstance(found, np.ndarray) and found.ndim:
        one = uniform(found) if ufunc in _UNIFORM else None
        others = [y for j, y in enumerate(args) if j != i and isinstance(y, Value)]
        shape = instruction.result.shape
        if one is not None and any(y.shape == shape for y in others):
            return block.constant(one)
        return x
    try:
        dtypes = ufunc.resolve_dtypes((*[_dtype(block, y) for y in args], None))
    except TypeError:
        return x
    if dtypes[i].kind != "f" or type(found) is bool:
        return x
    if isinstance(x, Scalar):
        return Cast(x, dtypes[i])
    return block.constant(np.asarray(found, dtypes[i]))


def _number(block: Block, ufunc: np.ufunc, instruction: Instruction) -> str | None:
    """The same with NumPy's numbers, whose operators cost a fraction of a call of a ufunc."""
    dtype = instruction.result.dtype
    if instruction.result.shape or dtype not in (_F32, _F64):
        return None
    if not any(isinstance(x, Value) for x in instruction.args):
        return None  # Python's numbers alone would say nothing of the dtype
    for x in instruction.args:
        kind = _dtype(block, x)
        if kind is not dtype and kind not in (int, float):
            return None
        if isinstance(x, Constant) and plain(block, x).ndim:
            return None
        if isinstance(x, Value) and x.shape:
            return None
    if ufunc is np.negative:
        return "-{0}"
    if ufunc is np.sqrt:
        return "{sqrt}({0})"
    sign = _SCALAR_SIGNS.get(ufunc)
    return None if sign is None else f"{{0}} {sign} {{1}}"


def _python_number(block: Block, x: Any) -> Any:
    """An operand of such an expression; a constant has the same value as a Python number."""
    return plain(block, x).item() if isinstance(x, Constant) else x


# --- products ------------------------------------------------------------------------------------


def _product(block: Block, instruction: Instruction) -> Form | None:
    """`np.matmul`, and the product of the namespace: `product` or `np.dot` where BLAS has it."""
    a, b = instruction.args
    if not isinstance(instruction.result, Value) or not instruction.result.shape:
        return None
    if any(not isinstance(x, (Value, Constant)) for x in (a, b)):
        return None
    shapes = [_shape(block, x) for x in (a, b)]
    dtypes = [_dtype(block, x) for x in (a, b)]
    plain_dot = dtypes[0] is dtypes[1] and dtypes[0] in (_F32, _F64)
    if instruction.text == "xp.matmul" and plain_dot and all(1 <= len(s) <= 2 for s in shapes):
        if len(shapes[0]) == len(shapes[1]) == 2 and prod(shapes[0]) * shapes[1][1] >= PRODUCT:
            return Form("{product}({0}, {1}, {out})", (a, b), {"product": product})
        return Form("{dot}({0}, {1}, {out})", (a, b), {"dot": np.dot})
    if instruction.text == "xp.matmul" and dtypes[0].itemsize == 2 and dtypes[0].kind in "fV":
        return None
    return Form("{matmul}({0}, {1}, {out})", (a, b), {"matmul": np.matmul})


def _shape(block: Block, x: Any) -> tuple:
    return x.shape if isinstance(x, Value) else plain(block, x).shape


# --- kernels that work in blocks -----------------------------------------------------------------


def _gelu(block: Block, instruction: Instruction) -> Form | None:
    """GELU, and its gradient, of rows of float32."""
    *arrays, approximate = instruction.args
    for x in (*arrays, instruction.result):
        if not isinstance(x, Value) or x.dtype != _F32 or not is_row_major(x) or not x.shape:
            return None
    if instruction.kwargs or any(x.shape != instruction.result.shape for x in arrays):
        return None
    places = ", ".join([f"{{{i}}}" for i in range(len(arrays))])
    text = f"{{gelu_into}}({{out}}, {approximate!r}, {places})"
    return Form(text, tuple(arrays), {"gelu_into": gelu_into}, True, elementwise=False)


# --- reductions ----------------------------------------------------------------------------------


def _reduction(ufunc: np.ufunc) -> Callable:
    """`xp.sum` and others of the namespace as `ufunc.reduce`, where that is what they are."""
    name = f"{ufunc.__name__}_reduce"

    def rule(block: Block, instruction: Instruction) -> Form | None:
        (x, *rest), kwargs = instruction.args, instruction.kwargs
        if rest or set(kwargs) - {"axis", "keepdims"} or not isinstance(x, Value):
            return None
        if x.dtype.kind not in "fiubc" or (x.dtype.itemsize == 2 and x.dtype.kind == "f"):
            return None
        if ufunc in (np.add, np.multiply) and size_of(x) >= LARGE_SUM:
            return None
        axis, keepdims = kwargs.get("axis"), kwargs.get("keepdims", False)
        if not _is_plain(axis) or not isinstance(keepdims, bool):
            return None
        if type(axis) is tuple and len(axis) == 1:
            axis = axis[0]
        text = f"{{{name}}}({{0}}, {axis!r}, None, {{out}}, {keepdims})"
        return Form(text, (x,), {name: ufunc.reduce})

    return rule


def _kept_reduction(ufunc: np.ufunc) -> Callable:
    """`ufunc.reduce` as it is, along an axis."""
    name = f"{ufunc.__name__}_reduce"

    def rule(block: Block, instruction: Instruction) -> Form | None:
        (x, *rest), kwargs = instruction.args, instruction.kwargs
        if rest or set(kwargs) - {"axis", "keepdims"} or not isinstance(x, Value):
            return None
        if x.dtype not in (_F32, _F64) or not _is_plain(kwargs.get("axis", 0)):
            return None
        axis, keepdims = kwargs.get("axis", 0), bool(kwargs.get("keepdims", False))
        text = f"{{{name}}}({{0}}, {axis!r}, None, {{out}}, {keepdims})"
        return Form(text, (x,), {name: ufunc.reduce})

    return rule


def _mean(block: Block, instruction: Instruction) -> Form | None:
    """`xp.mean` of the namespace: a sum, divided by how many there are."""
    found = _SUM(block, instruction)
    if found is None or instruction.result.dtype not in (_F32, _F64):
        return None
    (x,), n = instruction.args, size_of(instruction.args[0]) // max(size_of(instruction.result), 1)
    count = block.constant(np.asarray(n, x.dtype))
    return Form(
        (*found.lines, "{divide}({out}, {1}, {out})"),
        (x, count),
        {**found.functions, "divide": np.divide},
    )


_SUM = _reduction(np.add)


def _is_plain(axis: Any) -> bool:
    return axis is None or type(axis) is int or (type(axis) is tuple and all(map(_is_int, axis)))


def _is_int(x: Any) -> bool:
    return type(x) is int


# --- copies --------------------------------------------------------------------------------------


def _copy(block: Block, instruction: Instruction) -> Form | None:
    """A copy of the same shape, be it in another dtype."""
    x, result = instruction.args[0], instruction.result
    if result.root is not result or "out" in instruction.kwargs or not isinstance(x, Value):
        return None
    if x.shape != result.shape or (x.dtype != result.dtype and not _casts(x, result)):
        return None
    if not result.shape:
        return Form("{out}[()] = {0}", (x,), pointwise=x.dtype == result.dtype)
    return Form("{out}[...] = {0}", (x,), pointwise=x.dtype == result.dtype, elementwise=True)


def _casts(x: Value, result: Value) -> bool:
    """Whether an assignment casts as `astype` does: without a word."""
    return x.dtype.kind in "fiub" and result.dtype.kind in "fiubc"


def _reshaped(block: Block, instruction: Instruction) -> Form | None:
    """A reshape that copies: the memory of the result is written in the shape of the operand."""
    x, result = instruction.args[0], instruction.result
    if result.root is not result or not isinstance(x, Value):
        return None
    if not is_row_major(result):
        return None
    return Form(f"{{out}}.reshape({x.shape!r})[...] = {{0}}", (x,))


def _filled(block: Block, instruction: Instruction) -> Form | None:
    """Arrays of one number that are written to afterwards, or given out."""
    args, result = instruction.args, instruction.result
    if not result.shape or result.root is not result or set(instruction.kwargs) - {"dtype"}:
        return None
    if any(isinstance(x, (Value, Scalar)) for x in args[1:]) or result.dtype.kind not in "fiub":
        return None
    number: Any = {"ones": 1, "zeros": 0}.get(instruction.text[3:].partition("_")[0])
    if number is None:
        number = plain(block, args[1])
        if type(number) not in (bool, int, float):
            return None
    return Form(f"{{out}}.fill({number!r})", ())


def _unfilled(block: Block, instruction: Instruction) -> Form:
    """Memory that is written to afterwards: there is nothing to do."""
    return Form((), ())


_RULES: dict[str, Callable] = {
    "np.empty": _unfilled,
    "xp.matmul": _product,
    "np.matmul": _product,
    "xp.gelu": _gelu,
    "xp.gelu_back": _gelu,
    "xp.sum": _SUM,
    "xp.mean": _mean,
    "xp.max": _reduction(np.maximum),
    "xp.min": _reduction(np.minimum),
    "xp.prod": _reduction(np.multiply),
    "xp.all": _reduction(np.logical_and),
    "xp.any": _reduction(np.logical_or),
    "np.add.reduce": _kept_reduction(np.add),
    "np.maximum.reduce": _kept_reduction(np.maximum),
    "xp.astype": _copy,
    ".astype": _copy,
    "xp.asarray": _copy,
    "xp.copied": _copy,
    ".copy": _copy,
    "xp.reshape": _reshaped,
    ".reshape": _reshaped,
    "xp.full_like": _filled,
    "xp.zeros_like": _filled,
    "xp.ones_like": _filled,
    "xp.zeros": _filled,
    "xp.ones": _filled,
    "xp.full": _filled,
}
