"""Errors: PyTorch's class and text, and a note that says what to do.

`str(error)` is what PyTorch says, so that code which prints or matches it sees no difference. The
advice is a note (PEP 678): a traceback shows it on the line below.
"""

from __future__ import annotations

from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


def advised(error: E, advice: str) -> E:
    """`error` with a note that says what to do.

    >>> error = tapegrad.errors.advised(ValueError("no"), "Say yes.")
    >>> error.__notes__
    ['Say yes.']
    """
    error.add_note(advice)
    return error


def freed() -> RuntimeError:
    """A second walk through a graph whose kept values are gone."""
    return advised(
        RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed). Saved intermediate values of the graph are freed "
            "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
            "to backward through the graph a second time or if you need to access saved tensors "
            "after calling backward."
        ),
        "Pass retain_graph=True to the first call, or compute the forward pass again.",
    )


def leaf_in_place(is_view: bool = False) -> RuntimeError:
    """A write to a leaf that requires grad, or to a view of one."""
    what = "a view of a leaf" if is_view else "a leaf"
    return advised(
        RuntimeError(f"{what} Variable that requires grad is being used in an in-place operation."),
        "Write inside `with torch.no_grad():`, or make a new tensor instead (y = x + 1).",
    )


def inference_saved() -> RuntimeError:
    """An inference tensor that a graph would have to keep."""
    return advised(
        RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        ),
        "clone() the tensor outside inference mode first.",
    )


def modified(array: Any, version: Any, expected: int, origin: str) -> RuntimeError:
    """A tensor that was written in place after it was kept for the backward pass."""
    from tapegrad.dtype import of

    kind = of(array.dtype).scalar_name
    source = f", which is {origin}," if origin else ""
    where = " at {}:{}".format(*version.line) if version.line else ""
    return advised(
        RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: [torch.{kind}Tensor {list(array.shape)}]{source} is at version "
            f"{version.value}; expected version {expected} instead. Hint: enable anomaly detection "
            "to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True)."
        ),
        f"The last write was {version.operator}{where}. Write out of place there, or clone() the "
        "tensor before it is written.",
    )


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> RuntimeError:
    """Two shapes that do not broadcast."""
    for i in range(1, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and a[-i] != 1 and b[-i] != 1:
            return advised(
                RuntimeError(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at "
                    f"non-singleton dimension {max(len(a), len(b)) - i}"
                ),
                f"Shapes {list(a)} and {list(b)} do not broadcast: counted from the last, "
                "dimensions must be equal or 1.",
            )
    raise AssertionError(f"shapes {a} and {b} broadcast")


def float_required(dtype: Any) -> RuntimeError:
    """A new tensor of integers or booleans that was to require grad."""
    return advised(
        RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
        f"This one is {dtype}: pass requires_grad=False, or dtype=torch.float32.",
    )
