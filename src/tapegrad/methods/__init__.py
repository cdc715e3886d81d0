"""The methods of `Tensor`, one mixin for each family of operators."""

from tapegrad.methods.elementwise import ElementwiseMethods
from tapegrad.methods.shape import ShapeMethods


class Methods(ElementwiseMethods, ShapeMethods):
    """All methods that are operators."""

    __slots__ = ()
