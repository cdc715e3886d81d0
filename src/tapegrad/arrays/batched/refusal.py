"""What a batched array refuses: its values differ from member to member."""

from __future__ import annotations

from tapegrad import errors


def no_storage() -> RuntimeError:
    """Asked for memory, where there is that of all members."""
    return errors.advised(
        RuntimeError("Cannot access data pointer of Tensor that doesn't have storage"),
        "Inside vmap a tensor stands for each member of a batch: its values are not at hand.",
    )


def no_item() -> RuntimeError:
    """Asked for one number."""
    return errors.advised(
        RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap "
            "over calling .item() on a Tensor, please try to rewrite what you're doing with "
            "other operations. If error is occurring somewhere inside PyTorch internals, "
            "please file a bug report."
        ),
        "Each member of the batch has its own number: keep it a tensor.",
    )


def no_branch() -> RuntimeError:
    """Asked to decide which line runs."""
    return errors.advised(
        RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
            "control flow. We don't support that yet, please file an issue at "
            "https://github.com/pytorch/pytorch/issues ."
        ),
        "All members of the batch take one path: choose between values with torch.where.",
    )


def inplace_error() -> RuntimeError:
    """A tensor from outside was to take other values for each member."""
    return errors.advised(
        RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            "Tensor `other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap. Please try to "
            "use out-of-place operators instead of inplace arithmetic. If said operator is being "
            "called inside the PyTorch framework, please file a bug report instead."
        ),
        "Make the tensor that is written from one that is mapped: torch.zeros_like(x), "
        "x.new_zeros(...).",
    )
