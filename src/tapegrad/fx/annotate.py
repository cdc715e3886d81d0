"""`torch.fx.annotate.annotate`: say of what type a traced value is."""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.fx.proxy import Proxy


def annotate(val: Any, type: Any) -> Any:
    """`val`; while tracing, its node is annotated with `type`.

    Raises: RuntimeError where the node is annotated already.

    >>> from tapegrad import fx
    >>> from tapegrad.fx.annotate import annotate
    >>> traced = fx.symbolic_trace(lambda x: annotate(x.size(0), int) + 1)
    >>> print(traced.code.strip())
    def forward(self, x):
        size : int = x.size(0);  x = None
        add = size + 1;  size = None
        return add
    """
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                "Tried to annotate a value that already had a type on it! Existing type is "
                f"{val.node.type} and new type is {type}. This could happen if you tried to "
                "annotate a function parameter value (in which case you should use the type slot "
                "on the function signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val


__getattr__ = _refuses(__name__)
