"""What instructions do besides giving a result: writing, drawing, raising."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.arrays.traced.record import Read
from tapegrad.compiler.numpy_backend.block import values_in
from tapegrad.core.annotations import Any

_FIRST_IS_WRITTEN = frozenset(
    "setitem np.copyto np.put np.place np.putmask np.put_along_axis np.fill_diagonal "
    ".fill .sort .partition .put .setfield .resize .byteswap".split()
)
_PURE = ("np.", "xp.", "order.", "operator.", ".")
_NOT_PURE = ("np.random.",)

_TOTAL = frozenset(
    "abs arange asarray astype broadcast_arrays broadcast_to clip concat conj copied "
    "cumulative_sum diagonal_view expand_dims eye flip full full_like gelu gelu_back imag "
    "log10 log_softmax_along log_softmax_back matmul matrix_transpose max maximum mean "
    "mean_of_rows min minimum moveaxis ones ones_like pad_constant pad_select pad_slice "
    "permute_dims prod real reshape roll sigmoid softmax_along softmax_back squeeze stack sum "
    "total_of_rows tril triu unstack view_to where zeros zeros_like".split()
)
"""Functions of the namespace that raise for no numbers of theirs: what nobody reads goes."""

_TOTAL_METHODS = frozenset(".reshape .transpose .astype .copy .swapaxes .ravel .squeeze".split())


def written(instruction: Instruction) -> list[Value]:
    """The values that an instruction writes to."""
    out = list(values_in(instruction.kwargs.get("out")))
    text = instruction.text
    if text in _FIRST_IS_WRITTEN or (text[:3] == "np." and text.endswith(".at")):
        out += values_in(instruction.args[0])
    return out


def is_pure(instruction: Instruction) -> bool:
    """Whether an instruction only computes its results, from its arguments alone."""
    text = instruction.text
    if text == "getitem":
        return True
    if not text.startswith(_PURE) or text.startswith(_NOT_PURE) or reads(instruction.result):
        return False
    return not written(instruction)


def is_opaque(instruction: Instruction) -> bool:
    """Whether it may do anything, such as to draw numbers: it stays, and stays in its order."""
    text = instruction.text
    if text in ("getitem", "setitem", "expect"):
        return False
    return not text.startswith(_PURE) or text.startswith(_NOT_PURE)


def is_check(instruction: Instruction) -> bool:
    """Whether it raises `Changed` where a number is not the recorded one."""
    return instruction.text == "expect" or reads(instruction.result)


def reads(result: Any) -> bool:
    """Whether there is a number among the results of an instruction."""
    return isinstance(result, Read) or (type(result) is tuple and any(map(reads, result)))


def may_raise(instruction: Instruction, functions: dict) -> bool:
    """Whether an instruction may raise for some numbers: it stays though nobody reads it."""
    text = instruction.text
    if text == "getitem":
        return any(True for _ in values_in(instruction.args[1]))  # an index may be out of range
    if text.startswith("operator."):
        return text in ("operator.truediv", "operator.pow")
    if text[0] == ".":
        return text not in _TOTAL_METHODS
    function = functions.get(text)
    if isinstance(function, np.ufunc):
        kind = getattr(instruction.result, "dtype", np.dtype(object)).kind
        return function is np.power and kind in "iu"
    if text.startswith(("np.add.", "np.maximum.", "np.minimum.", "np.multiply.")):
        return not text.endswith(".reduce")
    return text[:3] != "xp." or text[3:] not in _TOTAL
