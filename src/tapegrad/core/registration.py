"""Slots: what a floor needs of a higher one, which fills them.

A floor imports only from those below it. Where it calls something above all the same (a rule run on
tensors, a notebook's picture of one) it asks a slot, and what is above registers itself there.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Slot:
    """A place for one object, loaded when it is first asked for.

    >>> from tapegrad.core.registration import Slot
    >>> answer = Slot("an answer")
    >>> answer.register(lambda: 42)
    >>> answer()
    42
    """

    __slots__ = ("_load", "_value", "what")

    def __init__(self, what: str):
        self.what = what
        self._load: Callable[[], Any] | None = None
        self._value: Any = None

    def register(self, load: Callable[[], Any]) -> None:
        """Let `load()` give what the slot holds, once somebody asks."""
        self._load, self._value = load, None

    def register_module(self, name: str) -> None:
        """Let the slot hold a module, imported once somebody asks."""
        self.register(lambda: import_module(name))

    def __bool__(self) -> bool:
        """Whether anything is registered."""
        return self._load is not None

    def __call__(self) -> Any:
        """What the slot holds."""
        if self._value is None:
            if self._load is None:
                raise RuntimeError(f"nothing is registered as {self.what}")
            self._value = self._load()
        return self._value


AS_STRIDED = Slot("views by strides")
AUTOCAST = Slot("the casts of autocast")
BATCHED_NAMESPACE = Slot("the array namespace of batches")
CUSTOM_FUNCTIONS = Slot("custom functions inside vmap")
DISPATCH_CLASSES = Slot("operators handed to classes with a `__torch_dispatch__`")
EXPLANATIONS = Slot("explanations of lost histories")
FRONT_DOOR = Slot("the public namespace, `torch`")
META_NAMESPACE = Slot("the array namespace of the meta device")
NODE_CALLS = Slot("calls of nodes")
NO_FORMULA = Slot("results in the graph that have no derivative")
NOTEBOOK = Slot("tensors as HTML")
PER_SAMPLE = Slot("functions called for each sample of a batch")
RANDOMNESS = Slot("random draws inside vmap")
SPARSE = Slot("sparse tensors")
SPARSE_REFUSALS = Slot("names of `torch.sparse` that refuse")
TENSOR_NAMESPACE = Slot("the array namespace of tensors")
TANGENT_VIEWS = Slot("the views of forward mode")
TRANSFORM_STACK = Slot("the stack of function transforms")
OVERWRITES = Slot("operators whose result does not depend on what they overwrite")
WRITE_OUT = Slot("results written where `out=` says")
VJP_BATCH = Slot("many cotangents pulled back at once")
