"""All parameters as one vector, and back."""

from collections.abc import Iterable

from tapegrad.core.errors import type_error
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all `parameters`, one after another.

    >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(3, 2).parameters()).shape
    torch.Size([8])
    """
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let `parameters` take their elements, one after another, from `vec`, whose memory they share.

    >>> layer = torch.nn.Linear(2, 1)
    >>> torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight.detach(), layer.bias.detach()
    (tensor([[1., 2.]]), tensor([3.]))
    """
    if not isinstance(vec, Tensor):
        raise type_error(
            f"expected torch.Tensor, but got: {type(vec).__name__}",
            "Make a tensor of it with torch.as_tensor(...).",
        )
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = vec[start:stop].view_as(parameter).data
        start = stop
