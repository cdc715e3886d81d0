"""`fully_shard`: the parameters of a module spread over ranks, gathered where it computes."""

from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.errors import advised, not_implemented, value_error
from tapegrad.distributed.device_mesh import DeviceMesh, init_device_mesh
from tapegrad.distributed.fsdp.api import MixedPrecisionPolicy, OffloadPolicy
from tapegrad.distributed.fsdp.param_group import ParamGroup, parameters_of
from tapegrad.distributed.fsdp.state import State, states_below
from tapegrad.distributed.groups import get_world_size
from tapegrad.nn.modules.container import ModuleDict, ModuleList
from tapegrad.nn.modules.module import Module


class UnshardHandle:
    """Parameters on their way; `wait` lets the module have them."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def wait(self) -> None:
        """Wait until the parameters are there."""
        self._group.gather()


class FSDPModule:
    """What `fully_shard` makes of a module: it has these methods besides its own."""

    _fsdp_state: State

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A plain module: a slice of a container is not spread itself."""
        plain: Any = cls.__mro__[2]
        made = plain.__new__(plain)
        made.__init__(*args, **kwargs)
        return made

    def __deepcopy__(self, memo: dict) -> Any:
        raise advised(
            AssertionError(
                "FSDP does not support deepcopy. Please use state dict for serialization."
            ),
            "Copy the module before fully_shard, or its state_dict().",
        )

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Gather the parameters of this module, or begin to; those below it stay as they are."""
        group = self._fsdp_state.group
        if async_op:
            group.begin_gathering()
            return UnshardHandle(group)
        group.gather()
        return None

    def reshard(self) -> None:
        """Let the gathered parameters of this module go."""
        self._fsdp_state.group.release()

    def _set(self, recurse: bool, change: Callable[[State], None]) -> None:
        states = states_below(self) if recurse else [self._fsdp_state]
        for state in states:
            change(state)

    def set_requires_gradient_sync(
        self, requires_gradient_sync: bool, *, recurse: bool = True
    ) -> None:
        """Whether backward passes reduce gradients; without, whole ones add up on each rank."""

        def change(state: State) -> None:
            state.group.syncs = state.group.all_reduces = requires_gradient_sync

        self._set(recurse, change)

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Whether gradients are reduced over the replicas of a mesh of two dimensions, too."""
        self._set(recurse, lambda s: setattr(s.group, "all_reduces", requires_all_reduce))

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Whether the next backward pass waits for its reductions; a later one does otherwise."""
        self._set(True, lambda s: setattr(s, "is_last_backward", is_last_backward))

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether the parameters are let go after the forward pass."""
        self._set(recurse, lambda s: setattr(s, "reshards_after_forward", reshard_after_forward))

    def set_reshard_after_backward(
        self, reshard_after_backward: bool, *, recurse: bool = True
    ) -> None:
        """Whether the parameters are let go after the backward pass."""
        self._set(recurse, lambda s: setattr(s, "reshards_after_backward", reshard_after_backward))

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Whether the backward pass gathers this module's parameters; it may need none of them."""
        self._fsdp_state.gathers_in_backward = unshard_in_backward

    def set_modules_to_forward_prefetch(self, modules: Sequence["FSDPModule"]) -> None:
        """The modules whose parameters are on their way while this one's forward computes."""
        self._fsdp_state.forward_prefetch = [_state_of(m) for m in modules]

    def set_modules_to_backward_prefetch(self, modules: Sequence["FSDPModule"]) -> None:
        """The modules whose parameters are on their way while this one's backward computes."""
        self._fsdp_state.backward_prefetch = [_state_of(m) for m in modules]

    def set_gradient_divide_factor(self, factor: float) -> None:
        """What the sum of the ranks' gradients is divided by, in place of their number."""
        self._set(True, lambda s: setattr(s.group, "factor", factor))

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_post_optim_event(self, event: Any) -> None:
        """Nothing: there are no streams whose order an event could say."""

    def set_custom_all_gather(self, comm: Any) -> None:
        """Raises: collectives are those of the group."""
        raise not_implemented("tapegrad has no set_custom_all_gather", "Leave it away.")

    def set_custom_reduce_scatter(self, comm: Any) -> None:
        """Raises: collectives are those of the group."""
        raise not_implemented("tapegrad has no set_custom_reduce_scatter", "Leave it away.")

    def _get_fsdp_state(self) -> State:
        return self._fsdp_state

    def _set_unshard_async_op(self, async_op: bool) -> None:
        """Nothing: what is prefetched is always under way by itself."""

    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """`Module.load_state_dict` of parts."""
        for state in states_below(self):
            state.group.release()
        return super().load_state_dict(*args, **kwargs)  # type: ignore[misc]

    def _apply(self, *args: Any, **kwargs: Any) -> Any:
        self.reshard()
        return super()._apply(*args, **kwargs)  # type: ignore[misc]


