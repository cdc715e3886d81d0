"""Methods that make new tensors like this one."""

from tapegrad.operators.creation import new_methods


class CreateMethods:
    """New tensors of this one's dtype."""

    __slots__ = ()

    new = new_methods.new
    new_empty = new_methods.new_empty
    new_empty_strided = new_methods.new_empty_strided
    new_full = new_methods.new_full
    new_ones = new_methods.new_ones
    new_tensor = new_methods.new_tensor
    new_zeros = new_methods.new_zeros
