"""A recorded convolution, or one of its gradients, as the rules that lower some of them see it."""

from dataclasses import dataclass

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_TEXTS = ("xp.convolve", "xp.convolve_transposed", "xp.convolve_weights")


@dataclass
class Convolution:
    """One of the three sums of products of images x, kernels w and places y.

    Attributes:
        arguments: the arrays that it is given, None for no bias
        size: of the result along the axes of an image
        result: the value that it gives
    """

    text: str
    arguments: list[Any]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    size: tuple[int, ...]
    result: Any
    line: Any

    @property
    def is_transposed(self) -> bool:
        return self.text == "xp.convolve_transposed"

    @property
    def gives_kernels(self) -> bool:
        return self.text == "xp.convolve_weights"

    @property
    def n(self) -> int:
        """How many images there are."""
        return self.arguments[0].shape[0]

    @property
    def places(self) -> tuple[int, ...]:
        """How many places the kernels have along each axis of an image."""
        if self.text == "xp.convolve":
            return self.size
        return self.arguments[int(self.gives_kernels)].shape[2:]

    @property
    def kernels(self) -> tuple[int, ...]:
        """The shape of the kernels, (G * O, C, *kernel)."""
        return (self.result if self.gives_kernels else self.arguments[1]).shape


def convolution_of(lowering: Lowering, instruction: Instruction) -> Convolution | None:
    """What an instruction convolves; None for others, and for what C has no numbers for."""
    result = instruction.result
    if instruction.text not in _TEXTS or instruction.kwargs or not lowering.is_array(result):
        return None
    *arrays, stride, padding, dilation, groups, size = instruction.args
    if not all(x is None or lowering.is_array(x) for x in arrays):
        return None
    found = [None if x is None else lowering.place(x) for x in arrays]
    there = [x for x in (result, *found) if x is not None]
    if {x.dtype for x in there} != {result.dtype} or result.dtype.char not in "fd":
        return None
    if any(0 in x.shape for x in there):
        return None
    steps = tuple(stride), tuple(padding), tuple(dilation)
    return Convolution(
        instruction.text, found, *steps, groups, tuple(size), result, instruction.line
    )
