"""Operators: the public functions, one file for each family."""

from tapegrad.ops.create import *
from tapegrad.ops.activation import *
from tapegrad.ops.affine import *
from tapegrad.ops.product import *
from tapegrad.ops.reduce import *
from tapegrad.ops.logits import *
from tapegrad.ops.arithmetic import *
from tapegrad.ops.combine import *
from tapegrad.ops.compare import *
from tapegrad.ops.division import *
from tapegrad.ops.exponential import *
from tapegrad.ops.extremum import *
from tapegrad.ops.logistic import *
from tapegrad.ops.power import *
from tapegrad.ops.rounding import *
from tapegrad.ops.select import *
from tapegrad.ops.trigonometry import *
