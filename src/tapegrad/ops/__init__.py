"""Operators: the public functions, one file for each family."""

from types import ModuleType as _Module

from tapegrad.ops.affine import *
from tapegrad.ops.along import *
from tapegrad.ops.arithmetic import *
from tapegrad.ops.assign import *
from tapegrad.ops.axis import *
from tapegrad.ops.borrow import *
from tapegrad.ops.choice import *
from tapegrad.ops.combine import *
from tapegrad.ops.compare import *
from tapegrad.ops.complex_part import *
from tapegrad.ops.contraction import *
from tapegrad.ops.copy import *
from tapegrad.ops.create import *
from tapegrad.ops.data import *
from tapegrad.ops.division import *
from tapegrad.ops.expand import *
from tapegrad.ops.exponential import *
from tapegrad.ops.export import *
from tapegrad.ops.extremum import *
from tapegrad.ops.filling import *
from tapegrad.ops.flat import *
from tapegrad.ops.fold import *
from tapegrad.ops.gaussian import *
from tapegrad.ops.interval import *
from tapegrad.ops.join import *
from tapegrad.ops.laid_out import *
from tapegrad.ops.leftover import *
from tapegrad.ops.length import *
from tapegrad.ops.like import *
from tapegrad.ops.logic import *
from tapegrad.ops.logistic import *
from tapegrad.ops.logits import *
from tapegrad.ops.lookup import *
from tapegrad.ops.mask import *
from tapegrad.ops.memory import *
from tapegrad.ops.number import *
from tapegrad.ops.order import *
from tapegrad.ops.partition import *
from tapegrad.ops.patch import *
from tapegrad.ops.peak import *
from tapegrad.ops.plane import *
from tapegrad.ops.polar import *
from tapegrad.ops.power import *
from tapegrad.ops.product import *
from tapegrad.ops.query import *
from tapegrad.ops.random_choice import *
from tapegrad.ops.random_coin import *
from tapegrad.ops.random_like import *
from tapegrad.ops.random_make import *
from tapegrad.ops.random_sample import *
from tapegrad.ops.rectifier import *
from tapegrad.ops.reduce import *
from tapegrad.ops.reduction import *
from tapegrad.ops.repeat import *
from tapegrad.ops.rounding import *
from tapegrad.ops.scan import *
from tapegrad.ops.scattering import *
from tapegrad.ops.section import *
from tapegrad.ops.shape import *
from tapegrad.ops.slice import *
from tapegrad.ops.spacing import *
from tapegrad.ops.special_function import *
from tapegrad.ops.stride import *
from tapegrad.ops.triangle import *
from tapegrad.ops.trigonometry import *
from tapegrad.ops.turn import *
from tapegrad.ops.typed import *
from tapegrad.ops.variance import *
from tapegrad.ops.view_copy import *
from tapegrad.ops.write import *

# The functions, not the files they are in, which are attributes of this package, too.
__all__ = [n for n, value in globals().items() if n[0] != "_" and type(value) is not _Module]


def __getattr__(name: str) -> object:
    """`torch.ops.aten`: the names of operators, on first use."""
    if name == "aten":
        from tapegrad.overload import aten

        return aten
    from tapegrad.missing import missing

    raise missing(__name__, name)
