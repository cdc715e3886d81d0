"""The table of layers that `from torchsummary import summary` prints."""

from math import prod

import tapegrad
from tapegrad import nn
from tapegrad.core import errors
from tapegrad.tensors.tensor import Tensor

_BYTES = 4  # the sizes are those of float32 numbers
_MEGABYTE = 2**20


def summary(model, input_size, batch_size: int = -1, device: str = "cuda") -> None:
    """Run random numbers through `model` and print a row for each layer that was called.

    The table is that of the package torchsummary, with more care in what it counts: all parameters
    of a layer, whatever they are called; in the totals, a parameter that is used twice once; the
    sum over several inputs or outputs. A model without layers is itself the only row.

    Args:
        model: the module; it is called once, in the mode it is in, on a batch of two.
        input_size: shape of one sample, or a list of shapes for a model with several inputs.
        batch_size: the first size to print, and the number of samples whose memory is reported.
        device: "cuda" (the CPU, where there is no GPU) or "cpu".

    Raises:
        AssertionError: `device` is neither "cuda" nor "cpu".
        Exception: what the model raises; a note has the table of the layers that ran.

    >>> summary(torch.nn.Linear(3, 4), (3,), device="cpu")  # doctest: +ELLIPSIS
    ----------------------------------------------------------------
            Layer (type)               Output Shape         Param #
    ================================================================
                Linear-1                    [-1, 4]              16
    ================================================================
    Total params: 16
    ...
    """
    sizes = list(input_size)
    if not sizes or isinstance(sizes[0], int):
        sizes = [input_size]
    rows = _run(model, sizes, batch_size, _device(device))
    print("\n".join([*_table(rows), *_totals(rows, sizes, batch_size)]))


def _device(name):
    name = str(name).lower()
    if name not in ("cuda", "cpu"):
        raise errors.assertion_error(
            "Input device is not valid, please specify 'cuda' or 'cpu'",
            f"The device given is {name!r}.",
        )
    return name if name == "cpu" or tapegrad.cuda.is_available() else "cpu"


def _run(model, sizes, batch_size, device):
    """Call `model` once; (layer, shapes of its output) for each of its layers as it is called."""
    rows = []
    layers = [layer for layer in model.modules() if layer is not model] or [model]
    containers = (nn.Sequential, nn.ModuleList)
    hooks = [
        layer.register_forward_hook(
            lambda layer, inputs, output: rows.append((layer, _shapes(output, batch_size)))
        )
        for layer in layers
        if not isinstance(layer, containers)
    ]
    try:
        model(*[tapegrad.rand(2, *size, device=device) for size in sizes])
    except Exception as error:
        error.add_note("\n".join(["The layers that ran:", *_table(rows), "-" * 64]))
        raise
    finally:
        for hook in hooks:
            hook.remove()
    return rows


def _shapes(output, batch_size):
    """The shape of each tensor in what a layer returned, the batch as the caller wants it."""
    if isinstance(output, Tensor):
        return [[batch_size, *output.shape[1:]] if output.ndim else []]
    if isinstance(output, dict):
        output = output.values()
    elif not isinstance(output, (tuple, list)):
        return []
    return [shape for each in output for shape in _shapes(each, batch_size)]


def _table(rows):
    yield "-" * 64
    yield f"{'Layer (type)':>20}  {'Output Shape':>25} {'Param #':>15}"
    yield "=" * 64
    for number, (layer, shapes) in enumerate(rows, start=1):
        name = f"{type(layer).__name__}-{number}"
        shape = str(shapes[0] if len(shapes) == 1 else shapes)
        n_parameters = sum(p.numel() for p in layer.parameters(recurse=False))
        yield f"{name:>20}  {shape:>25} {n_parameters:>15,}"


def _totals(rows, sizes, batch_size):
    parameters = {id(p): p for layer, _ in rows for p in layer.parameters(recurse=False)}
    total = sum(p.numel() for p in parameters.values())
    trainable = sum(p.numel() for p in parameters.values() if p.requires_grad)
    n_inputs = sum(prod(size) for size in sizes) * abs(batch_size)
    # An output is kept, and so is the gradient that comes back to it.
    n_outputs = 2 * sum(abs(prod(shape)) for _, shapes in rows for shape in shapes)
    inputs, outputs, weights = (n * _BYTES / _MEGABYTE for n in (n_inputs, n_outputs, total))
    yield "=" * 64
    yield f"Total params: {total:,}"
    yield f"Trainable params: {trainable:,}"
    yield f"Non-trainable params: {total - trainable:,}"
    yield "-" * 64
    yield f"Input size (MB): {inputs:0.2f}"
    yield f"Forward/backward pass size (MB): {outputs:0.2f}"
    yield f"Params size (MB): {weights:0.2f}"
    yield f"Estimated Total Size (MB): {inputs + outputs + weights:0.2f}"
    yield "-" * 64
