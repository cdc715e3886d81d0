"""Hooks of a module: functions that see what goes in and out, forward and backward."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from warnings import warn

from tapegrad.autograd.hooks import RemovableHandle
from tapegrad.core.errors import runtime_error


def register(hooks: dict, hook: Callable, *marks: dict, prepend: bool = False) -> RemovableHandle:
    """Add `hook` to the table `hooks`, and its number to each of `marks`; returns its handle."""
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


# The hooks of all modules: nn/global_hook.py.
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


def call_with_hooks(module: Any, args: tuple, kwargs: dict) -> Any:
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
                        f"that was silenced as another error was raised in forward: {error}",
                        stacklevel=2,
                    )
        raise


def _call(module: Any, args: tuple, kwargs: dict, called: set[int]) -> Any:
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
        from tapegrad.nn.backward_hook import BackwardHook

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
        from tapegrad.nn.backward_hook import first_tensor, warn_of_node

        node = first_tensor(result).grad_fn
        if node is not None:
            for hook in old:
                node.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))
            warn_of_node(args, result, node)
    return result


def _backward_hooks(module: Any) -> tuple[list, list]:
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
