"""Refusals of batched arrays, whose values differ from sample to sample."""

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Array, LevelLike

OPERATORS: list[str] = []  # whose calls are being computed, the innermost last


def no_storage() -> RuntimeError:
    """Asked for memory, where there is that of all samples."""
    text = "Cannot access data pointer of Tensor that doesn't have storage"
    advice = "Inside vmap a tensor stands for each sample of a batch: its values are not at hand."
    return errors.runtime_error(text, advice)


def no_memory() -> NotImplementedError:
    """Asked for the memory itself, to copy, save or share it."""
    advice = "Inside vmap a tensor stands for each sample of a batch: clone() it."
    return errors.not_implemented("Cannot access storage of BatchedTensorImpl", advice)


def no_item() -> RuntimeError:
    """Asked for one number."""
    return errors.runtime_error(
        "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap "
        "over calling .item() on a Tensor, please try to rewrite what you're doing with "
        "other operations. If error is occurring somewhere inside PyTorch internals, "
        "please file a bug report.",
        "Each sample of the batch has its own number: keep it a tensor.",
    )


def no_branch() -> RuntimeError:
    """Asked to decide which line runs."""
    return errors.runtime_error(
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
        "control flow. We don't support that yet, please file an issue at "
        "https://github.com/pytorch/pytorch/issues .",
        "All samples of the batch take one path: choose between values with torch.where.",
    )


_ARITHMETIC = (
    "",
    "copy_",
    "div_",
    "logical_and_",
    "logical_or_",
    "logical_xor_",
    "masked_fill_",
    "mul_",
    "sub_",
    "subtract_",
    "multiply_",
    "divide_",
    "true_divide_",
)
_NAMED = ("fill_", "index_add_", "index_fill_", "index_put_", "scatter_add_", "scatter_reduce_")


_BROADCAST = ("add_", "arctan2_", "atan2_", "copysign_")


def inplace_error(name: str, level: LevelLike, target: Array, source: Array) -> RuntimeError:
    """A tensor from outside was to take other values for each member, by the function `name`."""
    advice = (
        "Inside vmap it is the same for each sample: make the tensor that is written from one that "
        "is mapped, by torch.zeros_like(x) or x.new_zeros(...)."
    )
    if name in _BROADCAST:
        wide = [level.size, *np.broadcast_shapes(target.shape, source.shape)]
        text = f"output with shape {list(target.shape)} doesn't match the broadcast shape {wide}"
        return errors.runtime_error(text, advice)
    if name in _ARITHMETIC or name in _NAMED or name == "bernoulli_":
        what = "inplace arithmetic" if name in _ARITHMETIC else name
        what, where = "inplace bernoulli" if name == "bernoulli_" else what, "in a vmap"
    else:
        what, where = f"aten::{name}", f"at level {level.depth}"
    return errors.runtime_error(
        f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor "
        "`other` in extra_args that has more elements than `self`. This happened due to "
        f"`other` being vmapped over but `self` not being vmapped over {where}. Please try to "
        f"use out-of-place operators instead of {what}. If said operator is being called "
        "inside the PyTorch framework, please file a bug report instead.",
        advice,
    )


def dynamic_shape(name: str = "") -> RuntimeError:
    """The error for a result whose shape differs between samples."""
    name = name or (OPERATORS[-1] if OPERATORS else "this operator")
    return errors.runtime_error(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted "
        f"to vmap over aten::{name}. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature.",
        "Results of all samples have one shape: keep all elements, and multiply by the mask.",
    )
