"""Pruning: parameters of which a mask sets elements or whole slices to zero."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapegrad.core.errors import type_error, value_error
from tapegrad.nn.utils.pruning_choice import (
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    RandomStructured,
    RandomUnstructured,
)
from tapegrad.nn.utils.pruning_method import BasePruningMethod, PruningContainer, _prunes
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


def identity(module: Any, name: str) -> Any:
    """Put a mask on the parameter `name` that prunes nothing; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> list(prune.identity(torch.nn.Linear(2, 1), "bias").state_dict())
    ['weight', 'bias_orig', 'bias_mask']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: int | float) -> Any:
    """Prune `amount` elements of a parameter at random; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.random_unstructured(torch.nn.Linear(2, 2), "weight", 1).weight_mask.sum()
    tensor(3.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Any, name: str, amount: int | float, importance_scores: Tensor | None = None
) -> Any:
    """Prune the `amount` elements with the smallest absolute values, or scores.

    >>> from tapegrad.nn.utils import prune
    >>> prune.l1_unstructured(torch.nn.Linear(2, 2), "weight", 0.5).weight_mask.sum()
    tensor(2.)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: int | float, dim: int) -> Any:
    """Prune `amount` slices along `dim` at random; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.random_structured(torch.nn.Linear(2, 2), "weight", 1, dim=0).weight_mask.sum()
    tensor(2.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any,
    name: str,
    amount: int | float,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Any:
    """Prune the `amount` slices along `dim` with the smallest n-norms; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.ln_structured(torch.nn.Linear(2, 2), "weight", 1, n=2, dim=0).weight_mask.sum()
    tensor(2.)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune a parameter where `mask` is zero; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> prune.custom_from_mask(torch.nn.Linear(2, 1), "bias", torch.tensor([0])).bias_mask
    tensor([0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters, pairs (module, name), as if they were one.

    >>> from tapegrad.nn.utils import prune
    >>> layer = torch.nn.Linear(2, 2)
    >>> both = [(layer, "weight"), (layer, "bias")]
    >>> prune.global_unstructured(both, prune.L1Unstructured, amount=4)
    >>> layer.weight_mask.sum() + layer.bias_mask.sum()
    tensor(2.)
    """
    if not isinstance(parameters, Iterable):
        raise type_error(
            "global_unstructured(): parameters is not an Iterable",
            "Pass a list of pairs (module, name).",
        )
    pairs = list(parameters)
    given = {} if importance_scores is None else importance_scores
    scores = [given.get((m, name), getattr(m, name)).detach().reshape(-1) for m, name in pairs]
    masks = [_mask_of(m, name).reshape(-1) for m, name in pairs]
    first = pruning_method(**kwargs)
    if first.PRUNING_TYPE != "unstructured":
        raise type_error(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {first.PRUNING_TYPE}",
            "Slices of different tensors are not comparable.",
        )
    first._tensor_name = "temp"
    container = PruningContainer(first)
    final = container.compute_mask(cat(scores), cat(masks))
    start = 0
    for module, name in pairs:
        like = getattr(module, name)
        mask = final[start : start + like.numel()].view(like.shape)
        custom_from_mask(module, name, mask)
        start += like.numel()


def _mask_of(module: Any, name: str) -> Tensor:
    mask = getattr(module, f"{name}_mask", None)
    weight = getattr(module, name).detach()
    return weight.new_ones(weight.shape) if mask is None else mask


def remove(module: Any, name: str) -> Any:
    """Make the pruned parameter an ordinary one, its zeros kept; returns the module.

    >>> from tapegrad.nn.utils import prune
    >>> layer = prune.identity(torch.nn.Linear(2, 1), "weight")
    >>> list(prune.remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if _prunes(hook, name):
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise value_error(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed",
        "is_pruned(module) says whether something in it is.",
    )


def is_pruned(module: Any) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned.

    >>> from tapegrad.nn.utils import prune
    >>> prune.is_pruned(torch.nn.Linear(2, 1))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )
