"""Running a model in a mode, every layer's own mode put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def in_mode(model: Any, training: bool) -> Iterator[None]:
    """A block in which `model` and all layers in it are in training or in evaluation mode.

    >>> from tapegrad.inspect.running_mode import in_mode
    >>> model = torch.nn.Sequential(torch.nn.Dropout())
    >>> with in_mode(model, training=False):
    ...     model[0].training
    False
    >>> model[0].training
    True
    """
    modes = [(layer, layer.training) for layer in model.modules()]
    try:
        model.train(training)
        yield
    finally:
        for layer, before in modes:
            layer.training = before
