"""The mean of parameters over ranks."""

from collections.abc import Iterable

from tapegrad.core.annotations import Any
from tapegrad.distributed.collectives import all_reduce
from tapegrad.distributed.groups import _rank_not_in_group, _resolved

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params: Iterable, process_group: Any) -> None:
    """Give parameters their mean over a group, which is sent in one piece."""
    from tapegrad import cat

    if _rank_not_in_group(process_group):
        return
    group, params = _resolved(process_group), list(params)
    flat = cat([p.data.reshape(-1) for p in params]).div_(group.size())
    all_reduce(flat, group=group)
    for p, part in zip(params, flat.split([p.numel() for p in params]), strict=True):
        p.data = part.view(p.shape).to(p.dtype)


def get_params_to_average(params: Iterable) -> list:
    """Of parameters, or of an optimiser's groups, those that have gradients."""
    from tapegrad.nn.parameter import Parameter

    found: list = []
    for each in params:
        if not isinstance(each, (Parameter, dict)):
            raise NotImplementedError(f"Parameter input of type {type(each)} is not supported")
        found += each["params"] if isinstance(each, dict) else [each]
    return [p for p in found if p.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable, process_group: Any) -> None:
    """`average_parameters` of those that have gradients."""
    average_parameters(get_params_to_average(params), process_group)