def _state_of(module: Any) -> State:
    if not isinstance(module, FSDPModule):
        raise value_error(
            f"Expected FSDPModule but got {type(module)}", "Call fully_shard(module) before."
        )
    return module._fsdp_state


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable | None = None,
    mp_policy: MixedPrecisionPolicy | None = None,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: set | None = None,
) -> Any:
    """Spread the parameters of a module over ranks; each becomes a `DTensor` cut by rows.

    Before the module computes, and before its backward pass, they are gathered, and let go after;
    gradients are averaged and each rank keeps those of its rows. Parameters, gradients and the
    state of an optimiser made afterwards take one rank's part of the memory. Apply it to the layers
    of a model first, then to the model: what is gathered at once is one layer.

    Args:
        module: The module, or a list of those whose parameters are gathered when the first of them
            computes and let go after the last; modules below that are spread already keep theirs.
        mesh: The ranks; of two dimensions, copies along the first. All ranks if None.
        reshard_after_forward: Let the parameters go after the forward pass. None: all but the root.
            A number, of ranks that keep them together: 1 is False, and all of them True.
        mp_policy: Dtypes of the gathered parameters, of reductions and of outputs.
        offload_policy: Where parts wait: on the CPU, where they are.
        ignored_params: Parameters that stay as they are.

    Returns: what was given; the modules are each an `FSDPModule` now as well.

    Raises:
        ValueError: No module, a container without forward, or a parameter without dimensions.
        NotImplementedError: Parameters cut along another dimension than their rows, or kept by some
            of the ranks.

    >>> import tapegrad.distributed as dist
    >>> from tapegrad.distributed.fsdp import fully_shard
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = fully_shard(torch.nn.Linear(2, 1))
    >>> model(torch.ones(3, 2)).sum().backward()
    >>> type(model).__name__, model.weight.placements, model.weight.grad.full_tensor()
    ('FSDPLinear', (Shard(dim=0),), tensor([[3., 3.]]))
    >>> dist.destroy_process_group()
    """
    given: Any = module
    modules = _roots(list(given) if isinstance(given, (list, tuple)) else [given])
    mesh = init_device_mesh("cpu", (get_world_size(),)) if mesh is None else mesh
    if mesh.ndim not in (1, 2):
        raise value_error(
            f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}", "Take a part: mesh[names]."
        )
    if type(reshard_after_forward) is int:
        reshard_after_forward = _reshards(reshard_after_forward, mesh.size(mesh.ndim - 1))
    policy = MixedPrecisionPolicy() if mp_policy is None else mp_policy
    parameters = parameters_of(_own_modules(modules), ignored_params or set())
    group = ParamGroup(parameters, mesh, policy, shard_placement_fn)
    for each in modules:
        kind: Any = type(each)
        each.__class__ = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {})
    state = State(modules, group, policy, reshard_after_forward)
    for each in modules:
        each._fsdp_state = state
        each.register_state_dict_pre_hook(lambda *_: group.release())
        each.register_load_state_dict_pre_hook(lambda *_: group.release())
    return given


def _reshards(n: int, size: int) -> bool:
    """Whether parameters that are kept by groups of `n` ranks after the forward pass are let go."""
    if n < 1 or size % n:
        raise value_error(
            f"If passing reshard_after_forward as an int, it should be a factor of {size}, not {n}",
            "Give True or False.",
        )
    if 1 < n < size:
        raise not_implemented(
            "tapegrad has no reshard_after_forward to a smaller world", "Give True or False."
        )
    return n > 1


def _check(module: Any) -> None:
    if isinstance(module, (ModuleList, ModuleDict)):
        raise value_error(
            f"fully_shard does not support containers that do not implement forward: {module}",
            "Call it for what they hold.",
        )
    if not isinstance(module, Module):
        raise value_error(f"Expected a Module but got {type(module)}", "Give a module.")
    if isinstance(module, FSDPModule):
        raise advised(
            AssertionError(
                "Each distinct composable distributed API can only be applied to a module once. "
                f"fully_shard has already been applied to the following module:\n{module}"
            ),
            "Apply it once.",
        )


def _roots(modules: Sequence[Any]) -> list[Any]:
    """The modules that are in none of the others."""
    if not modules:
        raise value_error("fully_shard was given no module", "Give at least one.")
    for each in modules:
        _check(each)
    below = {id(x) for m in modules for x in m.modules() if x is not m}
    return [m for m in modules if id(m) not in below]


def _own_modules(modules: Sequence[Any]) -> list[tuple[str, Any]]:
    """The modules and those below them, by name, up to those that are spread by themselves."""
    several = len(modules) > 1
    found = [(str(i) if several else "", each) for i, each in enumerate(modules)]
    waiting = list(found)
    while waiting:
        prefix, each = waiting.pop(0)
        for name, child in each._modules.items():
            if child is not None and not isinstance(child, FSDPModule):
                at = f"{prefix}.{name}" if prefix else name, child
                if all(child is not known for _, known in found):
                    found.append(at)
                    waiting.append(at)
    return found


def register_fsdp_forward_method(module: Any, method_name: str) -> None:
    """Have a method of a spread module gather its parameters as `forward` does."""
    if not isinstance(module, FSDPModule):
        return
    method = getattr(module, method_name)
    state = _state_of(module)

    def gathered(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = state._before_forward(module, args, kwargs)
        return state._after_forward(module, args, method(*args, **kwargs))

    setattr(module, method_name, gathered)
