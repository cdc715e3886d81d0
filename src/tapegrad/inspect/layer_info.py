"""One call of a layer: what went through it, and what it has and does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapegrad.inspect.choices import ColumnSettings
from tapegrad.inspect.nested_size import product, size_of
from tapegrad.nn.uninitialized import is_lazy


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
        self, var_name: str, module: Any, depth: int, parent_info: LayerInfo | None
    ) -> None:
        self.layer_id = id(module)
        self.module = module
        self.class_name = type(module).__name__
        self.var_name = var_name
        self.depth = depth
        self.parent_info = parent_info
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

    def finish(self, inputs: Any, outputs: Any, batch_dim: int | None) -> None:
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
