"""`torch.linalg`: linear algebra under its own names, as far as tapegrad has it."""

from tapegrad.ops.contraction import multi_dot
from tapegrad.ops.length import linalg_vector_norm as vector_norm
from tapegrad.ops.product import linalg_vecdot as vecdot
from tapegrad.ops.product import matmul

__all__ = ["matmul", "multi_dot", "vecdot", "vector_norm"]


def cross(input, other, *, dim=-1, out=None):
    """The vector product along a dimension of size 3 (the last by default).

    >>> torch.linalg.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    from tapegrad.ops.contraction import cross as along

    return along(input, other, dim, out=out)
