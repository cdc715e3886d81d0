"""The layers of a model in a table: sizes, parameters, multiply-adds, bytes."""

import dis
import linecache
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

import numpy as np

import tapegrad
from tapegrad.core.annotations import Any, DeviceLike, ModuleLike
from tapegrad.inspect.layer_info import ColumnSettings, LayerCalls, LayerInfo, Mode, RowSettings
from tapegrad.inspect.model_statistics import ModelStatistics
from tapegrad.nn.utils.rnn import PackedSequence
from tapegrad.tensors.tensor import Tensor

_STORAGE_BYTES = 64  # counted with the elements of each memory: Python's part of it in PyTorch


def random_inputs(
    sizes: list, batch_dim: int | None, dtypes: list | None, device: DeviceLike
) -> list:
    """A tensor of random numbers for each size.

    >>> from tapegrad.inspect.summary import random_inputs
    >>> [x.shape for x in random_inputs([(3,), (4, 5)], 0, None, "cpu")]
    [torch.Size([1, 3]), torch.Size([1, 4, 5])]
    """
    inputs = []
    for size, dtype in zip(sizes, dtypes or [tapegrad.float32] * len(sizes), strict=False):
        x = tapegrad.rand(*size)
        if batch_dim is not None:
            x = x.unsqueeze(batch_dim)
        inputs.append(x.to(device).type(dtype))
    return inputs


def list_of_sizes(input_size: Any) -> list:
    """`input_size`, which may be one size or several, as a list of sizes.

    >>> from tapegrad.inspect.summary import list_of_sizes
    >>> list_of_sizes((2, 3)), list_of_sizes([2, 3]), list_of_sizes([(2, 3), (5,)])
    ([(2, 3)], [(2, 3)], [(2, 3), (5,)])
    """
    if not isinstance(input_size, list | tuple):
        raise TypeError(
            "Input_size is not a recognized type. Please ensure input_size is valid.\n"
            "For multiple inputs to the network, ensure input_size is a list of tuple sizes. "
            "If you are having trouble here, please submit a GitHub issue."
        )
    if not input_size or any(size <= 0 for size in _flat(input_size)):
        raise ValueError("Input_data is invalid, or negative size found in input_data.")
    if isinstance(input_size, list):
        return [tuple(input_size)] if isinstance(input_size[0], int) else input_size
    return list(input_size) if isinstance(input_size[0], tuple) else [input_size]


