"""Convolutions of batches of small images: of one image, whose columns are those of all of them.

With the batch as its last axis a row of pixels is as long as a row of an image times the batch, and
lies in one piece. A step of one pixel is then one of so many columns as there are images.
"""

from math import prod
from types import SimpleNamespace

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.c_backend import templates
from tapegrad.compiler.c_backend.convolution import convolution_of
from tapegrad.compiler.c_backend.ir import Access, Call, dense
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_IMAGES = 2  # at least
_PLACES, _OF_KERNELS = 64, 1024  # at most, for images and for gradients of kernels
_FEW = 8  # channels of a group: vectors are places then, which small images have too few of


def lower_small_conv(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.convolve` and its gradients, of groups of few channels, with steps of one."""
    of = convolution_of(lowering, instruction)
    if of is None or of.groups == 1 or of.n < _IMAGES or len(of.size) != 2 or set(of.stride) != {1}:
        return False
    channels = of.kernels[1] if of.is_transposed else of.kernels[0] // of.groups
    most = _OF_KERNELS if of.gives_kernels else _PLACES
    if channels > _FEW or prod(of.places) > most:
        return False
    args, places, n, result = list(instruction.args), of.arguments, of.n, of.result
    there: dict[int, Access] = {}

    def value(shape: tuple, dtype: Any) -> Value:
        """A stand-in, of which the template asks shape and dtype."""
        found = SimpleNamespace(shape=shape, dtype=dtype, strides=dense(shape, dtype.itemsize))
        return Value(-1 - len(there), found)

    line = of.line
    sources = []
    for i in (0, 1) if of.gives_kernels else (0,):  # which arguments are batches of images
        images = places[i].permuted((1, 2, 3, 0))
        c, h, w, _ = images.shape
        args[i] = value((1, c, h, w * n), images.dtype)
        there[args[i].number] = images
        sources.append(args[i])
    if of.gives_kernels:
        given, out = of.size, value(result.shape, result.dtype)
    else:
        given = of.size[0], of.size[1] * n
        out = value((1, result.shape[1], *given), result.dtype)
    padding, dilation = of.padding, of.dilation
    steps = of.stride, (padding[0], padding[1] * n), (dilation[0], dilation[1] * n)
    turned_args = (*args[: len(places)], *steps, of.groups, given)
    turned = Instruction(of.text, turned_args, {}, out, line)
    call = templates.call_for(turned, lowering.program.constants)
    if call is None:
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
    if of.gives_kernels and target.is_dense:
        made = seen = target
    else:
        shape = out.shape if of.gives_kernels else (*result.shape[1:], n)
        made = lowering.temporary(shape, result.dtype)
        seen = made if of.gives_kernels else made.permuted((3, 0, 1, 2))
    arguments = [argument(x) for x in call.arguments]
    lowering.add(Call(call.function, arguments, [made], call.scratch, None, line, call.shared))
    if seen is not target:
        lowering.copy(seen, target, line)
    return True
