"""`ModuleTracker`: in which modules the program is, in forward and in backward passes."""

from typing import Any
from weakref import WeakKeyDictionary

from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.autograd.execution_engine import ENGINE
from tapegrad.autograd.graph import register_multi_grad_hook
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.tensor_base import TensorBase
from tapegrad.nn.modules.module import (
    Module,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from tapegrad.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A block in which `parents` names the modules whose forward, or backward, is running.

    A module is called as its class where it was called first, one inside it by its path from there.

    >>> from tapegrad.utils.module_tracker import ModuleTracker
    >>> tracker = ModuleTracker()
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    >>> handle = model[0].register_forward_pre_hook(lambda *_: print(sorted(tracker.parents)))
    >>> with tracker:
    ...     y = model(torch.ones(2))
    ['Global', 'Sequential', 'Sequential.0']
    """

    def __init__(self) -> None:
        self.parents: set[str] = {"Global"}
        self._names: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._handles: list[Any] = []
        self._ends_with: Any = None

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass is running."""
        return BACKWARD_PASS.get() is not None

    def __enter__(self) -> "ModuleTracker":
        self._handles = [
            register_module_forward_pre_hook(self._enter_forward),
            register_module_forward_hook(self._leave_forward),
        ]
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._handles:
            each.remove()

    def _name_of(self, module: Module) -> str:
        if module not in self._names:
            self._name(module, type(module).__name__)
        return self._names[module]

    def _name(self, module: Module, name: str) -> None:
        self._names[module] = name
        for child, inner in module.named_children():
            self._name(inner, f"{name}.{child}")

    def _enter_forward(self, module: Module, args: Any) -> None:
        name = self._name_of(module)
        self.parents.add(name)
        self._when_reached(args, lambda: self.parents.discard(name))

    def _leave_forward(self, module: Module, args: Any, output: Any) -> None:
        name = self._name_of(module)
        self.parents.discard(name)
        self._when_reached(output, lambda: self._enter_backward(name))

    def _when_reached(self, values: Any, action: Any) -> None:
        """Do something when a backward pass has the gradients of all tensors in `values`."""
        found = [x for x in tree_leaves(values) if isinstance(x, TensorBase) and x.requires_grad]
        if found:
            register_multi_grad_hook(found, lambda grads: action())

    def _enter_backward(self, name: str) -> None:
        if self._ends_with is not BACKWARD_PASS.get():
            self._ends_with = BACKWARD_PASS.get()
            ENGINE.queue_callback(self._leave_backward)
        self.parents.add(name)

    def _leave_backward(self) -> None:
        self._ends_with = None
        self.parents = {"Global"}


__getattr__ = _refuses(__name__)
