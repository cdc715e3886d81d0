"""Operators: the public functions, one file for each family."""

from tapegrad.ops.create import *
