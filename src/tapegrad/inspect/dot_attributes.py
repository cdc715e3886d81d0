"""What a node keeps, by the names that PyTorch's nodes have for it: `_saved_self`, `_saved_dim`.

The names of each node stand in `saved_names.txt`. A tensor that a node does not keep is None, as
one is that PyTorch's node does not need; an option that no rule here needs is left out.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor

# PyTorch's names and ours, where they are others: of any node, then of some.
_OURS = {"dim": "axis", "keepdim": "keepdims", "end": "stop", "dims": "axes", "p": "order"}
_OURS_OF = {
    "AddmmBackward0": {"mat1": "a", "mat2": "b"},
    "BmmBackward0": {"mat2": "b"},
    "MmBackward0": {"mat2": "b"},
    "MvBackward0": {"vec": "b"},
    "DotBackward0": {"tensor": "b"},
    "LinalgCrossBackward0": {"other": "b"},
    "CdistBackward0": {"x1": "a", "x2": "b"},
    "DiagonalBackward0": {"dim1": "a", "dim2": "b"},
    "EmbeddingBackward0": {"padding_idx": "padding", "scale_grad_by_freq": "by_frequency"},
    "FlipBackward0": {"dims": "axes"},
    "HardtanhBackward0": {"min_val": "low", "max_val": "high"},
    "LinalgInvExBackward0": {"inverse": "y"},
    "LinalgVectorNormBackward0": {"ord": "order"},
    "LinalgSvdBackward0": {"full_matrices": "full"},
    "MvlgammaBackward0": {"p": "p"},
    "NativeGroupNormBackward0": {"group": "groups"},
    "PixelShuffleBackward0": {"upscale_factor": "factor"},
    "PixelUnshuffleBackward0": {"downscale_factor": "factor"},
    "SelectBackward0": {"index": "index"},
    "SigmoidBackwardBackward0": {"grad_output": "grad", "output": "result"},
    "SqueezeBackward2": {"dim": "axes"},
    "SplitBackward0": {"split_size": "size"},
    "SplitWithSizesBackward0": {"split_sizes": "sizes"},
    "TanhBackwardBackward0": {"grad_output": "grad", "output": "result"},
    "TransposeBackward0": {"dim0": "a", "dim1": "b"},
    "TrilBackward0": {"diagonal": "k"},
    "TriuBackward0": {"diagonal": "k"},
    "UnfoldBackward0": {"dimension": "axis"},
}
_ALWAYS: dict[str, dict[str, Any]] = {  # of nodes whose operators here have no such option
    "AddBackward0": {"alpha": 1},
    "SubBackward0": {"alpha": 1},
    "RsubBackward1": {"alpha": 1},
    "EmbeddingBackward0": {"sparse": False},
    "GatherBackward0": {"sparse_grad": False},
}
_WINDOW: dict[str, Any] = {  # of a pooling, from its windows along an axis
    "kernel_size": lambda window: window.n_lanes,
    "stride": lambda window: int(window.start[1] - window.start[0]),
    "padding": lambda window: int(-window.start[0]),
    "dilation": lambda window: window.dilation,
}
_REDUCTION = {"none": 0, "mean": 1, "sum": 2}  # as PyTorch's nodes have them
_NUMBERS = {"MulBackward0", "DivBackward0"}  # which keep numbers as tensors
_ABSENT = object()


@lru_cache(maxsize=1)
def _names() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "saved_names.txt").read_text(encoding="utf-8")
    return {node: names for node, *names in map(str.split, text.splitlines())}


def attributes(node: Any) -> dict[str, Any]:
    """What the node of an operator keeps; nothing once that is freed.

    >>> from tapegrad.inspect.dot_attributes import attributes
    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> attributes(x.sum(1).grad_fn)
    {'dim': (1,), 'keepdim': False, 'self_sym_sizes': (2, 3)}
    """
    plan: Any = getattr(node, "plan", None)
    op = getattr(plan, "op", None)
    if op is None or node.saved is None or not hasattr(plan, "saves"):
        return {}
    kept = _Kept(node, plan, op)
    names = _names().get(type(node).__name__)
    if names is None:  # a node that PyTorch does not have
        names = [name for where, _, name in plan.saves if not where.startswith("like")]
    found = {name: kept.find(name) for name in sorted(names)}
    return {name: value for name, value in found.items() if value is not _ABSENT}


class _Kept:
    """What one node keeps, found by PyTorch's names."""

    def __init__(self, node: Any, plan: Any, op: Any):
        self.op = op
        self.kind = type(node).__name__
        self.sent = {op.inputs[i] for i, _ in plan.rules} if not op.variadic else set()
        self.shapes: dict[str, tuple] = {}  # of inputs of which only that is kept
        self.values: dict[str, Any] = {}
        for i, (where, _, name) in enumerate(plan.saves):
            if where == "like":
                self.shapes[name.removesuffix("_like")] = tuple(node.saved[i].shape)
            elif where != "input_metadata":
                self.values[name] = plan.tensor_at(node, i)

    def find(self, name: str) -> Any:
        if name == "self_sym_numel":
            shape = self._shape(self._own("self"))
            return _ABSENT if shape is _ABSENT else math.prod(shape)
        for ending, look in (("_sym_sizes", self._shape), ("_sym_strides", self._strides)):
            base, found, rest = name.partition(ending)
            if found and rest in ("", "_opt"):
                return look(self._own(base))
        base, found, axis = name.partition("_sym_argsize_")
        if found:
            shape = self._shape(self._own(base))
            return shape if shape is _ABSENT else shape[int(axis.replace("minus_", "-"))]
        own = self._own(name)
        if own in self.values:
            return self._as_there(name, self.values[own])
        windows = self.values.get("windows")
        if name in _WINDOW and windows and all(w.n_out > 1 for w in windows):
            return tuple(_WINDOW[name](w) for w in windows)
        if name in _ALWAYS.get(self.kind, ()):
            return _ALWAYS[self.kind][name]
        return None if own in self._tensors() else _ABSENT

    def _tensors(self) -> set[str]:
        return {*self.op.inputs, *(self.op.output_names or ()), "y"}

    def _own(self, name: str) -> str:
        """Our name for one of PyTorch's."""
        op = self.op
        special = _OURS_OF.get(self.kind, {}).get(name)
        if special is not None:
            return special
        if name in ("self", "input") and name not in op.inputs and not op.variadic:
            return op.inputs[0]
        if name == "other" and name not in op.inputs and len(op.inputs) > 1:
            return op.inputs[1]
        if name == "result" or (name.startswith("result") and name[6:].isdigit()):
            outputs = op.output_names or ("y",)
            i = int(name[6:] or 0)
            return outputs[i] if i < len(outputs) else name
        known = {*self.values, *op.inputs, *op.params}
        if name not in known and name == "dim" and "axes" in known:
            return "axes"
        return name if name in known else _OURS.get(name, name)

    def _shape(self, own: str) -> Any:
        value = self.values.get(own)
        if isinstance(value, Tensor):
            return tuple(value.shape)
        return self.shapes.get(own, _ABSENT)

    def _strides(self, own: str) -> Any:
        if own in self.op.inputs and own not in self.sent:
            return ()  # they are for the gradient of that input, which nobody wants
        value = self.values.get(own)
        return tuple(value.stride()) if isinstance(value, Tensor) else _ABSENT

    def _as_there(self, name: str, value: Any) -> Any:
        """A value in PyTorch's words for it."""
        if name == "reduction":
            return _REDUCTION.get(value, value)
        if name == "ignore_index" and value is None:
            return -100
        if self.kind in _NUMBERS and isinstance(value, (int, float, complex)):
            return wrap(np.array(value))
        return value
