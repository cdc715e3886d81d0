"""Operators: the public functions, one file for each family."""

from types import ModuleType as _Module

from tapegrad.operators.conversion.item_numpy_tolist import *
from tapegrad.operators.conversion.metadata import *
from tapegrad.operators.creation.arange import *
from tapegrad.operators.creation.empty_strided import *
from tapegrad.operators.creation.from_numpy import *
from tapegrad.operators.creation.legacy_constructor import *
from tapegrad.operators.creation.like import *
from tapegrad.operators.creation.linspace import *
from tapegrad.operators.creation.tensor import *
from tapegrad.operators.creation.zeros_eye import *
from tapegrad.operators.indexing.copy_fill import *
from tapegrad.operators.indexing.gather_index_select import *
from tapegrad.operators.indexing.index_add import *
from tapegrad.operators.indexing.masked_select_nonzero import *
from tapegrad.operators.indexing.scatter import *
from tapegrad.operators.indexing.scatter_reduce import *
from tapegrad.operators.indexing.setitem import *
from tapegrad.operators.indexing.take_put import *
from tapegrad.operators.linalg.addmm_linear import *
from tapegrad.operators.linalg.einsum_tensordot import *
from tapegrad.operators.linalg.matmul import *
from tapegrad.operators.nn.softmax import *
from tapegrad.operators.pointwise.addcmul_lerp import *
from tapegrad.operators.pointwise.arithmetic import *
from tapegrad.operators.pointwise.atan2_hypot import *
from tapegrad.operators.pointwise.bitwise import *
from tapegrad.operators.pointwise.comparison import *
from tapegrad.operators.pointwise.complex_parts import *
from tapegrad.operators.pointwise.complex_polar import *
from tapegrad.operators.pointwise.division import *
from tapegrad.operators.pointwise.exp_log import *
from tapegrad.operators.pointwise.float_parts import *
from tapegrad.operators.pointwise.masked_fill_nan_to_num import *
from tapegrad.operators.pointwise.maximum_minimum import *
from tapegrad.operators.pointwise.power_sqrt import *
from tapegrad.operators.pointwise.relu import *
from tapegrad.operators.pointwise.remainder import *
from tapegrad.operators.pointwise.rounding_abs_sign import *
from tapegrad.operators.pointwise.sigmoid_logit import *
from tapegrad.operators.pointwise.special.erf_gamma import *
from tapegrad.operators.pointwise.special.normal_distribution import *
from tapegrad.operators.pointwise.trigonometry import *
from tapegrad.operators.pointwise.where_clamp import *
from tapegrad.operators.random.bernoulli import *
from tapegrad.operators.random.multinomial import *
from tapegrad.operators.random.normal import *
from tapegrad.operators.random.rand_like import *
from tapegrad.operators.random.rand_randint_randperm import *
from tapegrad.operators.reduction.cumulative import *
from tapegrad.operators.reduction.max_min import *
from tapegrad.operators.reduction.prod_all_any import *
from tapegrad.operators.reduction.sort_topk import *
from tapegrad.operators.reduction.sum_mean import *
from tapegrad.operators.reduction.var_std import *
from tapegrad.operators.reduction.vector_norm import *
from tapegrad.operators.shape.as_strided import *
from tapegrad.operators.shape.cat_stack import *
from tapegrad.operators.shape.clone import *
from tapegrad.operators.shape.expand import *
from tapegrad.operators.shape.flip_roll import *
from tapegrad.operators.shape.permute_squeeze import *
from tapegrad.operators.shape.repeat_tile import *
from tapegrad.operators.shape.reshape import *
from tapegrad.operators.shape.set_resize import *
from tapegrad.operators.shape.slice_narrow import *
from tapegrad.operators.shape.slice_scatter import *
from tapegrad.operators.shape.split_chunk import *
from tapegrad.operators.shape.tensor_split import *
from tapegrad.operators.shape.tril_diag import *
from tapegrad.operators.shape.view_copy import *

# The functions, not the files they are in, which are attributes of this package, too.
__all__ = [n for n, value in globals().items() if n[0] != "_" and type(value) is not _Module]
