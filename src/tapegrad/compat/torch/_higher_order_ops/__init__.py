"""`torch._higher_order_ops`: branches and loops as functions of functions.

They run the functions that they are given, as Python's `if` and `for` would: what is
differentiable in these is differentiable, any number of times, under `vmap` and `jvp` too.
"""

from tapegrad.compat.torch._higher_order_ops.associative_scan import associative_scan
from tapegrad.compat.torch._higher_order_ops.cond import cond
from tapegrad.compat.torch._higher_order_ops.map import map
from tapegrad.compat.torch._higher_order_ops.scan import scan
from tapegrad.compat.torch._higher_order_ops.while_loop import while_loop
from tapegrad.core.missing import refuses as _refuses

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]

__getattr__ = _refuses(__name__)
