"""What is said of operators besides their signatures: `torch.Tag`."""

from enum import Enum

__torch__ = "Tag"

_NAMES = (
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated "
    "inplace inplace_view maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides "
    "needs_fixed_stride_order nondeterministic_bitwise nondeterministic_seeded out out_variant "
    "pointwise pt2_compliant_tag reduction view_copy"
)

Tag = Enum("Tag", [(name, i) for i, name in enumerate(_NAMES.split())], module="torch")
Tag.__doc__ = """A property of an operator, for what compiles and rewrites programs.

tapegrad keeps those that a program gives, and does nothing else with them.

>>> torch.library.define("docs::tagged", "(Tensor x) -> Tensor", tags=[torch.Tag.pointwise])
>>> torch.ops.docs.tagged.default.tags
[<Tag.pointwise: 16>]
"""
