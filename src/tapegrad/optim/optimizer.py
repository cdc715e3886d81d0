"""Optimizer: parameter groups, their state and its saving; what every method builds upon.

A method says two things, as a paper would: what it keeps of a parameter, and how one step changes
parameter and state.

    class Plain(Optimizer):
        def update(self, xp, param, grad, state, *, lr, **_):
            param -= lr * grad
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from copy import deepcopy
from functools import wraps
from itertools import chain
from sys import modules
from typing import TypeVar

import numpy as np

from tapegrad.autograd.accumulate import zero_grads
from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.hooks import Hooks, RemovableHandle
from tapegrad.autograd.mode import MODE, enable_grad
from tapegrad.core.annotations import Any, Array, Namespace
from tapegrad.core.errors import not_implemented, runtime_error, type_error, value_error, warn
from tapegrad.core.tensor_base import REFUSING, SHARDED, wrap
from tapegrad.optim.batch import step_dtype, step_group, step_group_on_tensors
from tapegrad.optim.implementation import (  # noqa: F401  as public code finds them here
    ParamsT,
    _capturable_doc,
    _default_to_fused_or_foreach,
    _differentiable_doc,
    _disable_dynamo_if_unsupported,
    _foreach_doc,
    _fused_doc,
    _get_capturable_supported_devices,
    _get_foreach_kernels_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _group_tensors_by_device_and_dtype,
    _maximize_doc,
    _params_doc,
    _to_scalar,
    _use_grad_for_differentiable,
    _view_as_real,
)
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook",
    "required",
]  # fmt: skip

_Loss = TypeVar("_Loss")  # what a closure returns


def check_number(name: str, value: Any) -> None:
    """Raise for a tensor with other than one element."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise value_error(
            f"Tensor {name} must be 1-element", "For several values, make several parameter groups."
        )


def check_not_negative(what: str, value: Any, *, nan: bool = False) -> None:
    """Raise for a negative number; and for nan, unless `nan` lets it pass."""
    if value < 0.0 if nan else not 0.0 <= value:
        raise value_error(f"Invalid {what}: {value}", "It must be 0 or more.")


def check_at_least(what: str, least: float, value: Any) -> None:
    """Raise for a number below `least`, and for nan."""
    if not least <= value:
        raise value_error(
            f"{what} should be >= {least} but is: {value}", f"It must be {least} or more."
        )


def check_betas(betas: Any) -> None:
    """Raise unless both decay rates are in [0, 1)."""
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise value_error(
                f"Invalid beta parameter at index {i}: {betas[i]}",
                "A decay rate is at least 0 and below 1.",
            )
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise value_error("betas must be either both floats or both Tensors", "Use floats.")
    for i in (0, 1):
        check_number(f"betas[{i}]", betas[i])


def check_lr(lr: float) -> None:
    """Raise unless a learning rate is one number, of 0 or more."""
    check_number("lr", lr)
    check_not_negative("learning rate", lr)


def check_adam(lr: float, eps: float, betas: Any, weight_decay: float) -> None:
    """Raise for what Adam and its relatives do not take."""
    check_lr(lr)
    check_not_negative("epsilon value", eps)
    check_betas(betas)
    check_not_negative("weight_decay value", weight_decay)


def given(arguments: dict[str, Any], options: str) -> dict[str, Any]:
    """The options among the arguments of a constructor, in the order that PyTorch has them in."""
    return {name: arguments[name] for name in options.split()}


def check_not_foreach(name: str, value: Any, foreach: bool | None, capturable: bool) -> None:
    """Raise for a tensor where PyTorch's multi-tensor implementation takes a number."""
    if isinstance(value, Tensor) and foreach and not capturable:
        raise value_error(
            f"{name} as a Tensor is not supported for capturable=False and foreach=True",
            "Leave foreach away.",
        )


def penalized(
    param: Any,
    grad: Array,
    *,
    maximize: bool,
    weight_decay: float,
    decoupled_weight_decay: bool = False,
    lr: float = 0.0,
    **_: object,
) -> Array:
    """The gradient to descend, with the L2 penalty; a decoupled one shrinks `param` in place."""
    if maximize:
        grad = -grad
    if weight_decay and decoupled_weight_decay:
        param *= 1 - lr * weight_decay
    elif weight_decay:
        grad = grad + weight_decay * param
    return grad


