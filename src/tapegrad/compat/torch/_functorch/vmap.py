"""`torch._functorch.vmap`: functions of whole batches."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import vmap
from tapegrad.utils._pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from tapegrad.utils._pytree import tree_flatten as tree_flatten
from tapegrad.utils._pytree import tree_map_ as tree_map_

__all__ = ["vmap"]

__getattr__ = _refuses(__name__)
