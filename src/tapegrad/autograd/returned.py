"""Gradients as `grad` returns them: which are views of what, and how they lie in memory."""

import numpy as np

from tapegrad.autograd.node import INFERENCE, version_of
from tapegrad.autograd.view import Step, View
from tapegrad.autograd.view_origin import NO_GRAD, ORDINARY
from tapegrad.core import tensor_base
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.registration import AS_STRIDED
from tapegrad.core.storage import offset_of, owner_of


def returned(g: Any, cotangents: Sequence) -> Any:
    """The gradient `g` of a pass that recorded nothing, with its strides positive.

    One that shares memory with a cotangent is a view of that, or it itself; any other that is part
    of a larger array is a view of that. A write to it counts as one there.
    """
    if type(g) is not tensor_base.Tensor:
        return g
    array = g._array
    if type(array) is not np.ndarray or g._node is not None or g._view is not None:
        return g
    given = [v for v in cotangents if type(getattr(v, "_array", None)) is np.ndarray]
    if array.base is None and not given:
        return g
    if any([s < 0 for s in array.strides]):
        g._array = array.copy("C")
        return g
    owner = owner_of(array)
    for v in given:
        if v._node is not None or v._counter is INFERENCE or owner_of(v._array) is not owner:
            continue
        if v._array is array:
            return v
        return _seen(g, v if v._view is None else v._view.base, NO_GRAD)
    if owner.shape == array.shape and owner.strides == array.strides:
        return g  # the whole of it
    if owner.dtype != array.dtype:
        return g
    return _seen(g, tensor_base.wrap(owner), ORDINARY)


def _seen(g: Any, base: Any, made: str) -> Any:
    """`g` as a view of `base`."""
    g._counter = version = version_of(base)
    g._view = _GradientView(base, g._array, made, version.value)
    return g


class _GradientView(View):
    """The view that a gradient is: its one step, by strides, is worked out once asked for."""

    __slots__ = ("_steps", "part")

    def __init__(self, base: Any, part: Any, made: str, seen: int):
        self.base, self.array, self.part = base, base._array, part
        self.made, self.seen = made, seen
        self._steps: tuple[Step, ...] | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The step that leads from the base to the gradient."""
        if self._steps is None:
            array, memory, item = self.part, self.array, self.part.itemsize
            params = {
                "shape": array.shape,
                "strides": tuple([s // item for s in array.strides]),
                "offset": offset_of(array) - offset_of(memory),
                "own": tuple([s // item for s in memory.strides]),
            }
            self._steps = (Step(AS_STRIDED().pattern.op, params, None),)
        return self._steps

    @steps.setter
    def steps(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