def check_choices(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Raise for choices of implementation that exclude each other."""
    if fused and differentiable:
        raise runtime_error("`fused` does not support `differentiable`", "Leave fused away.")
    if fused and foreach:
        raise runtime_error(
            "`fused` and `foreach` cannot be `True` together.",
            "Leave both away: the arithmetic is the same.",
        )


def _check_fused(params: list[Tensor]) -> None:
    for p in params:
        if p.grad is not None and not p.is_floating_point():
            raise runtime_error(
                "`fused=True` requires all the params to be floating point Tensors of supported "
                "devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but "
                f"{p.dtype} and {p.device}",
                "Leave fused away.",
            )


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
    def hooked(self: Any, *args: object, **kwargs: object) -> Any:
        self._opt_called = True  # schedulers warn if they are stepped before the optimizer
        try:
            pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        except AttributeError:  # its __init__ did without that of Optimizer
            return step(self, *args, **kwargs)
        watched = pre or post or _before_all or _after_all
        mode = MODE.get()
        if type(mode) is bool and not watched:
            return step(self, *args, **kwargs)
        if type(mode) is not bool:
            for group in self.param_groups:
                for param in group["params"]:
                    mode.writes(param)
        with _named(f"Optimizer.step#{type(self).__name__}.step"):
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


def _named(name: str) -> Any:
    """A block of this name in a profile; nothing where no profile was ever made."""
    block = modules.get("tapegrad.profiler.block")
    return nullcontext() if block is None else block.record_function(name)


def _new_arguments(step: Callable, changed: Any) -> tuple[tuple, dict]:
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise RuntimeError(
        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
    )


class Saving:
    """What an `Optimizer` does to hand out its state and to take it back."""

    defaults: dict[str, Any]
    state: defaultdict[Any, dict[str, Any]]
    param_groups: list[dict[str, Any]]
    counts_steps: bool
    _plans: dict[int, Any]
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def state_dict(self) -> dict[str, Any]:
        """The state and the groups, parameters by number; the tensors are shared.

        >>> optimizer = torch.optim.SGD([torch.ones(1)], lr=0.1)
        >>> optimizer.state_dict()["param_groups"][0]["params"]
        [0]
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        # One that a group has twice goes by its last place, as in PyTorch.
        params = chain.from_iterable(g["params"] for g in self.param_groups)
        numbers = {id(param): i for i, param in enumerate(params)}
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            changed = post_hook(self, found)
            found = found if changed is None else changed
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave; floating-point state gets its parameter's dtype.

        >>> a = torch.optim.SGD([torch.ones(1)], lr=0.1)
        >>> b = torch.optim.SGD([torch.ones(1)], lr=0.2)
        >>> a.load_state_dict(b.state_dict())
        >>> a.param_groups[0]["lr"]
        0.2
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = pre_hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups = self.param_groups
        saved = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise value_error(
                "loaded state dict has a different number of parameter groups",
                f"This optimizer has {len(groups)}, the state {len(saved)}.",
            )
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved, strict=True)):
            raise value_error(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group",
                "The model must have the parameters it had when the state was saved.",
            )
        by_number = dict(
            zip(
                chain.from_iterable(s["params"] for s in saved),
                chain.from_iterable(g["params"] for g in groups),
                strict=True,
            )
        )
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param = by_number.get(key)
            if param is None:
                state[key] = value
            else:
                state[param] = {k: _like_param(param, v, k) for k, v in value.items()}
        for group, new in zip(groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._prepare()  # type: ignore[attr-defined]
        self._plans.clear()
        for entry in self.state.values():  # a count may have been saved as a number
            if self.counts_steps and entry and not isinstance(entry["step"], Tensor):
                entry["step"] = wrap(np.asarray(float(entry["step"]), step_dtype()))
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)


def _like_param(param: Tensor, value: Any, key: str) -> Any:
    """`value`, loaded as state of `param`: floating-point tensors in its dtype, counts as saved."""
    if isinstance(value, Tensor):
        if key == "step" or not param.dtype.is_floating_point:
            return value
        return value.to(param.dtype)
    if isinstance(value, dict):
        return {k: _like_param(param, v, key) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_like_param(param, v, key) for v in value)  # type: ignore[call-arg]
    return value


