"""Sparse tensors in coordinate and compressed format, and `torch.sparse`.

A sparse tensor (`tensor.py`) holds its indices and its values, two dense tensors. What operators do
with it stands in a table by their name, which the other files fill; one that is not there raises.
"""

from tapegrad.core.registration import SPARSE_REFUSALS as _SPARSE_REFUSALS
from tapegrad.sparse import (
    arithmetic,
    compressed,
    conversion,
    gradients,
    in_place,
    pointwise,
    shape,
)
from tapegrad.sparse.coalesce import coalesce as _coalesce
from tapegrad.sparse.creation import check_sparse_tensor_invariants, laid_out, spdiags
from tapegrad.sparse.gradients import accumulated, by_frequency_refused, gradient_of_rows
from tapegrad.sparse.matmul import sparse_addmm as addmm
from tapegrad.sparse.matmul import sparse_mm as mm
from tapegrad.sparse.reduction import log_softmax, softmax
from tapegrad.sparse.reduction import sparse_sum as sum
from tapegrad.sparse.tensor import declare_methods as _declare_methods
from tapegrad.sparse.types import TYPES

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "softmax", "sum"]

_declare_methods()
compressed.declare()
globals().update(TYPES)


def __getattr__(name: str) -> object:
    return getattr(_SPARSE_REFUSALS(), name)
