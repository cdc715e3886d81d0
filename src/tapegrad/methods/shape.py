"""Methods that change the shape."""

from tapegrad.ops import reduce


class ShapeMethods:
    """Shapes, views, reductions (their file is to come)."""

    __slots__ = ()
