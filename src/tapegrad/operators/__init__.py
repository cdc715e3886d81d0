"""Operators: the public functions, one file for each family."""

from types import ModuleType as _Module

from tapegrad.operators.conversion.item_numpy_tolist import *
from tapegrad.operators.conversion.metadata import *
from tapegrad.operators.creation.arange import *
from tapegrad.operators.creation.empty_strided import *
from tapegrad.operators.creation.from_numpy_asarray import *
from tapegrad.operators.creation.legacy_constructor import *
from tapegrad.operators.creation.like import *
from tapegrad.operators.creation.tensor import *
from tapegrad.operators.creation.zeros_eye import *
from tapegrad.operators.indexing.copy_fill_zero import *
from tapegrad.operators.indexing.gather_index_select import *
from tapegrad.operators.indexing.index_add import *
from tapegrad.operators.indexing.masked_select_nonzero import *
from tapegrad.operators.indexing.scatter import *
from tapegrad.operators.indexing.scatter_reduce import *
from tapegrad.operators.indexing.setitem import *
from tapegrad.operators.indexing.take_put import *
from tapegrad.operators.linalg.dot_vdot import *
from tapegrad.operators.linalg.inner_outer import *
from tapegrad.operators.linalg.matmul import *
from tapegrad.operators.nn.softmax import *
from tapegrad.operators.pointwise.addcmul_addcdiv_lerp import *
from tapegrad.operators.pointwise.arithmetic import *
from tapegrad.operators.pointwise.atan2_hypot_copysign import *
from tapegrad.operators.pointwise.bitwise import *
from tapegrad.operators.pointwise.comparison import *
from tapegrad.operators.pointwise.divide_reciprocal import *
from tapegrad.operators.pointwise.exp_log import *
from tapegrad.operators.pointwise.masked_fill_nan_to_num import *
from tapegrad.operators.pointwise.maximum_minimum import *
from tapegrad.operators.pointwise.pow_sqrt_square import *
from tapegrad.operators.pointwise.real_imag_conj_angle import *
from tapegrad.operators.pointwise.relu_threshold_shrink import *
from tapegrad.operators.pointwise.remainder_fmod import *
from tapegrad.operators.pointwise.rounding_abs_sign import *
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import *
from tapegrad.operators.pointwise.special.erf_gamma import *
from tapegrad.operators.pointwise.trigonometry import *
from tapegrad.operators.pointwise.where_clamp import *
from tapegrad.operators.random.bernoulli import *
from tapegrad.operators.random.normal import *
from tapegrad.operators.random.rand_like import *
from tapegrad.operators.random.rand_randint_randperm import *
from tapegrad.operators.reduction.logsumexp import *
from tapegrad.operators.reduction.max_min import *
from tapegrad.operators.reduction.prod_all_any import *
from tapegrad.operators.reduction.sort_topk import *
from tapegrad.operators.reduction.sum_mean import *
from tapegrad.operators.reduction.var_std import *
from tapegrad.operators.reduction.vector_norm import *
from tapegrad.operators.shape.as_strided import *
from tapegrad.operators.shape.cat_stack import *
from tapegrad.operators.shape.clone import *
from tapegrad.operators.shape.expand_broadcast import *
from tapegrad.operators.shape.flip_roll_rot90 import *
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import *
from tapegrad.operators.shape.reshape_flatten_atleast import *
from tapegrad.operators.shape.set_resize import *
from tapegrad.operators.shape.slice_select_narrow import *
from tapegrad.operators.shape.split_chunk_unbind import *
from tapegrad.operators.shape.squeeze_unsqueeze import *
from tapegrad.operators.shape.tril_triu_diag import *

# The functions, not the files they are in, which are attributes of this package, too.
__all__ = [n for n, value in globals().items() if n[0] != "_" and type(value) is not _Module]
