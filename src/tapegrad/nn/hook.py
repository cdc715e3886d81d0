"""Hooks of a module: functions that see what goes in and out, forward and backward."""

import weakref
from collections import OrderedDict
from typing import TypeVar

import numpy as np

from tapegrad.arrays.signature import Like
from tapegrad.autograd.function import Function
from tapegrad.autograd.hooks import RemovableHandle
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core.annotations import Any, Callable, ModuleLike, NodeLike, Sequence
from tapegrad.core.changes import CHANGES
from tapegrad.core.errors import deprecated, runtime_error, warn
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor

_Result = TypeVar("_Result")


def register(hooks: dict, hook: Callable, *marks: dict, prepend: bool = False) -> RemovableHandle:
    """Add `hook` to the table `hooks`, and its number to each of `marks`; returns its handle."""
    CHANGES[0] += 1
    handle = RemovableHandle(hooks)
    handle.extra_dict_ref = tuple(weakref.ref(mark) for mark in marks)  # type: ignore[assignment]
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)  # type: ignore[attr-defined]
    return handle


class _After:
    """The hooks after every module's forward, under the names that a module has for its own."""

    def __init__(self) -> None:
        self._forward_hooks: Any = OrderedDict()
        self._forward_hooks_with_kwargs: Any = OrderedDict()
        self._forward_hooks_always_called: Any = OrderedDict()


class _Backward:
    """The backward hooks of every module; they are of one kind, full or not."""

    def __init__(self) -> None:
        self.hooks: Any = OrderedDict()
        self.pre: Any = OrderedDict()
        self.is_full: bool | None = None  # not known before the first one


# The hooks of all modules: nn/modules/module.py.
BEFORE: Any = OrderedDict()
AFTER = _After()
BACKWARD = _Backward()


