"""Tensors of rows of several lengths filled up to one; no tensor here has such rows."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Shape, Tensor
from tapegrad.core.argument_check import require_tensors


@require_tensors
def to_padded_tensor(input: Tensor, padding: float, output_size: Shape | None = None) -> Any:
    """The rows of a nested tensor, filled up to the length of the longest.

    Raises: NotImplementedError, as for every tensor that is not nested.

    >>> torch.ones(3).to_padded_tensor(0.0)
    Traceback (most recent call last):
    NotImplementedError: Could not run 'aten::to_padded_tensor' with arguments...
    No tensor here is nested: torch.nn.utils.rnn.pad_sequence fills up a list of tensors.
    """
    raise errors.not_implemented(
        "Could not run 'aten::to_padded_tensor' with arguments from the 'CPU' backend. This could "
        "be because the operator doesn't exist for this backend, or was omitted during the "
        "selective/custom build process (if using custom build). If you are a Facebook employee "
        "using PyTorch on mobile, please visit https://fburl.com/ptmfixes for possible "
        "resolutions. 'aten::to_padded_tensor' is only available for nested tensors.",
        "No tensor here is nested: torch.nn.utils.rnn.pad_sequence fills up a list of tensors.",
    )


__all__: list[str] = []  # it is a method alone
