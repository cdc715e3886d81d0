"""Optimizers: methods that change parameters along their gradients."""

from tapegrad.optim.adam import Adam, AdamW
from tapegrad.optim.optimizer import Optimizer
from tapegrad.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


def __getattr__(name: str):
    from tapegrad.missing import missing

    raise missing(__name__, name)