class _Required:
    """The default of an argument that every parameter group must give itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer(Saving, StepHooks):
    """The base class of all optimizers.

    Args:
        params: tensors, or dicts with the key `"params"` and options of that group, or pairs of
            name and tensor
        defaults: options of groups that do not give them

    A subclass defines `init` and `update`, or `step` as a whole.
    """

    elementwise = True  # whether `update` treats each element for itself
    counts_steps = False  # whether the state has a count of steps, "step"
    scalars: tuple[str, ...] = ("step",)  # state that is a number for each parameter
    structural: tuple[str, ...] = ()  # options on which the names in the state depend
    uses_spare = False  # whether `update` has its large intermediate results in `spare`
    captured = "params and state_steps"  # what `capturable` is about

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._prepare()
        if isinstance(params, Tensor):
            raise type_error(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {params.type()}",
                "Put the tensor into a list.",
            )
        groups = list(params)
        if not groups:
            raise value_error(
                "optimizer got an empty parameter list",
                "Pass model.parameters() of a model that has parameters.",
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """Make what is not part of the pickled state."""
        self._plans: dict[int, Any] = {}
        self._prepare_hooks()

    def __getattr__(self, name: str) -> Any:
        """What a class that does without `Optimizer.__init__` has not made, on its first use."""
        if name != "_plans":
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
            )
        self._plans = {}
        return self._plans

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.step)  # type: ignore[method-assign]

    # ----------------------------------------------------------------------------------- stepping

    def init(self, xp: Namespace, param: Tensor, **options: object) -> dict[str, Any]:
        """The state of a parameter before its first step: arrays by name."""
        return {}

    def update(
        self, xp: Namespace, param: Tensor, grad: Array, state: dict[str, Any], **options: object
    ) -> None:
        """One step: change `param` and the arrays in `state` in place.

        `first` among the options says that the state is fresh from `init`; `spare` are two arrays
        like `param` for the argument `out` of intermediate results, or two None.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not say how it changes a parameter: define update()"
        )

    def update_sparse(self, param: Tensor, grad: Tensor, **options: Any) -> None:
        """One step with a gradient that is sparse."""
        name = type(self).__name__
        if name in ("Adam", "AdamW"):
            text = "Adam does not support sparse gradients, please consider SparseAdam instead"
        else:
            text = f"{name} does not support sparse gradients"
        raise runtime_error(text, "SGD, Adagrad and SparseAdam do; or leave sparse=True away.")

    def conclude(self, xp: Namespace, state: dict[str, Any], **options: object) -> None:
        """After `update`: change the numbers in `state` that a parameter has once."""

    def step(self, closure: Callable[[], _Loss] | None = None) -> _Loss | None:
        """Change every parameter that has a gradient; returns what `closure` returns.

        `closure`, if given, computes the loss and the gradients.

        >>> w = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9000, 0.9000], requires_grad=True)
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if REFUSING[0]:
            for p in [p for group in self.param_groups for p in group["params"]]:
                if p.grad is not None:
                    refuse_captured("add_", p)
        run = step_group_on_tensors if self.defaults.get("differentiable") else step_group
        for group in self.param_groups:
            if group.get("fused"):
                _check_fused(group["params"])
            run(self, group)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or with `set_to_none=False` fill it with zeros.

        >>> w = torch.ones(2, requires_grad=True)
        >>> w.sum().backward()
        >>> torch.optim.SGD([w]).zero_grad()
        >>> w.grad is None
        True
        """
        parameters = [p for group in self.param_groups for p in group["params"]]
        if type(MODE.get()) is bool:
            zero_grads(parameters, set_to_none)
            return
        with _named(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            zero_grads(parameters, set_to_none)
        if set_to_none:
            MODE.get().cleared(parameters, "zero_grad()")

    # ------------------------------------------------------------------------------------- groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize further parameters, with options of their own.

        >>> a, b = torch.ones(1), torch.ones(1)
        >>> optimizer = torch.optim.SGD([a], lr=0.1)
        >>> optimizer.add_param_group({"params": [b], "lr": 0.2})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.2]
        """
        if not isinstance(param_group, dict):
            raise type_error(
                f"param_group must be a dict, but got {type(param_group)}",
                'Write {"params": [...], "lr": ...}.',
            )
        group = dict(param_group)
        group["params"] = _listed(group["params"])
        _take_names(group)
        for param in group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            group.setdefault(name, default)
        self._check_against_others(group)
        self.param_groups.append(group)

    def _check_param(self, param: Tensor) -> None:
        if not isinstance(param, Tensor):
            raise type_error(
                "optimizer can only optimize Tensors, but one of the params is "
                f"{type(param).__name__}",
                "Pass tensors that require grad, such as model.parameters().",
            )
        if SHARDED and not self.elementwise and isinstance(param, SHARDED[0]):
            raise not_implemented(
                f"{type(self).__name__} needs all of a parameter, of which a DTensor has a part",
                "Take an optimizer that treats each element for itself, such as AdamW.",
            )
        if self.defaults.get("differentiable") or param.is_leaf or param.retains_grad:
            return
        raise value_error(
            "can't optimize a non-leaf Tensor",
            f"This one was made by {param.grad_fn.name()}: optimize what it was computed from.",
        )

    def _check_against_others(self, group: dict[str, Any]) -> None:
        params = group["params"]
        if len({id(p) for p in params}) != len(params):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
                4,
            )
        others = self.param_groups
        if others and ("param_names" in others[0]) != ("param_names" in group):
            how = "with" if "param_names" in group else "without"
            raise value_error(
                "all optimizer param groups should be with/without names. cannot add param "
                f"group {how} names to the optimizer",
                "Use named_parameters() for all groups, or parameters() for all.",
            )
        known = {id(p) for p in chain.from_iterable(g["params"] for g in others)}
        if any(id(p) in known for p in params):
            raise value_error(
                "some parameters appear in more than one parameter group",
                "Each parameter has one set of options.",
            )

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"{'' if i == 0 else chr(10)}Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


Optimizer.step = with_hooks(Optimizer.step)  # type: ignore[method-assign]


def _listed(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise type_error(
            "optimizer parameters need to be organized in ordered collections, but the "
            "ordering of tensors in sets will change between runs. Please use a list instead.",
            "The state is saved by the number of the parameter.",
        )
    return list(params)


def _take_names(group: dict[str, Any]) -> None:
    """Split pairs of name and tensor into `params` and `param_names`."""
    params = group["params"]
    named = [isinstance(p, tuple) for p in params]
    if not any(named):
        return
    if not all(named):
        raise value_error(
            "all optimizer params should be with/without names. Some param names are missing",
            "Pass either tensors or pairs of name and tensor.",
        )
    group["param_names"] = [name for name, _ in params]
    group["params"] = [param for _, param in params]
