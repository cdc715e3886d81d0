"""One call of a layer: what went through it, and what it has and does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, IntEnum

import numpy as np

import tapegrad
from tapegrad.core.annotations import Any, ModuleLike
from tapegrad.nn.parameter import is_lazy
from tapegrad.tensors.tensor import Tensor


class Mode(str, Enum):  # noqa: UP042  (StrEnum prints otherwise)
    """The mode the model is run in."""

    TRAIN = "train"
    EVAL = "eval"


class RowSettings(str, Enum):  # noqa: UP042
    """What is written in front of each row, and which rows there are."""

    DEPTH = "depth"
    VAR_NAMES = "var_names"
    ASCII_ONLY = "ascii_only"
    HIDE_RECURSIVE_LAYERS = "hide_recursive_layers"


class ColumnSettings(str, Enum):  # noqa: UP042
    """The columns after the name of the layer."""

    KERNEL_SIZE = "kernel_size"
    INPUT_SIZE = "input_size"
    OUTPUT_SIZE = "output_size"
    NUM_PARAMS = "num_params"
    PARAMS_PERCENT = "params_percent"
    MULT_ADDS = "mult_adds"
    TRAINABLE = "trainable"


class Units(str, Enum):  # noqa: UP042
    """The units of the totals."""

    AUTO = "auto"
    MEGABYTES = "M"
    GIGABYTES = "G"
    TERABYTES = "T"
    NONE = ""


class Verbosity(IntEnum):
    """How much is printed."""

    QUIET = 0
    DEFAULT = 1
    VERBOSE = 2


def size_of(value: object, batch_dim: int | None = None) -> tuple[list, int]:
    """The shape that stands for `value`, and the bytes of one of its elements.

    Of several tensors the first one stands for all, of a dict's the last one. Where `batch_dim`
    is given, that dimension is shown as 1.

    Args:
        value: what a layer was called with (a tuple) or what it returned.

    Raises:
        TypeError: a layer returned something that is no tensor and holds none.

    >>> from tapegrad.inspect.layer_info import size_of
    >>> size_of((torch.ones(2, 3), torch.ones(5)))
    ([2, 3], 4)
    >>> size_of({"loss": torch.ones(()), "logits": torch.ones(2, 10)})
    ([2, 10], 4)
    """
    if value is None:
        return [], 0
    if isinstance(value, Tensor | np.ndarray):
        return _first_size(value)
    if isinstance(value, dict):
        if not value:
            return [], 0
        shape, n_bytes = _first_size(list(value.values())[-1])
        if batch_dim is not None:
            shape = [[*shape[:batch_dim], 1, *shape[batch_dim + 1 :]]]
        return shape, n_bytes
    if isinstance(value, list | tuple):
        shape, n_bytes = _first_size(value)
        if batch_dim is not None and -len(shape) <= batch_dim < len(shape):
            shape[batch_dim] = 1
        return shape, n_bytes
    raise TypeError(
        "Model contains a layer with an unsupported input or output type: "
        f"{value}, type: {type(value)}"
    )


def _first_size(value):
    """The shape of the first tensor in `value`, and the bytes of one of its elements."""
    while True:
        if hasattr(value, "tensors"):
            value = value.tensors
        elif isinstance(value, Tensor):
            return list(value.shape), value.element_size()
        elif isinstance(value, np.ndarray):
            return list(value.shape), value.itemsize
        elif not hasattr(value, "__getitem__") or not value:
            return [], 0
        elif isinstance(value, dict):
            value = next(iter(value.values()))
        elif callable(getattr(value, "size", None)) and callable(
            getattr(value, "element_size", None)
        ):
            return list(value.size()), value.element_size()
        elif isinstance(value, list | tuple):
            value = value[0]
        else:
            return [], 0


def product(sizes: Iterable) -> int:
    """The product of numbers that may be nested: `[2, [3, 4]]` gives 24.

    >>> from tapegrad.inspect.layer_info import product
    >>> product([2, [3, 4]])
    24
    """
    result = 1
    for size in sizes:
        result *= product(size) if isinstance(size, Iterable) else size
    return result


class LayerInfo:
    """A row of the table of layers: a module and what is known of one call of it.

    Attributes:
        module, class_name, var_name, depth: the layer, its class, its name in the layer above it,
            and how many layers are above it.
        parent_info: the LayerInfo of the layer above it, None for the model itself.
        depth_index: its number among the rows of its depth.
        children: the rows below it.
        executed: whether its call has ended.
        is_leaf_layer, is_recursive, contains_lazy_param: whether there is no layer in it, an
            earlier row is of the same module, some of its parameters had no shape yet.
        input_size, output_size: the shapes, as lists.
        kernel_size: the module's `kernel_size` if it has one, as a list or an int.
        num_params, trainable_params, param_bytes: of all parameters in it; of a pruned one only the
            elements that are left count.
        output_bytes: bytes of the output.
        macs: multiplications followed by an addition, of the whole batch.
        inner_layers: for each parameter its name and its cells of the table.

    >>> from tapegrad.inspect.layer_info import LayerInfo
    >>> info = LayerInfo("fc", torch.nn.Linear(3, 4), depth=1, parent_info=None)
    >>> info, info.num_params
    (Linear: 1, 16)
    """

    def __init__(
        self, var_name: str, module: ModuleLike, depth: int, parent_info: LayerInfo | None
    ) -> None:
        self.layer_id = id(module)
        self.module = module
        self.class_name = type(module).__name__
        self.var_name, self.depth, self.parent_info = var_name, depth, parent_info
        self.depth_index: int | None = None
        self.children: list[LayerInfo] = []
        self.executed = False
        self.is_leaf_layer = not any(child is not None for child in module._modules.values())
        self.is_recursive = False
        self.input_size: list = []
        self.output_size: list = []
        self.kernel_size = _kernel_size(module)
        self.output_bytes = 0
        self.macs = 0
        self.count_parameters()

    def __repr__(self) -> str:
        return f"{self.class_name}: {self.depth}"

    @property
    def trainable(self) -> str:
        """`"True"`, `"False"` or `"Partial"`; `"--"` without parameters."""
        if self.num_params == 0:
            return "--"
        if self.trainable_params == 0:
            return "False"
        return "True" if self.trainable_params == self.num_params else "Partial"

    def count_parameters(self) -> None:
        """Set what is known of the parameters; those without a shape are left out."""
        self.num_params = self.trainable_params = self.param_bytes = 0
        self.inner_layers: dict[str, dict[str, str]] = {}
        parameters = list(self.module.named_parameters())
        self.contains_lazy_param = any(is_lazy(parameter) for _, parameter in parameters)
        for full_name, parameter in parameters:
            if is_lazy(parameter):
                continue
            name, count = _unpruned(self.module, full_name, parameter)
            self.num_params += count
            self.param_bytes += count * parameter.element_size()
            if parameter.requires_grad:
                self.trainable_params += count
            # Of the whole model, only what belongs to no layer in it is shown.
            if self.parent_info is not None or "." not in name:
                shape = list(parameter.shape)
                if name == "weight" and len(shape) > 1:
                    shape[:2] = shape[1], shape[0]  # (in, out, ...)
                self.inner_layers[name] = {
                    ColumnSettings.KERNEL_SIZE: str(shape),
                    ColumnSettings.NUM_PARAMS: f"├─{count:,}",
                }
        if self.inner_layers:
            last = next(reversed(self.inner_layers.values()))
            last[ColumnSettings.NUM_PARAMS] = last[ColumnSettings.NUM_PARAMS].replace("├", "└")

    def finish(self, inputs: Sequence, outputs: Sequence, batch_dim: int | None) -> None:
        """Set what is known when the call has ended."""
        if self.contains_lazy_param:
            self.count_parameters()
        self.input_size, _ = size_of(inputs, batch_dim)
        self.output_size, element_bytes = size_of(outputs, batch_dim)
        self.output_bytes = element_bytes * product(self.output_size)
        self.executed = True
        self.macs = sum(
            self._uses(name) * count
            for name, count in (
                _unpruned(self.module, name, parameter)
                for name, parameter in self.module.named_parameters()
            )
        )

    def _uses(self, name):
        """How many times each element of the parameter `name` is multiplied or added."""
        shape = self.output_size
        if name in ("weight", "bias"):
            if "Conv" in self.class_name:
                return product(shape[:1] + shape[2:])  # at each position, for one channel
            return product(shape[:1])
        if "weight" in name or "bias" in name:
            return product(shape[:2])  # a recurrent layer: for each sample, at each time
        return 0


def _kernel_size(module):
    size = getattr(module, "kernel_size", None)
    if size is None or isinstance(size, int):
        return size
    if isinstance(size, Iterable):
        return list(size)
    raise TypeError(f"kernel_size has an unexpected type: {type(size)}")


def _unpruned(module, name, parameter):
    """Name and number of elements of a parameter; where it is pruned, of what is left of it."""
    if name.endswith("_orig"):
        short = name.removesuffix("_orig")
        owner_name, _, last = short.rpartition(".")
        mask = getattr(module.get_submodule(owner_name), f"{last}_mask", None)
        if mask is not None:
            return short, int(mask.sum())
    return name, parameter.numel()


class LayerCalls:
    """The calls of the layers of `model`: a list of `LayerInfo`, `rows`, in their order.

    After a call that failed `failed` is the innermost layer that had begun.

    >>> from tapegrad.inspect.layer_info import LayerCalls
    >>> calls = LayerCalls(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()))
    >>> calls.run([torch.ones(2, 3)], {})
    >>> calls.rows
    [Sequential: 0, Linear: 1, ReLU: 1]
    """

    def __init__(self, model: ModuleLike, batch_dim: int | None = None) -> None:
        self.rows: list[LayerInfo] = []
        self.failed: LayerInfo | None = None
        self._model = model
        self._batch_dim = batch_dim
        self._seen: set[int] = set()  # ids of the modules that have a row
        self._latest: dict[int, LayerInfo] = {}  # the latest call of each module, by its id

    def list_layers(self) -> None:
        """A row for each layer in the order of the tree, without running anything."""
        for layer in self._tree():
            self._add(layer)
        self._number_rows()

    def run(self, inputs: Sequence, options: dict[str, Any]) -> None:
        """Call the model without recording a graph; `inputs` is a dict or a sequence."""
        hooks: dict[int, list] = {}
        try:
            for layer in self._tree():
                # A module that stands at several places goes by its last name.
                for hook in hooks.get(layer.layer_id, ()):
                    hook.remove()
                hooks[layer.layer_id] = [
                    layer.module.register_forward_pre_hook(self._before(layer)),
                    layer.module.register_forward_hook(self._after),
                ]
            with tapegrad.no_grad():
                if isinstance(inputs, dict):
                    self._model(**inputs, **options)
                else:
                    self._model(*inputs, **options)
        except BaseException:
            self.failed = next((row for row in reversed(self.rows) if not row.executed), None)
            raise
        finally:
            for pair in hooks.values():
                for hook in pair:
                    hook.remove()
            self._add_containers()
            self._number_rows()

    def _tree(self) -> Iterator[LayerInfo]:
        """Every place in the tree of modules, in order."""
        waiting = [LayerInfo(type(self._model).__name__, self._model, 0, None)]
        while waiting:
            layer = waiting.pop()
            yield layer
            below = [(name, m) for name, m in layer.module._modules.items() if m is not None]
            waiting += [LayerInfo(n, m, layer.depth + 1, layer) for n, m in reversed(below)]

    def _before(self, layer) -> Callable:
        def before(module, inputs):
            call = LayerInfo(layer.var_name, module, layer.depth, layer.parent_info)
            self._latest[call.layer_id] = call
            self._add(call)

        return before

    def _after(self, module, inputs, outputs):
        self._latest[id(module)].finish(inputs, outputs, self._batch_dim)

    def _add(self, row):
        row.is_recursive = row.layer_id in self._seen
        self._seen.add(row.layer_id)
        self.rows.append(row)

    def _add_containers(self):
        """Put a row for each layer that is never called (a ModuleList) above those in it."""
        calls, self.rows = self.rows, []
        open_: dict[int, LayerInfo] = {}  # by depth: the rows that the next may stand below
        for call in calls:
            for layer in _above(call):
                shown = open_.get(layer.depth)
                if shown is None or shown.module is not layer.module:
                    layer.count_parameters()  # those of lazy layers have shapes now
                    self._add(layer)
                    open_[layer.depth] = layer
            self.rows.append(call)
            open_ = {depth: layer for depth, layer in open_.items() if depth < call.depth}
            open_[call.depth] = call

    def _number_rows(self):
        """Set each row's number among those of its depth, and the rows below it."""
        count: dict[int, int] = {}
        for place, row in enumerate(self.rows):
            row.depth_index = count[row.depth] = count.get(row.depth, 0) + 1
            end = place + 1
            while end < len(self.rows) and self.rows[end].depth > row.depth:
                end += 1
            row.children = self.rows[place + 1 : end]


def _above(row):
    """The layers above `row`, outermost first, less the model itself."""
    layers = []
    while (row := row.parent_info) is not None:
        layers.append(row)
    return layers[-2::-1]