def moved(data: object, device: DeviceLike) -> Any:
    """`data` with every tensor in it on `device`; as it is for None.

    >>> from tapegrad.inspect.summary import moved
    >>> moved({"x": [torch.ones(1), "text"]}, "cpu")
    {'x': [tensor([1.]), 'text']}
    """
    if device is None or isinstance(data, str | bytes | np.ndarray):
        return data
    if isinstance(data, Tensor | PackedSequence):
        return data.to(device)
    rebuilt: Any = type(data)
    if isinstance(data, Mapping):
        return rebuilt({key: moved(value, device) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return rebuilt(*(moved(each, device) for each in data))
    if isinstance(data, list | tuple):
        return rebuilt([moved(each, device) for each in data])
    return data


def sizes_of(data: object) -> Any:
    """`data` with the size of each tensor and NumPy array in it.

    >>> from tapegrad.inspect.summary import sizes_of
    >>> sizes_of([torch.ones(2, 3), {"n": 4}])
    [torch.Size([2, 3]), {'n': 4}]
    """
    if isinstance(data, Tensor | np.ndarray):
        return tapegrad.Size(data.shape)
    if isinstance(data, Mapping):
        return {key: sizes_of(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return (list if isinstance(data, list) else tuple)([sizes_of(each) for each in data])
    return data


def bytes_of(data: object) -> int:
    """The bytes of the memory that the tensors and NumPy arrays in `data` stand in.

    >>> from tapegrad.inspect.summary import bytes_of
    >>> bytes_of([torch.ones(2, 3), "text"])
    88
    """
    if isinstance(data, np.ndarray):
        data = tapegrad.from_numpy(data)
    if isinstance(data, Tensor):
        return data.untyped_storage().nbytes() + _STORAGE_BYTES
    if isinstance(data, Mapping):
        data = data.values()
    elif not isinstance(data, list | tuple):
        return 0
    return sum(bytes_of(each) for each in data)


def _flat(sizes):
    for size in sizes:
        if isinstance(size, list | tuple):
            yield from _flat(size)
        else:
            yield size


@contextmanager
def in_mode(model: ModuleLike, training: bool) -> Iterator[None]:
    """A block in which `model` and all layers in it are in training or in evaluation mode.

    >>> from tapegrad.inspect.summary import in_mode
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


_NEEDS_INPUT = {ColumnSettings.INPUT_SIZE, ColumnSettings.OUTPUT_SIZE, ColumnSettings.MULT_ADDS}

_cached: dict[str, list[LayerInfo]] = {}  # by the name of the model's class


def summary(
    model: ModuleLike,
    input_size: Any = None,
    input_data: Any = None,
    batch_dim: int | None = None,
    cache_forward_pass: bool | None = None,
    col_names: Iterable[str] | None = None,
    col_width: int = 25,
    depth: int = 3,
    device: DeviceLike = None,
    dtypes: list | None = None,
    mode: str | None = None,
    row_settings: Iterable[str] | None = None,
    verbose: int | None = None,
    **kwargs: object,
) -> ModelStatistics:
    """Run a model once and print a row for each call of a layer: torchinfo's table.

    Without `input_size` and `input_data` nothing is run and the layers are listed as they stand in
    the model. `tapegrad.inspect.torchsummary.summary` prints torchsummary's table instead.

    Args:
        model: the module; afterwards every layer of it is in the mode it was in.
        input_size: shape of the input with its batch, or a list of shapes, one for each input. A
            tensor here is `input_data`.
        input_data: the input itself, a list of inputs, or a dict of inputs by name.
        batch_dim: `input_size` leaves out the batch: put one of 1 here. Sizes show 1 there.
        cache_forward_pass: keep the rows for the next model of a class of this name.
        col_names: of "input_size", "output_size", "num_params", "params_percent", "kernel_size",
            "mult_adds", "trainable"; by default output sizes and parameters.
        col_width: characters of a column.
        depth: how many layers within each other are shown.
        device: where to run; by default where the model is.
        dtypes: of the inputs that `input_size` makes, float32 by default.
        mode: "eval" (the default) or "train".
        row_settings: of "depth" (the default), "var_names", "ascii_only",
            "hide_recursive_layers".
        verbose: 0 prints nothing, 1 the table, 2 parameters as well; by default 1, and 0 where
            Python is interactive and shows the result by itself, and inside `print()`.
        kwargs: further arguments of the model, by name.

    Returns:
        The totals and rows; `str` of it is the table.

    Raises:
        ValueError: an unknown column, row setting, mode or verbosity; a column that needs an input
            where there is none; a size that is not positive.
        RuntimeError: both kinds of input are given; or the model failed: the message lists the
            layers that ran, a note names the one that failed and has their table.

    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    >>> result = summary(model, (2, 3), col_names=("output_size", "num_params", "mult_adds"),
    ...     col_width=12)
    ============================================================================
    Layer (type:depth-idx)                   Output Shape Param #      Mult-Adds
    ============================================================================
    Sequential                               [2, 4]       --           --
    ├─Linear: 1-1                            [2, 4]       16           32
    ├─ReLU: 1-2                              [2, 4]       --           --
    ============================================================================
    Total params: 16
    Trainable params: 16
    Non-trainable params: 0
    Total mult-adds (Units.MEGABYTES): 0.00
    ============================================================================
    Input size (MB): 0.00
    Forward/backward pass size (MB): 0.00
    Params size (MB): 0.00
    Estimated Total Size (MB): 0.00
    ============================================================================
    """
    if isinstance(input_size, Tensor) and input_data is None:
        input_size, input_data = None, input_size
    columns = _columns(col_names, (input_size is not None or input_data is not None))
    settings = {
        RowSettings(name) for name in (("depth",) if row_settings is None else row_settings)
    }
    mode = Mode.EVAL if mode is None else Mode(mode)
    if verbose is None:
        shown = getattr(sys, "ps1", None) or _is_printed(sys._getframe(1))
        verbose = 0 if shown else 1
    if device is not None:
        device = tapegrad.device(device)
    elif input_data is None:
        device = _device_of(model)
    _check(input_size, input_data, columns, col_width, verbose)

    sizes: Any = []
    inputs: Any = None
    if input_size is not None:
        sizes = list_of_sizes(input_size)
        inputs = random_inputs(sizes, batch_dim, dtypes, device)
    elif input_data is not None:
        sizes = sizes_of(input_data)
        inputs = moved(input_data, device)
        if isinstance(inputs, Tensor | np.ndarray | PackedSequence):
            inputs = [inputs]
    look = {"columns": columns, "row_settings": settings, "width": col_width, "depth": depth}
    look["verbose"] = verbose
    name = type(model).__name__
    if cache_forward_pass and name in _cached:
        rows = _cached[name]
    else:
        calls = LayerCalls(model, batch_dim)
        if inputs is None:
            calls.list_layers()
        else:
            _run(model, calls, inputs, moved(kwargs, device), device, mode, look)
        rows = calls.rows
        if cache_forward_pass and inputs is not None:
            _cached[name] = rows
    result = ModelStatistics(rows, sizes, bytes_of(inputs), **look)
    if verbose:
        print(result)
    return result


def _is_printed(frame: FrameType) -> bool:
    """Whether what the call under way in `frame` gives is the one argument of `print`."""
    steps = dis.get_instructions(frame.f_code)
    following = [step for step in steps if step.offset > frame.f_lasti][:1]
    for step in following:
        place = step.positions
        if step.opname in ("PRECALL", "CALL") and step.arg == 1 and place and place.lineno:
            line = linecache.getline(frame.f_code.co_filename, place.lineno).encode()
            return line[place.col_offset :].startswith(b"print(")
    return False


def _run(model, calls, inputs, options, device, mode, look):
    """Call the model in `mode`; where it fails, say how far it came."""
    try:
        if not isinstance(inputs, list | tuple | dict):
            raise ValueError("Unknown input type")
        with in_mode(model, mode == Mode.TRAIN):
            if device is not None:
                model.to(device)
            calls.run(inputs, options)
    except Exception as error:
        ran = [row for row in calls.rows if row.executed]
        failure = RuntimeError(
            "Failed to run torchinfo. See above stack traces for more details. "
            f"Executed layers up to: {ran}"
        )
        if calls.failed is not None:
            table = ModelStatistics(calls.rows, [], 0, **look)
            failure.add_note(f"{_path(calls.failed)} failed. The layers up to it:\n{table}")
        raise failure from error


def _path(layer):
    """How to say which layer is meant: its class and its name from the model on."""
    names = []
    above = layer
    while above.parent_info is not None:
        names.append(above.var_name)
        above = above.parent_info
    called = f"{layer.class_name}({layer.module.extra_repr()})"
    return f"{'.'.join(reversed(names))}, {called}," if names else called


def _columns(names, has_input):
    if names is not None:
        return tuple(ColumnSettings(name) for name in names)
    if has_input:
        return (ColumnSettings.OUTPUT_SIZE, ColumnSettings.NUM_PARAMS)
    return (ColumnSettings.NUM_PARAMS,)


def _device_of(model):
    """The device of the model's first parameter; without one, a GPU if there is one."""
    parameter = next(iter(model.parameters()), None)
    if parameter is not None and parameter.is_cuda:
        return parameter.device
    return tapegrad.device("cuda" if tapegrad.cuda.is_available() else "cpu")


def _check(input_size, input_data, columns, col_width, verbose):
    if col_width <= 0:
        raise ValueError(f"Column width must be greater than 0: col_width={col_width}")
    if verbose not in (0, 1, 2):
        raise ValueError("Verbose must be either 0 (quiet), 1 (default), or 2 (verbose).")
    if input_size is not None and input_data is not None:
        raise RuntimeError("Only one of (input_data, input_size) should be specified.")
    refused = set(columns) & _NEEDS_INPUT
    if input_size is None and input_data is None and refused:
        raise ValueError(
            f"You must pass input_data or input_size in order to use columns: {refused}"
        )
