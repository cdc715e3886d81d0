"""`functorch.experimental.control_flow`: branches and loops as functions of functions."""

from tapegrad.compat.torch._higher_order_ops import cond, map

__all__ = ["cond", "map"]
