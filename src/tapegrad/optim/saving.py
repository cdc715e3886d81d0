"""Saving an optimizer: its state and its groups, with parameters by number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from tapegrad.autograd.hooks import Hooks
from tapegrad.core.errors import value_error
from tapegrad.core.tensor_base import wrap
from tapegrad.optim.batch import step_dtype
from tapegrad.tensors.tensor import Tensor


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
