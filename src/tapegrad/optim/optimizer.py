"""Optimizer: parameter groups, their state and its saving; what every method builds upon.

A method says two things, as a paper would: what it keeps of a parameter, and how one step changes
parameter and state.

    class Plain(Optimizer):
        def update(self, xp, param, grad, state, *, lr, **_):
            param -= lr * grad
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import chain
from typing import Any
from warnings import warn

from tapegrad.autograd.mode import MODE, enable_grad
from tapegrad.core.annotations import Array, Namespace
from tapegrad.core.errors import type_error, value_error
from tapegrad.optim.group import step_group, step_group_on_tensors
from tapegrad.optim.hook import (
    StepHooks,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    with_hooks,
)
from tapegrad.optim.saving import Saving
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]


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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.step)  # type: ignore[method-assign]

    # ----------------------------------------------------------------------------------- stepping

    def init(self, xp: Namespace, param: Any, **options: Any) -> dict[str, Any]:
        """The state of a parameter before its first step: arrays by name."""
        return {}

    def update(
        self, xp: Namespace, param: Any, grad: Array, state: dict[str, Any], **options: Any
    ) -> None:
        """One step: change `param` and the arrays in `state` in place.

        `first` among the options says that the state is fresh from `init`; `spare` are two arrays
        like `param` for the argument `out` of intermediate results, or two None.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not say how it changes a parameter: define update()"
        )

    def conclude(self, xp: Namespace, state: dict[str, Any], **options: Any) -> None:
        """After `update`: change the numbers in `state` that a parameter has once."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
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
        run = step_group_on_tensors if self.defaults.get("differentiable") else step_group
        for group in self.param_groups:
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
        if type(MODE.get()) is not bool:
            from tapegrad.profiler.block import record_function

            name = type(self).__name__
            with record_function(f"Optimizer.zero_grad#{name}.zero_grad"):
                self._zero_grad(set_to_none)
            if set_to_none:
                parameters = [p for group in self.param_groups for p in group["params"]]
                MODE.get().cleared(parameters, "zero_grad()")
        else:
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for param in group["params"]:
                grad = param._grad
                if grad is None:
                    continue
                if set_to_none:
                    param._grad = None
                    continue
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

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

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise type_error(
                "optimizer can only optimize Tensors, but one of the params is "
                f"{type(param).__name__}",
                "Pass tensors that require grad, such as model.parameters().",
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
                stacklevel=4,
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
