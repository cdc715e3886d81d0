"""What happens around the passes of a module that `fully_shard` has spread.

before forward     gather its parameters
after forward      let them go, unless they stay
before backward    gather them again: a gradient has reached an output
after backward     reduce their gradients and let them go: the inputs have theirs, or the pass
                   has ended
"""

from tapegrad.autograd import Function
from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.autograd.execution_engine import ENGINE
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.errors import runtime_error
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_flatten, tree_map, tree_unflatten


class State:
    """Modules that are spread together: their group of parameters, and where they are in a step."""

    def __init__(
        self, modules: Sequence[Any], group: Any, policy: Any, reshards: bool | int | None
    ) -> None:
        self.modules, self.group, self.policy = modules, group, policy
        self.root: State | None = None
        self.states: list[State] = []  # of a root: all below it and itself
        self.reshards_after_forward = reshards
        self.reshards_after_backward = True
        self.gathers_in_backward = True
        self.forward_prefetch: list[State] = []
        self.backward_prefetch: list[State] = []
        self.is_last_backward = True
        self._in_backward = self._queued = False
        self._to_run: set[int] = set()  # the modules that have not run in this forward pass yet
        for module in modules:
            module.register_forward_pre_hook(self._before_forward, prepend=True, with_kwargs=True)
            module.register_forward_hook(self._after_forward)

    def _find_root(self) -> None:
        """The modules that are called first are the root; those below them belong to it."""
        if self.root is not None:
            return
        self.states = states_below(*self.modules)
        for state in self.states:
            if state.root is not None and state.root is not state:
                raise runtime_error(
                    f"FSDP state has already been lazily initialized for {type(state.modules[0])}",
                    "Call the whole model first: it is the root.",
                )
            state.root = self
            if state.reshards_after_forward is None:
                state.reshards_after_forward = state is not self

    # --- forward ----------------------------------------------------------------------------------

    def _before_forward(self, module: Any, args: tuple, kwargs: dict) -> tuple:
        self._find_root()
        if self.root is self and BACKWARD_PASS.get() is None:
            self._queued = False  # also where the pass before was broken off
            for state in self.states:
                state._in_backward = False
                if state is not self:
                    state._to_run.clear()
        if self._in_backward and self.group.is_gathered:  # a checkpoint computes again
            return args, kwargs
        if self.policy.param_dtype is not None and self.policy.cast_forward_inputs:
            args, kwargs = cast((args, kwargs), self.policy.param_dtype)
        is_first = len(self.modules) == 1 or id(module) not in self._to_run
        if is_first:
            self._to_run = set(map(id, self.modules))
        self.group.gather()
        for state in self.forward_prefetch:
            state.group.begin_gathering()
        return self._watched(args, kwargs) if is_first else (args, kwargs)

    def _watched(self, args: tuple, kwargs: dict) -> tuple:
        """The arguments, put behind a node whose backward pass comes after the module's."""
        if not is_grad_enabled():
            return args, kwargs
        flat, spec = tree_flatten((args, kwargs))
        places = [i for i, x in enumerate(flat) if isinstance(x, Tensor) and x.requires_grad]
        if not places:
            return args, kwargs
        found = _AfterBackward.apply(self, *[flat[i] for i in places])
        for i, x in zip(places, found, strict=True):
            flat[i] = x
        return tree_unflatten(flat, spec)

    def _after_forward(self, module: Any, args: tuple, output: Any) -> Any:
        self._to_run.discard(id(module))
        if self.reshards_after_forward and not self._in_backward and not self._to_run:
            self.group.release()
        if is_grad_enabled():
            for x in tree_flatten(output)[0]:
                if isinstance(x, Tensor) and x.requires_grad:
                    x.register_hook(self._before_backward)
        if self.policy.output_dtype is not None:
            output = cast(output, self.policy.output_dtype)
        return output

    # --- backward ---------------------------------------------------------------------------------

    def _before_backward(self, g: Any) -> None:
        root = self.root or self
        if not root._queued:
            root._queued = True
            ENGINE.queue_callback(root._end_backward)
        self._in_backward = True
        if self.gathers_in_backward:
            self.group.gather()
        for state in self.backward_prefetch:
            state.group.begin_gathering()

    def after_backward(self) -> None:
        """Reduce the gradients, and let the parameters go."""
        self._in_backward = False
        group = self.group
        if group.syncs and group.has_gradients():
            for state in (self.root or self).states:  # at most those of one module are under way
                state.group.finish_reducing()
            group.reduce()
        if self.reshards_after_backward:
            group.release()

    def _end_backward(self) -> None:
        self._queued = False
        for state in self.states:
            if state._in_backward or (state.group.syncs and state.group.has_gradients()):
                state.after_backward()
        if self.is_last_backward:
            for state in self.states:
                state.group.finish_reducing()


class _AfterBackward(Function):
    @staticmethod
    def forward(ctx: Any, state: State, *tensors: Any) -> Any:
        ctx.state = state
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple:
        ctx.state.after_backward()
        return (None, *grads)


def states_below(*modules: Any) -> list[State]:
    """The states of modules and of all below them, each once."""
    found = [getattr(x, "_fsdp_state", None) for module in modules for x in module.modules()]
    return [state for state in dict.fromkeys(found) if state is not None]


def cast(tree: Any, dtype: Any) -> Any:
    """A structure with its floating-point tensors in another dtype."""

    def one(x: Any) -> Any:
        return x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() else x

    return tree_map(one, tree)
