"""Writes inside a transform of `torch.func` to tensors from outside of it, which are refused.

A derivative by the arguments of a function has no place for what it writes elsewhere. Each tensor
knows how many transforms had begun when it was made; a view counts with its base, and so does what
shares the memory of a tensor without its history.
"""

from contextvars import ContextVar

from tapegrad.core import errors
from tapegrad.core.annotations import Any
from tapegrad.core.tensor_base import BORN, REFUSING, TensorBase

_INSIDE: ContextVar[Any] = ContextVar("tapegrad_refusing", default=None)


class Refusing:
    """A block in a transform that differentiates: tensors made before it are not written.

    `arguments`, any tree of tensors that the function is given, may be.
    """

    __slots__ = ("arguments", "token", "written")

    def __init__(self, arguments: Any):
        self.arguments = arguments
        self.written: list[Any] = []  # those of them that were, or a view of which was

    def __enter__(self) -> None:
        BORN[0] += 1
        REFUSING[0] += 1
        self.token = _INSIDE.set((BORN[0], self))

    def __exit__(self, *error: object) -> None:
        _INSIDE.reset(self.token)
        around = _INSIDE.get()
        if around is not None:
            around[1].written += self.written
        REFUSING[0] -= 1


class Unchecked:
    """A block of writes that are not the function's own: tangents are written wherever they lie."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        self.token = _INSIDE.set(None)

    def __exit__(self, *error: object) -> None:
        _INSIDE.reset(self.token)


def born_of(x: Any) -> Any:
    """When the memory of a tensor was made, as it counts for writes; None: that is not known."""
    return getattr(x if x._view is None else x._view.base, "_born", None)


def refuse_captured(name: str, x: Any, *others: Any) -> None:
    """Raise where the function `name` is to write into a tensor from outside of a transform.

    `others` are its further arguments. Callers ask `REFUSING` first: it is rarely needed.
    """
    inside = _INSIDE.get()
    if inside is None or not isinstance(x, TensorBase):
        return
    since, block = inside
    born = born_of(x)
    if born is None or born >= since:
        return
    if _is_among(x, block.arguments):
        block.written.append(x if x._view is None else x._view.base)
        return
    raise errors.runtime_error(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
        f"in-place operation ({_aten(name, others)}) that would mutate a captured Tensor. This is "
        "not supported; please rewrite the function being transformed to explicitly accept the "
        "mutated Tensor(s) as inputs.",
        "Hand the tensor in as an argument, or write into a clone() of it.",
    )


def _is_among(x: Any, tree: Any) -> bool:
    """Whether a tensor is one of a tree of arguments, or has the memory of one."""
    if isinstance(tree, TensorBase):
        counter: Any = x._counter
        base = x if x._view is None else x._view.base
        return tree is base or (counter is not None and counter is tree._counter)
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, (tuple, list)):
        return False
    return any([_is_among(x, each) for each in tree])


# --- what PyTorch calls an operator in its error --------------------------------------------------

_OTHER = {  # the same function by another name
    "absolute_": "abs_", "arccos_": "acos_", "arccosh_": "acosh_", "arcsin_": "asin_",
    "arcsinh_": "asinh_", "arctan2_": "atan2_", "arctan_": "atan_", "arctanh_": "atanh_",
    "clip_": "clamp_", "divide_": "div_", "fix_": "trunc_", "greater_": "gt_",
    "greater_equal_": "ge_", "less_": "lt_", "less_equal_": "le_", "multiply_": "mul_",
    "negative_": "neg_", "not_equal_": "ne_", "subtract_": "sub_", "true_divide_": "div_",
}  # fmt: skip
_OF_TENSORS = frozenset("add_ div_ mul_ sub_".split())
_OF_EITHER = frozenset(
    "bitwise_and_ bitwise_or_ bitwise_xor_ copysign_ eq_ fill_ fmod_ ge_ gt_ le_ lt_ ne_ pow_ "
    "remainder_".split()
)
_BY_LAST = frozenset("lerp_ masked_fill_".split())


def _aten(name: str, others: tuple) -> str:
    """The name of an in-place function with that of the form that was called."""
    name = _OTHER.get(name, name)
    numbers = [not isinstance(each, TensorBase) for each in others]
    form = ""
    if name in _OF_TENSORS:
        form = ".Tensor"
    elif name in _OF_EITHER and numbers:
        form = ".Scalar" if numbers[0] else ".Tensor"
    elif name in _BY_LAST and numbers:
        form = ".Scalar" if numbers[-1] else ".Tensor"
    elif name == "scatter_":
        form = ".value" if numbers[-1:] == [True] else ".src"
    elif name == "index_fill_":
        form = ".int_Scalar" if numbers[-1:] == [True] else ".int_Tensor"
    elif name == "bernoulli_":
        form = ".Tensor" if numbers[:1] == [False] else ".float"
    elif name == "set_":
        form = ".source_Tensor" if numbers == [False] else ""
    elif name in ("clamp_", "clamp_min_", "clamp_max_") and False in numbers:
        form = ".Tensor"
    return f"aten::{name}{form}"
