"""Who has a parameter: the layers and the optimisers that are alive."""

from __future__ import annotations

import gc
from typing import Any

from tapegrad.nn.module import Module
from tapegrad.optim.optimizer import Optimizer


class Owners:
    """The layers that have a parameter, by name, and the optimisers that are alive."""

    def __init__(self, x: Any):
        # By their type: `isinstance` asks for `__class__`, at which objects of others may fail.
        alive = gc.get_objects()
        self.x = x
        self.modules = [each for each in alive if issubclass(type(each), Module)]
        self.optimizers = [each for each in alive if issubclass(type(each), Optimizer)]
        self.names = [
            (module, name)
            for module in self.modules
            for name, each in module.named_parameters()
            if each is x
        ]

    @property
    def name(self) -> str:
        """The longest name, from the outermost layer: `Net.body.0.weight`; "" without a layer."""
        if not self.names:
            return ""
        module, name = max(self.names, key=lambda each: each[1].count("."))
        return f"{type(module).__name__}.{name}"

    def findings(self) -> list[str]:
        """What is not as it should be between layers, optimisers and the parameter."""
        holding = [o for o in self.optimizers if any(self.x is p for p in _parameters(o))]
        if holding and not self.names:
            others = {id(p) for module in self.modules for p in module.parameters()}
            for each in holding:
                if any(id(p) in others for p in _parameters(each)):
                    return [
                        f"{type(each).__name__} has it, but no layer does: it was replaced by "
                        "another parameter. Make the optimizer anew, or write into the parameter: "
                        "with torch.no_grad(): parameter.copy_(values)."
                    ]
        if holding or not self.optimizers or not self.names:
            return []
        return self._unknown_to_optimizers()

    def _unknown_to_optimizers(self) -> list[str]:
        inner = {id(module) for module, _ in self.names}
        for module in self.modules:
            for name, value in vars(module).items():
                if name.startswith("_") or type(value) not in (list, tuple, dict):
                    continue
                each = value.values() if type(value) is dict else value
                if any(id(child) in inner or child is self.x for child in each):
                    kind = "ModuleDict" if type(value) is dict else "ModuleList"
                    if any(child is self.x for child in each):
                        kind = kind.replace("Module", "Parameter")
                    return [
                        f"{type(module).__name__}.{name} is a {type(value).__name__}, of which "
                        f"{type(module).__name__} does not know what is in it: no optimizer has "
                        f"this parameter. Make it an nn.{kind}."
                    ]
        outer = {id(p) for module, _ in self.names for p in module.parameters()}
        for each in self.optimizers:
            if any(id(p) in outer for p in _parameters(each)):
                return [
                    f"{type(each).__name__} has other parameters of "
                    f"{type(self.names[0][0]).__name__}, but not this one: make the optimizer "
                    "after the layers, or call add_param_group()."
                ]
        return []


def _parameters(optimizer: Any) -> list:
    return [p for group in optimizer.param_groups for p in group["params"]]
