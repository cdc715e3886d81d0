"""Shapes and dtypes of the values of a graph, from a run with real inputs."""

from typing import Any, NamedTuple

import tapegrad as torch
from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.interpreter import Interpreter
from tapegrad.fx.node import Node, map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its numbers."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    formats = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)
    fitting: Any = None
    if include_contiguity:
        ranks = {torch.channels_last: 4, torch.channels_last_3d: 5}
        for each in formats:
            if ranks.get(each, result.ndim) == result.ndim and result.is_contiguous(
                memory_format=each
            ):
                fitting = each
                break
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), fitting, False, {}
    )


class ShapeProp(Interpreter):
    """Runs a graph, and notes in `meta["tensor_meta"]` of each node what its tensors are.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.passes.shape_prop import ShapeProp
    >>> traced = fx.symbolic_trace(lambda x: x.sum(dim=0))
    >>> _ = ShapeProp(traced).propagate(torch.ones(2, 3))
    >>> [node.meta["tensor_meta"].shape for node in traced.graph.nodes]
    [torch.Size([2, 3]), torch.Size([3]), torch.Size([3])]
    """

    def run_node(self, n: Node) -> Any:
        """The value of a node, noted in its `meta`."""
        result = super().run_node(n)
        found = False

        def note(value: Any) -> Any:
            nonlocal found
            if not isinstance(value, torch.Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        meta = map_aggregate(tuple(result) if _is_result(result) else result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """The result of the graph for these inputs."""
        return super().run(*args)


def _is_result(value: Any) -> bool:
    """Whether a value is one of `torch.return_types`, whose items are tensors."""
    return isinstance(value, tuple) and type(value).__module__.endswith("return_types")


__getattr__ = _refuses(__name__)
