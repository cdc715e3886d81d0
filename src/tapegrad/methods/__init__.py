"""The methods of `Tensor`, one mixin for each family of operators."""

from tapegrad.methods.arithmetic import ArithmeticMethods
from tapegrad.methods.compare import CompareMethods
from tapegrad.methods.complex_part import ComplexMethods
from tapegrad.methods.elementwise import ElementwiseMethods
from tapegrad.methods.index import IndexMethods
from tapegrad.methods.linalg import LinalgMethods
from tapegrad.methods.random import RandomMethods
from tapegrad.methods.reduce import ReduceMethods
from tapegrad.methods.shape import ShapeMethods


class Methods(
    ArithmeticMethods,
    CompareMethods,
    ComplexMethods,
    ElementwiseMethods,
    IndexMethods,
    LinalgMethods,
    RandomMethods,
    ReduceMethods,
    ShapeMethods,
):
    """All methods that are operators."""

    __slots__ = ()
