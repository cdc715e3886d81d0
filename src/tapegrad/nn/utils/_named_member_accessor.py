"""Tensors of a module exchanged by name."""

from typing import Any

from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase
from tapegrad.nn.modules.module import Module

_MISSING = object()


def swap_tensor(module: Module, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of a parameter, buffer or attribute, which is returned.

    Nothing is registered or checked against what was there. With `allow_missing` a name that is not
    there gives a mark, with which another call takes the tensor away again.

    Raises: TypeError for what is no module or no tensor; KeyError for a name that is empty or has a
    point; AttributeError for a name that is not there.

    >>> from tapegrad.nn.utils._named_member_accessor import swap_tensor
    >>> layer = torch.nn.Linear(1, 1)
    >>> weight = swap_tensor(layer, "weight", torch.zeros(1, 1))
    >>> layer.weight, swap_tensor(layer, "weight", weight)
    (tensor([[0.]]), tensor([[0.]]))
    """
    if not isinstance(module, Module):
        raise errors.type_error(f"{module} is not an instance of torch.nn.Module", "Pass a module.")
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, TensorBase):
        raise errors.type_error(f"{tensor} is not an instance of torch.Tensor", "Pass a tensor.")
    if not name or "." in name:
        what = 'can\'t be empty string ""' if not name else 'can\'t contain "."'
        raise errors.advised(KeyError(f"tensor name {what}"), "Pass the child that has it.")
    places: tuple[Any, ...] = (module._parameters, module._buffers, module.__dict__)
    for place in places:
        if name in place:
            break
    else:
        if not allow_missing:
            kind = type(module).__name__
            raise errors.advised(
                AttributeError(f"{kind} has no attribute `{name}`"), "Or pass allow_missing=True."
            )
    before: Any = place.get(name, _MISSING)
    if before is not None and before is not _MISSING and not isinstance(before, TensorBase):
        raise errors.type_error(
            f"attribute `{name}`: {before} is not an instance of torch.Tensor",
            "It is an ordinary attribute: set it.",
        )
    if tensor is _MISSING:
        place.pop(name, None)
    else:
        place[name] = tensor
    return before
