"""Hooks of an optimizer: around its steps, around saving and loading."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from tapegrad.autograd.hooks import Hooks, RemovableHandle
from tapegrad.autograd.mode import MODE

_before_all = Hooks()
_after_all = Hooks()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(optimizer, args, kwargs)` called before each step of every optimizer."""
    return _before_all.add(hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Have `hook(optimizer, args, kwargs)` called after each step of every optimizer.

    >>> from tapegrad.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(lambda *_: print("stepped"))
    >>> torch.optim.SGD([torch.ones(1)]).step()
    stepped
    >>> handle.remove()
    """
    return _after_all.add(hook)


class StepHooks:
    """What an `Optimizer` does to take hooks."""

    def _prepare_hooks(self) -> None:
        self._optimizer_step_pre_hooks = Hooks()
        self._optimizer_step_post_hooks = Hooks()
        self._optimizer_state_dict_pre_hooks = Hooks()
        self._optimizer_state_dict_post_hooks = Hooks()
        self._optimizer_load_state_dict_pre_hooks = Hooks()
        self._optimizer_load_state_dict_post_hooks = Hooks()

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(optimizer, args, kwargs)` called before each step.

        It may return a pair of new arguments. `args` begins with the optimizer.
        """
        return self._optimizer_step_pre_hooks.add(hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(optimizer, args, kwargs)` called after each step.

        >>> optimizer = torch.optim.SGD([torch.ones(1)])
        >>> handle = optimizer.register_step_post_hook(lambda *_: print("stepped"))
        >>> optimizer.step()
        stepped
        """
        return self._optimizer_step_post_hooks.add(hook)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(optimizer)` called before the state is read."""
        return self._optimizer_state_dict_pre_hooks.add(hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(optimizer, state_dict)` called after it was read; it may return another."""
        return self._optimizer_state_dict_post_hooks.add(hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(optimizer, state_dict)` called before loading; it may return another."""
        return self._optimizer_load_state_dict_pre_hooks.add(hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Have `hook(optimizer)` called after a state was loaded."""
        return self._optimizer_load_state_dict_post_hooks.add(hook)


def with_hooks(step: Callable) -> Callable:
    """`step` with the hooks before and after it, and its span in a profile."""

    @wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True  # schedulers warn if they are stepped before the optimizer
        pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        watched = pre or post or _before_all or _after_all
        mode = MODE.get()
        if type(mode) is bool and not watched:
            return step(self, *args, **kwargs)
        if type(mode) is not bool:
            for group in self.param_groups:
                for param in group["params"]:
                    mode.writes(param)
        from tapegrad.profiler.block import record_function

        name = type(self).__name__
        with record_function(f"Optimizer.step#{name}.step"):
            args = (self, *args)
            for hook in [*_before_all.values(), *pre.values()]:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    args, kwargs = _new_arguments(step, changed)
            result = step(*args, **kwargs)
            for hook in [*post.values(), *_after_all.values()]:
                hook(self, args, kwargs)
        return result

    return hooked


def _new_arguments(step: Callable, changed: Any) -> tuple[tuple, dict]:
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise RuntimeError(
        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
    )
