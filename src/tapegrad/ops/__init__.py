"""Operators: the public functions, one file for each family."""

from tapegrad.ops.create import *
from tapegrad.ops.activation import *
from tapegrad.ops.affine import *
from tapegrad.ops.product import *
from tapegrad.ops.reduce import *
from tapegrad.ops.logits import *
