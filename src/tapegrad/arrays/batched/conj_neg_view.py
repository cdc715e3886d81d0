"""Conjugate and negative views of batched arrays: computed at once, in memory of their own."""

from tapegrad.arrays.batched.array import Batched
from tapegrad.arrays.batched.below import plain
from tapegrad.arrays.kernel import batching_rule
from tapegrad.core.annotations import Any, Array


@batching_rule
def conj_view(x: Array) -> Any:
    return x.conj() if type(x) is Batched else plain("conj_view")(x)


@batching_rule
def neg_view(x: Array) -> Any:
    return -x if type(x) is Batched else plain("neg_view")(x)
