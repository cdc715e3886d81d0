"""What losses of classes accept: shapes, dtypes, classes that there are."""

from __future__ import annotations

import numpy as np

from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.core.dtype import int64, uint8
from tapegrad.operators.dtype_check import no_kernel


def check_classes(
    input: TensorLike, target: TensorLike, weight: TensorLike | None, ignore_index: int
) -> int | None:
    """Raise unless the targets are classes of the input; returns what to ignore if any has it."""
    shape, rows = input._array.shape, target._array.shape
    if not shape:
        raise ValueError(f"Expected 1 or more dimensions (got {len(shape)})")
    if rows != shape[:1] or len(shape) != 2:
        _check_shapes(shape, rows)
    n = shape[1 if len(shape) > 1 else 0]
    if len(shape) > 2:
        _check_labels(target)
        _check_weight(weight, n, "all", "")
    else:
        _check_weight(weight, n, f"all {n} classes", " but got weight tensor of shape: ")
        _check_labels(target)
    if not input.dtype.is_floating_point:
        spatial = "2d_forward" if len(shape) > 2 else ""
        raise no_kernel(f"nll_loss{spatial}_out_frame", input.dtype)
    values = elements(target._array)
    if not values.size:
        return None
    least, most = np.minimum.reduce(values, None), np.maximum.reduce(values, None)
    if least >= 0 and most < n:
        return ignore_index if least <= ignore_index <= most else None
    wrong = values[((values < 0) | (values >= n)) & (values != ignore_index)]
    if wrong.size:
        raise errors.index_error(
            f"Target {int(wrong.reshape(-1)[0])} is out of bounds.",
            f"Classes are numbered from 0 to {n - 1}.",
        )
    return ignore_index


def _check_shapes(shape: tuple[int, ...], rows: tuple[int, ...]) -> None:
    """One target for each row of scores, or for each of its places."""
    advice = f"Shapes are {list(shape)} and {list(rows)}: (N, C, ...) has targets (N, ...)."
    batch = rows[0] if rows else 0
    if len(shape) > 1 and shape[0] != batch:
        raise errors.value_error(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({batch}).", advice
        )
    message = ""
    if len(shape) < 3:
        if len(rows) > 1:
            message = "0D or 1D target tensor expected, multi-target not supported"
        elif len(shape) == 1 and rows and batch != 1:
            raise errors.value_error(
                f"For 1D input, 1D target must have size 1, but got target size: {batch}", advice
            )
    elif len(shape) == 4 and len(rows) != 3:
        message = (
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{len(rows)}"
        )
    elif shape[2:] != rows[1:] and len(shape) == 4:
        message = f"size mismatch (got input: {list(shape)} , target: {list(rows)}"
    elif shape[2:] != rows[1:]:
        message = f"Expected target size {[shape[0], *shape[2:]]}, got {list(rows)}"
    if message:
        raise errors.runtime_error(message, advice)


def _check_labels(target: TensorLike) -> None:
    dtype = target.dtype
    if dtype is not int64 and dtype is not uint8:
        raise errors.runtime_error(
            f"expected target dtype to be Long or Byte, but got {dtype.scalar_name}",
            "Class numbers are integers: target.long().",
        )


def _check_weight(weight: TensorLike | None, n: int, every: str, given: str) -> None:
    if weight is not None and weight._array.shape != (n,):
        shape = list(weight._array.shape)
        raise errors.runtime_error(
            f"weight tensor should be defined either for {every} or no classes"
            f"{given}{shape if given else ''}",
            f"There are {n} classes, and one weight for each; the weights are {shape}.",
        )


def check_probabilities(
    input: TensorLike, target: TensorLike, weight: TensorLike | None, axis: int, ignore_index: int
) -> None:
    """Raise unless the target holds probabilities in the shape of the input."""
    if not target.dtype.is_floating_point:
        raise errors.runtime_error(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.scalar_name}",
            "A target in the shape of the input holds probabilities; classes have no dimension C.",
        )
    if ignore_index >= 0:
        raise errors.runtime_error(
            "ignore_index is not supported for floating point target",
            "Give those rows the weight 0, or leave them out.",
        )
    if weight is not None and weight._array.shape != (input._array.shape[axis],):
        raise errors.runtime_error(
            "cross_entropy: weight tensor should be defined either for all "
            f"{input._array.shape[axis]} classes or no classes but got weight tensor of shape: "
            f"{list(weight._array.shape)}",
            "There is one weight for each class.",
        )
