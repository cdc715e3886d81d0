"""Schedulers: learning rates that change while a model trains."""

from tapegrad.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from tapegrad.optim.lr_scheduler.cyclic import CyclicLR
from tapegrad.optim.lr_scheduler.decay import (
    ExponentialLR,
    LambdaLR,
    MultiplicativeLR,
    MultiStepLR,
    StepLR,
)
from tapegrad.optim.lr_scheduler.one_cycle import OneCycleLR
from tapegrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from tapegrad.optim.lr_scheduler.ramp import ConstantLR, LinearLR, PolynomialLR
from tapegrad.optim.lr_scheduler.scheduler import LRScheduler, _LRScheduler
from tapegrad.optim.lr_scheduler.series import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]


def __getattr__(name: str):
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
