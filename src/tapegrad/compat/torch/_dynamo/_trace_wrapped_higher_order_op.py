"""Indexing inside of `vmap`, as programs written for PyTorch ask for it."""

from tapegrad.core.missing import refuses as _refuses

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex:
    """A block in which a tensor without dimensions indexes as a tensor, inside of `vmap`, too.

    It does so here anyway. PyTorch's reads it as a number outside of the block.
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


__getattr__ = _refuses(__name__)
