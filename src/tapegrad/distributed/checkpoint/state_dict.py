"""States of models and optimisers under the names that parameters have without any wrapper."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from tapegrad.core.annotations import Any
from tapegrad.core.errors import runtime_error
from tapegrad.nn.modules.module import Module
from tapegrad.nn.state import IncompatibleKeys

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """What the states have; of one rank they are always full."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _wrapped(model: Module) -> Module:
    """The model inside `DistributedDataParallel`, `compile` and the like."""
    from tapegrad.nn.parallel.data_parallel import DataParallel
    from tapegrad.nn.parallel.distributed import DistributedDataParallel

    while True:
        if isinstance(model, (DataParallel, DistributedDataParallel)):
            model = model.module
        elif "_orig_mod" in model._modules:
            model = model._modules["_orig_mod"]
        else:
            return model


def _names(model: Module) -> dict[int, str]:
    return {id(p): name for name, p in _wrapped(model).named_parameters()}


def _taken(options: StateDictOptions | None) -> StateDictOptions:
    options = StateDictOptions() if options is None else options
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return options


def _moved(x: Any, options: StateDictOptions) -> Any:
    return x.cpu() if options.cpu_offload and hasattr(x, "cpu") else x


def get_model_state_dict(
    model: Module, *, submodules: set | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The `state_dict` of the model inside all wrappers.

    >>> from tapegrad.distributed.checkpoint.state_dict import get_model_state_dict
    >>> list(get_model_state_dict(tapegrad.nn.DataParallel(tapegrad.nn.Linear(2, 1))))
    ['weight', 'bias']
    """
    options = _taken(options)
    inner = _wrapped(model)
    state: dict[str, Any] = inner.state_dict()
    if options.ignore_frozen_params:
        for name, p in inner.named_parameters():
            if not p.requires_grad:
                state.pop(name, None)
    return OrderedDict((name, _moved(x, options)) for name, x in state.items())


def get_optimizer_state_dict(
    model: Module,
    optimizers: Any,
    *,
    submodules: set | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The `state_dict` of one or more optimisers, parameters by name instead of number."""
    options = _taken(options)
    names = _names(model)
    state: dict[str, Any] = {}
    param_groups = []
    for each in optimizers if isinstance(optimizers, Iterable) else (optimizers,):
        for group in each.param_groups:
            found = {key: value for key, value in group.items() if key != "params"}
            param_groups.append({**found, "params": [names[id(p)] for p in group["params"]]})
            for p in group["params"]:
                if p in each.state:
                    values = each.state[p].items()
                    state[names[id(p)]] = {key: _moved(x, options) for key, x in values}
    if not options.flatten_optimizer_state_dict:
        return {"state": state, "param_groups": param_groups}
    flat = {f"state.{p}.{key}": x for p, values in state.items() for key, x in values.items()}
    for group in param_groups:
        for p in group["params"]:
            for key, value in group.items():
                if key != "params":
                    flat[f"param_groups.{p}.{key}"] = value
    return flat


def get_state_dict(
    model: Module,
    optimizers: Any,
    *,
    submodules: set | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a model and of its optimisers."""
    return (
        get_model_state_dict(model, options=options),
        get_optimizer_state_dict(model, optimizers, options=options),
    )


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load what `get_model_state_dict` gave; names that are missing and unexpected."""
    options = _taken(options)
    if not model_state_dict and options.strict:
        raise runtime_error(
            "The option indicates that model state_dict is required to save or load, but model "
            "state_dict is empty.",
            "Pass strict=False where nothing is to be loaded.",
        )
    if not model_state_dict:
        return IncompatibleKeys([], [])
    return _wrapped(model).load_state_dict(model_state_dict, strict=options.strict)


def _unflattened(flat, optimizer, names):
    state: dict[str, dict] = {}
    groups = []
    for group in optimizer.param_groups:
        params = [names[id(p)] for p in group["params"]]
        for p in params:
            found = {key: x for key, x in flat.items() if key.startswith(f"state.{p}.")}
            if found:
                state[p] = {key.removeprefix(f"state.{p}."): x for key, x in found.items()}
        keys = [key for key in group if key != "params"]
        options = {key: flat[f"param_groups.{params[0]}.{key}"] for key in keys}
        groups.append({**options, "params": params})
    return {"state": state, "param_groups": groups}


def set_optimizer_state_dict(
    model: Module,
    optimizers: Any,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load what `get_optimizer_state_dict` gave."""
    _taken(options)
    names = _names(model)
    for each in optimizers if isinstance(optimizers, Iterable) else (optimizers,):
        given = optim_state_dict
        if "state" not in given:
            given = _unflattened(given, each, names)
        by_name = {p: group for group in given["param_groups"] for p in group["params"]}
        state, groups, n = {}, [], 0
        for group in each.param_groups:
            params = [names[id(p)] for p in group["params"]]
            missing = [p for p in params if p not in by_name]
            if missing:
                raise runtime_error(
                    f"Missing optimizer state for the parameters {missing}",
                    "It was saved from a model with other parameters.",
                )
            numbers = list(range(n, n + len(params)))
            n += len(params)
            state.update(
                {
                    i: given["state"][p]
                    for i, p in zip(numbers, params, strict=True)
                    if p in given["state"]
                }
            )
            groups.append({**by_name[params[0]], "params": numbers} if params else dict(group))
        each.load_state_dict({"state": state, "param_groups": groups})


def set_state_dict(
    model: Module,
    optimizers: Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load the states of a model and of its optimisers."""
    if optim_state_dict:
        set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
