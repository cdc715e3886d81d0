"""Methods that make new tensors like this one."""

from tapegrad.ops import like


class CreateMethods:
    """New tensors of this one's dtype."""

    __slots__ = ()

    new = like.new
    new_empty = like.new_empty
    new_empty_strided = like.new_empty_strided
    new_full = like.new_full
    new_ones = like.new_ones
    new_tensor = like.new_tensor
    new_zeros = like.new_zeros
