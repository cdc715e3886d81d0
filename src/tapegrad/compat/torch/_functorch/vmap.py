"""`torch._functorch.vmap`: functions of whole batches."""

from tapegrad.compat.torch._C._functorch import _add_batch_dim as _add_batch_dim
from tapegrad.compat.torch._C._functorch import _batch_at
from tapegrad.core.annotations import Any, Dim
from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import vmap
from tapegrad.func.vmap import left as _left
from tapegrad.tensors.tensor import Tensor as Tensor
from tapegrad.utils._pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from tapegrad.utils._pytree import tree_flatten as tree_flatten
from tapegrad.utils._pytree import tree_map_ as tree_map_
from tapegrad.utils._pytree import tree_unflatten as tree_unflatten

__all__ = ["vmap"]


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: Dim
) -> Any:
    """What a function called `name` gives, outside of a running `vmap`."""

    def function() -> None: ...

    function.__name__ = name
    return _left(function, batched_output, out_dim, _batch_at(vmap_level))


__getattr__ = _refuses(__name__)
