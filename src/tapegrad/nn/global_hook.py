"""Hooks on every module: around each forward, on gradients, on what is registered.

From the first hook around a forward on, `Module` looks for such hooks at each call; before, calls
pay nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.autograd.hooks import RemovableHandle
from tapegrad.core.errors import runtime_error
from tapegrad.nn.attribute import ADDED
from tapegrad.nn.hook import AFTER, BACKWARD, BEFORE, call_with_hooks, register
from tapegrad.nn.module import Module


def _watch_calls() -> None:
    Module.__call__ = _watched_call  # type: ignore


def _watched_call(self: Any, *args: Any, **kwargs: Any) -> Any:
    if (
        BEFORE
        or AFTER._forward_hooks
        or BACKWARD.hooks
        or BACKWARD.pre
        or self._backward_hooks
        or self._backward_pre_hooks
        or self._forward_hooks
        or self._forward_pre_hooks
    ):
        return call_with_hooks(self, args, kwargs)
    return self.forward(*args, **kwargs)


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, args)` called before each forward of any module, before its own hooks.

    What it returns, if it is not None, are new arguments.

    >>> register = torch.nn.modules.module.register_module_forward_pre_hook
    >>> with register(lambda module, args: print(type(module).__name__)):
    ...     _ = torch.nn.Sequential(torch.nn.ReLU())(torch.ones(1))
    Sequential
    ReLU
    """
    _watch_calls()
    return register(BEFORE, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Have `hook(module, args, output)` called after each forward of any module.

    It runs before the module's own hooks and may return a new output. With `with_kwargs` it is
    `hook(module, args, kwargs, output)`; with `always_call` it is called even if the forward fails.

    >>> hooks = torch.nn.modules.module
    >>> with hooks.register_module_forward_hook(lambda module, args, output: print(output.shape)):
    ...     _ = torch.nn.Linear(3, 2)(torch.ones(4, 3))
    torch.Size([4, 2])
    """
    _watch_calls()
    marks = [AFTER._forward_hooks_with_kwargs] if with_kwargs else []
    marks += [AFTER._forward_hooks_always_called] if always_call else []
    return register(AFTER._forward_hooks, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, grad_output)` called before gradients pass through any module.

    It may return new gradients of the outputs.

    >>> hooks = torch.nn.modules.module
    >>> x = torch.ones(2, requires_grad=True)
    >>> with hooks.register_module_full_backward_pre_hook(lambda module, go: (go[0] * 10,)):
    ...     torch.nn.ReLU()(x).sum().backward()
    >>> x.grad
    tensor([10., 10.])
    """
    _watch_calls()
    return register(BACKWARD.pre, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, grad_input, grad_output)` called when gradients have passed a module.

    It may return new gradients of the inputs.

    Raises:
        RuntimeError: if a hook was registered with `register_module_backward_hook` before.

    >>> hooks = torch.nn.modules.module
    >>> x = torch.ones(2, requires_grad=True)
    >>> with hooks.register_module_full_backward_hook(lambda module, gi, go: print(gi, go)):
    ...     torch.nn.ReLU()(x).sum().backward()
    (tensor([1., 1.]),) (tensor([1., 1.]),)
    """
    _check_kind(full=True)
    _watch_calls()
    return register(BACKWARD.hooks, hook)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, grad_input, grad_output)` called by the node that made a module's output.

    `grad_input` is what that one node gives, whatever it is: prefer
    `register_module_full_backward_hook`.
    """
    _check_kind(full=False)
    _watch_calls()
    return register(BACKWARD.hooks, hook)


def _check_kind(full: bool) -> None:
    if BACKWARD.is_full is (not full):
        raise runtime_error(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them.",
            "Use register_module_full_backward_hook.",
        )
    BACKWARD.is_full = full


# --- what is registered ---------------------------------------------------------------------------


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, name, parameter)` called when any module gets a parameter.

    What it returns, if it is not None, takes the parameter's place.

    >>> register = torch.nn.modules.module.register_module_parameter_registration_hook
    >>> with register(lambda m, name, p: print(name, p.shape)):
    ...     _ = torch.nn.Linear(3, 2)
    weight torch.Size([2, 3])
    bias torch.Size([2])
    """
    return register(ADDED.parameters, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, name, buffer)` called when any module gets a buffer, or a new one.

    What it returns, if it is not None, takes the buffer's place.

    >>> hooks = torch.nn.modules.module
    >>> with hooks.register_module_buffer_registration_hook(lambda m, name, buffer: print(name)):
    ...     _ = torch.nn.BatchNorm1d(2)
    running_mean
    running_var
    num_batches_tracked
    """
    return register(ADDED.buffers, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(module, name, submodule)` called when any module gets a child.

    What it returns, if it is not None, takes the child's place.

    >>> register = torch.nn.modules.module.register_module_module_registration_hook
    >>> with register(lambda m, name, child: print(name, child)):
    ...     _ = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
    0 ReLU()
    1 Tanh()
    """
    return register(ADDED.modules, hook)
