"""The functions that `cond`, `scan` and their kin run: what they may do, and may give back."""

from collections.abc import Callable, Sequence
from typing import Any

from tapegrad.autograd.view import memory_owner
from tapegrad.compat.torch._dynamo.exc import UncapturedHigherOrderOpError
from tapegrad.core.errors import advised
from tapegrad.core.memory_format import strided
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_leaves


def uncaptured(what: str, advice: str) -> UncapturedHigherOrderOpError:
    """PyTorch's error for functions that its compiler cannot make a graph of, and why."""
    text = (
        "This higher order operator doesn't work unless it is captured completely with "
        f"torch.compile. Got graph break/error:\n\n{what}"
    )
    return advised(UncapturedHigherOrderOpError(text), advice)


def call(operator: str, function: Callable, operands: Sequence) -> Any:
    """What a function computes of operands, which it leaves as they are."""
    given = [x for x in tree_leaves(operands) if isinstance(x, Tensor)]
    versions = _versions(given)
    result = function(*operands)
    if versions != _versions(given):
        raise uncaptured(
            f"Encountered input mutation during higher order op tracing ({operator})",
            "The function writes into a tensor that it is given: compute a new one instead.",
        )
    return result


def _versions(tensors: list[Tensor]) -> list[int | None]:
    return [None if x.is_inference() else x._version for x in tensors]


def compute(operator: str, function: Callable, operands: Sequence, kinds: Any = Tensor) -> Any:
    """The same, where what is computed has to be of these kinds and in memory of its own."""
    result = call(operator, function, operands)
    seen = {id(_memory(x)) for x in tree_leaves(operands) if isinstance(x, Tensor)}
    for x in tree_leaves(result):
        if not isinstance(x, kinds):
            raise uncaptured(
                f"{operator}: the function returns something of {type(x)}",
                "Return tensors, alone or in tuples, lists and dictionaries.",
            )
        if isinstance(x, Tensor):
            if id(_memory(x)) in seen:
                raise uncaptured(
                    f"Encountered aliasing during higher order op tracing ({operator})",
                    "The function returns a tensor twice, or one that it is given, or a view of "
                    "it: return `x.clone()`.",
                )
            seen.add(id(_memory(x)))
    return result


def _memory(x: Tensor) -> Any:
    """What holds the memory of a tensor; a sparse one has several tensors of its own."""
    return memory_owner(x._array) if x.layout is strided else x


def check_alike(left: str, right: str, xs: Sequence, ys: Sequence) -> None:
    """Raise unless what is carried into a step is of the kind of what is carried out of it."""
    if len(xs) != len(ys):
        text = (
            f"Expected {left} and {right} to have same number of outputs but got "
            f"lhs:{[_form(x) for x in xs]} and rhs:{[_form(y) for y in ys]}"
        )
        raise advised(UncapturedHigherOrderOpError(text), "Return as many as are carried.")
    pairs = [(i, _form(x), _form(y)) for i, (x, y) in enumerate(zip(xs, ys, strict=True))]
    found = [f"pair[{i}] differ: {x} vs {y}" for i, x, y in pairs if x != y]
    if found:
        text = f"Expected {left} and {right} to have same metadata but found:\n" + "\n".join(found)
        advice = (
            "Each step has to give shapes and dtypes as it gets them: expand or convert before."
        )
        raise advised(UncapturedHigherOrderOpError(text), advice)


def _form(x: Any) -> str:
    """Shape and dtype of a tensor, or the type of a number."""
    if not isinstance(x, Tensor):
        return type(x).__name__
    return f"tensor of {tuple(x.shape)}, {x.dtype}, {x.device}"
