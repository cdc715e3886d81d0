"""Loading a state: single tensors, and the way back when something does not fit."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.nn.parameter import Parameter
from tapegrad.nn.uninitialized import is_lazy
from tapegrad.tensors.tensor import Tensor


def load_tensor(
    module: Any, name: str, key: str, tensor: Any, value: Any, assign: bool
) -> str | None:
    """Copy `value` into `tensor`, or put it in its place; returns what is wrong with it."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    if is_lazy(tensor) and is_lazy(value):
        return None  # both wait for their first input
    if tensor.ndim == 0 and value.shape == (1,):
        value = value[0]  # scalars used to be saved with one dimension
    if value.shape != tensor.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    if not assign:
        with no_grad():
            tensor.copy_(value)
    elif name in module._parameters:
        if not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=tensor.requires_grad)
        module._parameters[name] = value.requires_grad_(tensor.requires_grad)
    else:
        module._buffers[name] = value
    return None


def snapshot(module: Any) -> list:
    """Every table of the modules from here on, and a copy of the elements of what is in them."""
    tables = [t for m in module.modules() for t in (m._parameters, m._buffers)]
    tensors = {id(t): t for table in tables for t in table.values() if t is not None}.values()
    return [
        [(table, dict(table)) for table in tables],
        [(t, t.detach().clone()) for t in tensors if not is_lazy(t)],
    ]


def restore(snapshot: list) -> None:
    tables, tensors = snapshot
    for table, content in tables:
        table.clear()
        table.update(content)
    with no_grad():
        for tensor, saved in tensors:
            tensor.copy_(saved)
