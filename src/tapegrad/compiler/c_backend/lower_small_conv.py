"""Convolutions of batches of small images: of one image, whose columns are those of all of them.

With the batch as its last axis a row of pixels is as long as a row of an image times the batch, and
lies in one piece. A step of one pixel is then one of so many columns as there are images.
"""

from math import prod
from types import SimpleNamespace

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.c_backend import templates
from tapegrad.compiler.c_backend.ir import Access, Call, dense
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_IMAGES = 2  # at least
_PLACES, _OF_KERNELS = 64, 1024  # at most, where vectors are places: groups have few channels
_SMALLEST = 16  # the same where they are channels, of which there are many
_FEW, _MANY = 8, 2**18  # channels of a group, and weights
_BATCHED = {"xp.convolve": (0,), "xp.convolve_transposed": (0,), "xp.convolve_weights": (0, 1)}
"""Which arguments are batches of images; the result is one, too, but that of kernels."""


def lower_small_conv(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.convolve` and its gradients, of images with few places and steps of one."""
    batched = _BATCHED.get(instruction.text)
    result = instruction.result
    if batched is None or instruction.kwargs or not lowering.is_array(result):
        return False
    args = list(instruction.args)
    *arrays, stride, padding, dilation, groups, size = args
    if not all(x is None or lowering.is_array(x) for x in arrays):
        return False
    places: list[Any] = [None if x is None else lowering.place(x) for x in arrays]
    n, of_kernels = places[0].shape[0], len(batched) > 1
    small = places[1].shape[2:] if of_kernels else tuple(size)
    if n < _IMAGES or len(small) != 2 or set(stride) != {1}:
        return False
    weights = (result if of_kernels else places[1]).shape
    transposed = instruction.text == "xp.convolve_transposed"
    if groups > 1 and (weights[1] if transposed else weights[0] // groups) <= _FEW:
        most = _OF_KERNELS if of_kernels else _PLACES
    else:
        most = _SMALLEST if prod(weights) > _MANY else 0
    if prod(small) > most:
        return False
    there: dict[int, Access] = {}

    def value(shape: tuple, dtype: Any) -> Value:
        """A stand-in, of which the template asks shape and dtype."""
        found = SimpleNamespace(shape=shape, dtype=dtype, strides=dense(shape, dtype.itemsize))
        return Value(-1 - len(there), found)

    line = instruction.line
    sources = []
    for i in batched:
        turned = places[i].permuted((1, 2, 3, 0))
        c, h, w, _ = turned.shape
        args[i] = value((1, c, h, w * n), turned.dtype)
        there[args[i].number] = turned
        sources.append(args[i])
    if of_kernels:
        given, out = tuple(size), value(result.shape, result.dtype)
    else:
        given = size[0], size[1] * n
        out = value((1, result.shape[1], *given), result.dtype)
    steps = stride, (padding[0], padding[1] * n), (dilation[0], dilation[1] * n)
    turned_args = (*args[: len(arrays)], *steps, groups, given)
    constants = lowering.program.constants
    as_it_is = templates.call_for(instruction, constants)
    call = templates.call_for(Instruction(instruction.text, turned_args, {}, out, line), constants)
    if call is None or as_it_is is None or "winograd" in as_it_is.function:
        return False
    for x in sources:
        copy = lowering.temporary(there[x.number].shape, x.dtype)
        lowering.copy(there[x.number], copy, line)
        there[x.number] = copy

    def argument(x: Any) -> Any:
        if not hasattr(x, "number"):
            return x
        if x.number in there:
            return there[x.number]
        return lowering.dense(lowering.place(x), line)

    target = lowering.fresh(result)
    if of_kernels and target.is_dense:
        made = seen = target
    else:
        shape = out.shape if of_kernels else (*result.shape[1:], n)
        made = lowering.temporary(shape, result.dtype)
        seen = made if of_kernels else made.permuted((3, 0, 1, 2))
    arguments = [argument(x) for x in call.arguments]
    lowering.add(Call(call.function, arguments, [made], call.scratch, None, line, call.shared))
    if seen is not target:
        lowering.copy(seen, target, line)
    return True
