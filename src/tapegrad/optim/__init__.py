"""Optimizers: methods that change parameters along their gradients."""

from tapegrad.optim.adadelta import Adadelta
from tapegrad.optim.adafactor import Adafactor
from tapegrad.optim.adagrad import Adagrad
from tapegrad.optim.adam import Adam, AdamW
from tapegrad.optim.adamax import Adamax
from tapegrad.optim.asgd import ASGD
from tapegrad.optim.lbfgs import LBFGS
from tapegrad.optim.muon import Muon
from tapegrad.optim.nadam import NAdam
from tapegrad.optim.optimizer import Optimizer
from tapegrad.optim.radam import RAdam
from tapegrad.optim.rmsprop import RMSprop
from tapegrad.optim.rprop import Rprop
from tapegrad.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]

_ON_DEMAND = ("lr_scheduler", "swa_utils")


def __getattr__(name: str):
    if name in _ON_DEMAND:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    from tapegrad.missing import missing

    raise missing(__name__, name)
