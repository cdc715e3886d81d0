"""`torch._functorch.vmap`: functions of whole batches; three of its steps may be replaced."""

import sys
from types import ModuleType

from tapegrad.compat.torch._C._functorch import _add_batch_dim as _add_batch_dim
from tapegrad.compat.torch._C._functorch import _batch_at
from tapegrad.compat.torch._C._functorch import _remove_batch_dim as _remove_batch_dim
from tapegrad.core.annotations import Any, Dim
from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import vmap
from tapegrad.func.vmap import REPLACEABLE, REPLACED, name_of
from tapegrad.func.vmap import left as _left
from tapegrad.tensors.tensor import Tensor as Tensor
from tapegrad.utils._pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from tapegrad.utils._pytree import tree_flatten as tree_flatten
from tapegrad.utils._pytree import tree_map_ as tree_map_
from tapegrad.utils._pytree import tree_unflatten as tree_unflatten

__all__ = ["vmap"]

_get_name = name_of


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: Dim
) -> Any:
    """What a function called `name` gives, outside of a running `vmap`."""
    return _left(name, batched_output, out_dim, _batch_at(vmap_level))


class _Replaceable(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in REPLACEABLE:
            REPLACED[name] = value

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        REPLACED.pop(name, None)


sys.modules[__name__].__class__ = _Replaceable

__getattr__ = _refuses(__name__)
