"""The methods of `Tensor`, one mixin for each family of operators."""

from tapegrad.methods.arithmetic import ArithmeticMethods
from tapegrad.methods.cast import CastMethods
from tapegrad.methods.compare import CompareMethods
from tapegrad.methods.complex_part import ComplexMethods
from tapegrad.methods.convert import ConvertMethods
from tapegrad.methods.create import CreateMethods
from tapegrad.methods.elementwise import ElementwiseMethods
from tapegrad.methods.factor import FactorMethods
from tapegrad.methods.index import IndexMethods
from tapegrad.methods.linalg import LinalgMethods
from tapegrad.methods.query import QueryMethods
from tapegrad.methods.random import RandomMethods
from tapegrad.methods.reduce import ReduceMethods
from tapegrad.methods.shape import ShapeMethods
from tapegrad.methods.signal import SignalMethods
from tapegrad.methods.statistics import StatisticsMethods


class Methods(
    ArithmeticMethods,
    CastMethods,
    CompareMethods,
    ComplexMethods,
    ConvertMethods,
    CreateMethods,
    ElementwiseMethods,
    FactorMethods,
    IndexMethods,
    LinalgMethods,
    QueryMethods,
    RandomMethods,
    ReduceMethods,
    ShapeMethods,
    SignalMethods,
    StatisticsMethods,
):
    """All methods that are operators."""

    __slots__ = ()
