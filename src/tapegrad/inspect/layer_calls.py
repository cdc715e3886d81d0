"""Running a model and writing down each call of a layer in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tapegrad
from tapegrad.inspect.layer_info import LayerInfo


class LayerCalls:
    """The calls of the layers of `model`: a list of `LayerInfo`, `rows`, in their order.

    After a call that failed `failed` is the innermost layer that had begun.

    >>> from tapegrad.inspect.layer_calls import LayerCalls
    >>> calls = LayerCalls(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()))
    >>> calls.run([torch.ones(2, 3)], {})
    >>> calls.rows
    [Sequential: 0, Linear: 1, ReLU: 1]
    """

    def __init__(self, model: Any, batch_dim: int | None = None) -> None:
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

    def run(self, inputs: Any, options: dict[str, Any]) -> None:
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
