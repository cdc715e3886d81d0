"""Methods that make new tensors like this one."""

from tapegrad.operators.creation import new_methods as _new


class CreateMethods:
    """New tensors of this one's dtype."""

    __slots__ = ()

    new = _new.new
    new_empty = _new.new_empty
    new_empty_strided = _new.new_empty_strided
    new_full = _new.new_full
    new_ones = _new.new_ones
    new_tensor = _new.new_tensor
    new_zeros = _new.new_zeros