class Hooks:
    """What a `Module` does to take hooks."""

    _forward_hooks: Any
    _forward_hooks_with_kwargs: Any
    _forward_hooks_always_called: Any
    _forward_pre_hooks: Any
    _forward_pre_hooks_with_kwargs: Any
    _backward_hooks: Any
    _backward_pre_hooks: Any
    _is_full_backward_hook: bool | None

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Have `hook(module, args)` called before each forward; what it returns are new arguments.

        With `with_kwargs`, `hook(module, args, kwargs)` returns None or a pair of both.

        >>> m = torch.nn.Identity()
        >>> handle = m.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        >>> m(torch.ones(1))
        tensor([2.])
        >>> handle.remove()
        """
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return register(self._forward_pre_hooks, hook, *marks, prepend=prepend)

    def register_forward_hook(
        self,
        hook: Callable,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Have `hook(module, args, output)` called after each forward; it may return a new output.

        With `with_kwargs`, it is `hook(module, args, kwargs, output)`; with `always_call`, it is
        called even if the forward fails.

        >>> m = torch.nn.ReLU()
        >>> handle = m.register_forward_hook(lambda module, args, output: print(output.shape))
        >>> _ = m(torch.ones(2, 3))
        torch.Size([2, 3])
        >>> handle.remove()
        """
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return register(self._forward_hooks, hook, *marks, prepend=prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Have `hook(module, grad_output)` called before the gradients pass through the module.

        It may return new gradients of the outputs.
        """
        return register(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Have `hook(module, grad_input, grad_output)` called when both gradients are known.

        It may return new gradients of the inputs.

        >>> m = torch.nn.Tanh()
        >>> handle = m.register_full_backward_hook(lambda module, gi, go: print(gi, go))
        >>> m(torch.zeros(1, requires_grad=True)).backward(torch.tensor([3.0]))
        (tensor([3.]),) (tensor([3.]),)
        """
        self._check_kind(full=True)
        return register(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(module, grad_input, grad_output)` called by the node that made the output.

        `grad_input` is what that one node gives, whatever it is: prefer
        `register_full_backward_hook`.
        """
        self._check_kind(full=False)
        return register(self._backward_hooks, hook)

    def _check_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise runtime_error(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them.",
                "Use register_full_backward_hook.",
            )
        self._is_full_backward_hook = full


def call_with_hooks(module: ModuleLike, args: tuple, kwargs: dict) -> Any:
    """Call `module.forward` and all hooks around it: those of all modules, then its own."""
    called: set[int] = set()
    try:
        return _call(module, args, kwargs, called)
    except Exception:
        for where, hooks in (("global ", AFTER), ("", module)):
            for number in list(hooks._forward_hooks_always_called):
                hook = hooks._forward_hooks.get(number)
                if hook is None or number in called:
                    continue
                try:
                    _call_forward_hook(hooks, number, hook, module, args, kwargs, None)
                except Exception as error:
                    warn(
                        f"{where}module forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}"
                    )
        raise


def _call(module: ModuleLike, args: tuple, kwargs: dict, called: set[int]) -> Any:
    for number, hook in [*BEFORE.items(), *module._forward_pre_hooks.items()]:
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                args, kwargs = _new_arguments(changed)
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    full, old = _backward_hooks(module)
    pre = [*BACKWARD.pre.values(), *module._backward_pre_hooks.values()]
    watch = None
    if full or pre:
        watch = BackwardHook(module, full, pre)
        args = watch.inputs(args)
    result = module.forward(*args, **kwargs)
    for hooks in (AFTER, module):
        for number, hook in list(hooks._forward_hooks.items()):
            called.add(number)
            changed = _call_forward_hook(hooks, number, hook, module, args, kwargs, result)
            if changed is not None:
                result = changed
    if watch is not None:
        result = watch.outputs(result)
    if old:
        node = first_tensor(result).grad_fn
        if node is not None:
            for hook in old:
                node.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))
            warn_of_node(args, result, node)
    return result


def _backward_hooks(module: ModuleLike) -> tuple[list, list]:
    """The full backward hooks and the older ones: those of all modules, then its own."""
    found: tuple[list, list] = ([], [])
    found[not BACKWARD.is_full].extend(BACKWARD.hooks.values())
    found[module._is_full_backward_hook is False].extend(module._backward_hooks.values())
    return found


def _call_forward_hook(
    hooks: Any, number: int, hook: Callable, module: Any, args: tuple, kwargs: dict, result: Any
) -> Any:
    if number in hooks._forward_hooks_with_kwargs:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


def _new_arguments(changed: Any) -> tuple[tuple, dict]:
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise runtime_error(
        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
        f"{changed}.",
        "It was registered with with_kwargs=True.",
    )


class BackwardHookFunction(Function):
    """Tensors put behind one node, through which all their gradients pass at once.

    They share the memory of what they stand for, and may not be written in place.
    """

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.mark_non_differentiable(*[x for x in tensors if not x.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class BackwardHook:
    """Calls a module's backward hooks, for one forward call of it.

    The gradients of the outputs are known first; they wait here for those of the inputs.
    """

    def __init__(self, module: ModuleLike, hooks: list[Callable], pre_hooks: list[Callable]):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.n_inputs = 0
        self.n_outputs = 0
        self.input_places: list[int] = []
        self.output_places: list[int] = []
        self.grad_outputs: tuple | None = None

    def inputs(self, args: tuple) -> tuple:
        """The arguments of the forward, put behind a node."""
        self.n_inputs = len(args)
        found, self.input_places, node = _behind_a_node(args)
        constant = [i for i in self.input_places if not args[i].requires_grad]
        likes = {i: Like(args[i]._array) for i in constant}

        def hook(grads: tuple, _: tuple) -> tuple | None:
            if self.grad_outputs is None:
                return None  # the inputs were used without the outputs
            given = _spread(grads, self.input_places, self.n_inputs)
            given = tuple([_zeros(likes[i]) if i in likes else g for i, g in enumerate(given)])
            for each in self.hooks:
                changed = each(self.module, given, self.grad_outputs)
                if changed is not None:
                    given = _checked("hook", "grad_input", changed, self.n_inputs)
            self.grad_outputs = None
            return tuple([None if i in likes else given[i] for i in self.input_places])

        if node is not None:
            node.register_hook(hook)
        return found

    def outputs(self, result: _Result) -> _Result:
        """The result of the forward, put behind a node."""
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                4,
            )
        values: Any = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(values)
        values, self.output_places, node = _behind_a_node(values)

        def hook(grads: tuple) -> tuple:
            given = _spread(grads, self.output_places, self.n_outputs)
            for each in self.pre_hooks:
                changed = each(self.module, given)
                if changed is not None:
                    given = _checked("pre hook", "grad_output", changed, self.n_outputs)
            self.grad_outputs = given
            if not self.input_places:
                self._without_grad_inputs(given)
            return tuple([given[i] for i in self.output_places])

        if node is not None:
            node.register_prehook(hook)
        return values if isinstance(result, tuple) else values[0]

    def _without_grad_inputs(self, grad_outputs: tuple) -> None:
        if not self.hooks:
            return
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/"
            "generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more "
            "details."
        )
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.n_inputs, grad_outputs)
            if changed is not None and any(g is not None for g in changed):
                raise runtime_error(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients.",
                    "There is no gradient to change.",
                )
        self.grad_outputs = None


def first_tensor(result: Tensor) -> Tensor:
    """The first tensor in a result, however deep in tuples, lists and dicts."""
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next(x for x in result.values() if isinstance(x, Tensor))
        else:
            result = result[0]
    return result


def _behind_a_node(values: tuple) -> tuple[tuple, list[int], Any]:
    """`values` with its tensors replaced, their places, and the node.

    Where none of them requires grad nothing is replaced.
    """
    places = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values, [], None
    found = list(values)
    tensors = BackwardHookFunction.apply(*[values[i] for i in places])
    for i, tensor in zip(places, tensors, strict=True):
        found[i] = tensor
    nodes = {x.grad_fn: None for x in tensors if x.grad_fn is not None}
    (node,) = nodes
    return tuple(found) if type(values) is tuple else type(values)(*found), places, node


def _zeros(like: Like) -> Tensor:
    return wrap(np.zeros(like.shape, like.dtype))


def _spread(grads: tuple, places: list[int], n: int) -> tuple:
    found: list[Any] = [None] * n
    for place, grad in zip(places, grads, strict=True):
        found[place] = grad
    return tuple(found)


def _checked(what: str, kind: str, changed: Any, n: int) -> Any:
    if len(changed) != n:
        raise runtime_error(
            f"Backward {what} returned an invalid number of {kind}, got {len(changed)}, but "
            f"expected {n}",
            "Return a tuple of one gradient for each, or None to change nothing.",
        )
    return changed


# --- the older hooks, on the node of the output ---------------------------------------------------


def warn_of_node(args: Sequence, result: Tensor, node: NodeLike) -> None:
    """Warn where the gradients of one node are not those of the module."""
    outs = (result,) if isinstance(result, Tensor) else result
    inputs = (args,) if isinstance(args, Tensor) else args
    for values, does, lacks in (
        (outs, "return a single", "grad_output"),
        (inputs, "take as input a single", "grad_input"),
    ):
        if not (isinstance(values, tuple) and all(isinstance(x, Tensor) for x in values)):
            _warn_of_old(
                f"Using non-full backward hooks on a Module that does not {does} Tensor or a tuple "
                f"of Tensors is deprecated and will be removed in future versions. This hook will "
                f"be missing some of the {lacks}."
            )
            return
    makers = {x.grad_fn for x in outs if x.grad_fn is not None}
    before = {x.grad_fn for x in inputs if x.grad_fn is not None}
    if len(makers) > 1:
        _warn_of_old(
            "Using a non-full backward hook when outputs are generated by different autograd Nodes "
            "is deprecated and will be removed in future versions. This hook will be missing some "
            "grad_output."
        )
    elif before != {each[0] for each in node.next_functions}:
        _warn_of_old(
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is "
            "deprecated and will be removed in future versions. This hook will be missing some "
            "grad_input."
        )


def _warn_of_old(text: str) -> None:
    deprecated(f"{text} Please use register_full_backward_hook to get the documented behavior.", 5)
