"""What lowers instructions, in the order in which it is asked: true where it did."""

from tapegrad.compiler.c_backend.lower_check import lower_expect
from tapegrad.compiler.c_backend.lower_column_conv import lower_column_conv
from tapegrad.compiler.c_backend.lower_fill import lower_fill, lower_triangle
from tapegrad.compiler.c_backend.lower_flat_conv import lower_flat_conv
from tapegrad.compiler.c_backend.lower_memory import (
    lower_copy,
    lower_order,
    lower_parts,
    lower_view,
    lower_write,
)
from tapegrad.compiler.c_backend.lower_number import lower_number
from tapegrad.compiler.c_backend.lower_pointwise import (
    lower_clip,
    lower_gelu,
    lower_pointwise,
    lower_round,
    lower_where,
)
from tapegrad.compiler.c_backend.lower_product import lower_product
from tapegrad.compiler.c_backend.lower_reduction import lower_reduction
from tapegrad.compiler.c_backend.lower_small_conv import lower_small_conv
from tapegrad.compiler.c_backend.lower_template import lower_template

RULES = (
    lower_expect,
    lower_view,
    lower_pointwise,
    lower_where,
    lower_clip,
    lower_gelu,
    lower_round,
    lower_number,
    lower_reduction,
    lower_product,
    lower_copy,
    lower_order,
    lower_write,
    lower_parts,
    lower_triangle,
    lower_flat_conv,
    lower_column_conv,
    lower_small_conv,
    lower_template,
    lower_fill,
)
