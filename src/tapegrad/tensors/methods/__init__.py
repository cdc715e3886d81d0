"""The methods of `Tensor`, one mixin for each family of operators."""

from tapegrad.tensors.methods.arithmetic import ArithmeticMethods
from tapegrad.tensors.methods.comparison import CompareMethods
from tapegrad.tensors.methods.convert import ConvertMethods
from tapegrad.tensors.methods.indexing import IndexMethods
from tapegrad.tensors.methods.linalg import LinalgMethods
from tapegrad.tensors.methods.metadata import QueryMethods
from tapegrad.tensors.methods.pointwise import ElementwiseMethods
from tapegrad.tensors.methods.random import RandomMethods
from tapegrad.tensors.methods.reduction import ReduceMethods
from tapegrad.tensors.methods.shape import ShapeMethods
from tapegrad.tensors.methods.to_type import CastMethods


class Methods(
    ArithmeticMethods,
    CastMethods,
    CompareMethods,
    ConvertMethods,
    ElementwiseMethods,
    IndexMethods,
    LinalgMethods,
    QueryMethods,
    RandomMethods,
    ReduceMethods,
    ShapeMethods,
):
    """All methods that are operators."""

    __slots__ = ()
