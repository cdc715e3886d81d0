"""States of models and optimisers under the names that parameters have without any wrapper.

Those of a model that `fully_shard` has spread are spread as well; with `full_state_dict` they are
gathered, one tensor after another, and cut again where they are loaded.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tapegrad.core.annotations import Any
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.errors import runtime_error
from tapegrad.distributed.collectives import broadcast
from tapegrad.distributed.groups import get_rank, get_world_size, is_initialized
from tapegrad.distributed.object_collectives import broadcast_object_list
from tapegrad.distributed.tensor import DTensor, distribute_tensor
from tapegrad.nn.modules.module import Module
from tapegrad.nn.state import IncompatibleKeys
from tapegrad.operators.creation.like import zeros_like
from tapegrad.tensors.tensor import Tensor

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
    """What the states have.

    Args:
        full_state_dict: Whole tensors instead of the parts of a rank.
        cpu_offload: On the CPU; with `full_state_dict` on rank 0 alone, the others have nothing.
        broadcast_from_rank0: Load what rank 0 is given, with `full_state_dict`.
    """

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


def _rank() -> int:
    return get_rank() if is_initialized() else 0


def _handed_out(tree: Any, options: StateDictOptions) -> Any:
    """A tree of states as the options say; every rank gathers, whoever keeps what it gets."""
    is_away = options.full_state_dict and options.cpu_offload and _rank() > 0

    def one(x: Any) -> Any:
        if options.full_state_dict and isinstance(x, DTensor):
            x = x.full_tensor()
        return x.cpu() if options.cpu_offload and isinstance(x, Tensor) and not is_away else x

    found = _mapped(tree, one)
    return type(tree)() if is_away else found


def _mapped(tree: Any, one: Callable[[Any], Any]) -> Any:
    if isinstance(tree, dict):
        return type(tree)((key, _mapped(x, one)) for key, x in tree.items())
    if isinstance(tree, (list, tuple)):
        return type(tree)(_mapped(x, one) for x in tree)
    return one(tree)


class _Sent:
    """A tensor of rank 0 that the other ranks are about to receive."""

    def __init__(self, x: Tensor) -> None:
        self.shape, self.dtype = tuple(x.shape), str(x.dtype).removeprefix("torch.")


def _received(tree: Any, options: StateDictOptions) -> Iterator[tuple[Any, Any]]:
    """Key and value of a dict of whole tensors and dicts of them, each rank 0's if that is asked.

    Tensors come one by one: whoever takes them may cut each before the next one comes.
    """
    if not options.broadcast_from_rank0 or not is_initialized() or get_world_size() == 1:
        yield from tree.items()
        return
    from tapegrad import empty

    plan: list[Any] = [None]
    if _rank() == 0:
        plan[0] = _mapped(list(tree.items()), lambda x: _Sent(x) if isinstance(x, Tensor) else x)
    broadcast_object_list(plan, src=0)
    for key, shown in plan[0]:
        given = iter(_leaves(tree[key])) if _rank() == 0 else None

        def receive(x: Any, given: Any = given) -> Any:
            own = None if given is None else next(given)
            if not isinstance(x, _Sent):
                return x
            if own is None:
                own = empty(x.shape, dtype=BY_NAME[x.dtype])
            own = own.detach().contiguous()
            broadcast(own, src=0)
            return own

        yield key, _mapped(shown, receive)


def _leaves(tree: Any) -> list:
    found: list = []
    _mapped(tree, found.append)
    return found


def _cut_like(p: Any, x: Any) -> Any:
    """A whole tensor of a parameter's shape, cut as the parameter is."""
    if not isinstance(p, DTensor) or not isinstance(x, Tensor) or isinstance(x, DTensor):
        return x
    if x.dim() == 0 or x.shape != p.shape:
        return x
    return distribute_tensor(x.detach(), p.device_mesh, p.placements, src_data_rank=None)


def _init_optim_state(optimizer: Any) -> None:
    """Let an optimiser make its state by a step that changes no parameter."""
    if optimizer.state:
        return
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for p in parameters:
        if p.grad is not None:
            raise runtime_error(
                "state_dict can only be used if the optimizer states are initialized (usually "
                "after one step() with gradients) or gradients are None. For the later case, "
                "state_dict will fake the gradients as zero to initialize the optimizer states. "
                "However, the gradients are not None.",
                "Call optimizer.zero_grad() before.",
            )
    rates = [group["lr"] for group in optimizer.param_groups]
    for p in parameters:
        if p.requires_grad:
            p.grad = zeros_like(p)
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


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
    return _handed_out(OrderedDict(state), options)


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
                    state[names[id(p)]] = dict(each.state[p])
    state = _handed_out(state, options)
    if options.full_state_dict and options.cpu_offload and _rank() > 0:
        return {}
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
    receives = options.broadcast_from_rank0 and _rank() > 0
    if not model_state_dict and options.strict and not receives:
        raise runtime_error(
            "The option indicates that model state_dict is required to save or load, but model "
            "state_dict is empty.",
            "Pass strict=False where nothing is to be loaded.",
        )
    if not model_state_dict and not receives:
        return IncompatibleKeys([], [])
    inner = _wrapped(model)
    current = inner.state_dict()
    if options.full_state_dict:
        pairs = _received(model_state_dict, options)
        model_state_dict = {name: _cut_like(current.get(name), x) for name, x in pairs}
    assign = any(x.is_meta for x in current.values() if isinstance(x, Tensor))
    return inner.load_state_dict(model_state_dict, strict=options.strict, assign=assign)


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


def _cut_states(given: dict, options: StateDictOptions, model: Module) -> dict:
    """Whole states of an optimiser, cut as the parameters of a model are."""
    parameters = dict(model.named_parameters())
    if _rank() == 0 or not options.broadcast_from_rank0:
        if "state" in given:
            entries = {f"state.{p}": values for p, values in given["state"].items()}
            given = {**entries, "param_groups": given["param_groups"]}
    found: dict[str, Any] = {}
    for key, x in _received(given, options):
        kind, _, rest = key.partition(".")
        if kind == "param_groups" or rest not in parameters:
            p = next((n for n in parameters if rest.startswith(f"{n}.")), None)
            found[key] = x if p is None else _cut_like(parameters[p], x)
        else:
            values = {name: _cut_like(parameters[rest], y) for name, y in x.items()}
            found.setdefault("state", {})[rest] = values
    if "param_groups" in found:
        found.setdefault("state", {})
    return found


def set_optimizer_state_dict(
    model: Module,
    optimizers: Any,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load what `get_optimizer_state_dict` gave."""
    options = _taken(options)
    names = _names(model)
    if options.full_state_dict:
        optim_state_dict = _cut_states(optim_state_dict, options, _wrapped(model))
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
