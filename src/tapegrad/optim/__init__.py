"""Optimizers: methods that change parameters along their gradients.

The most used are imported at once, the others when they are first asked for.
"""

from typing import Any

from tapegrad.optim.adam import Adam
from tapegrad.optim.adamw import AdamW
from tapegrad.optim.optimizer import Optimizer
from tapegrad.optim.sgd import SGD

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon",
    "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip

_METHODS = frozenset(
    "ASGD LBFGS Adadelta Adafactor Adagrad Adamax Muon NAdam RAdam RMSprop Rprop SparseAdam".split()
)
_MODULES = frozenset(["lr_scheduler", "swa_utils"])


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _METHODS:
        file = "sparse_adam" if name == "SparseAdam" else name.lower()
        method = getattr(import_module(f"{__name__}.{file}"), name)
        globals()[name] = method
        return method
    from tapegrad.core.missing import missing

    raise missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
