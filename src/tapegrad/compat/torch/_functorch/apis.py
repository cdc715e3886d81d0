"""`torch._functorch.apis`: `vmap` and derivatives."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import grad, grad_and_value, vmap

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """`vmap` that computes a batch in so many parts, one after another.

    >>> torch._functorch.apis.chunk_vmap(torch.sin, chunks=3)(torch.zeros(5)).shape
    torch.Size([5])
    """
    from tapegrad.utils._pytree import _broadcast_to_and_flatten, tree_flatten

    def mapped(*args, **kwargs):
        leaves, spec = tree_flatten(args)
        dims = _broadcast_to_and_flatten(in_dims, spec)
        sizes = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
        size = -(-sizes[0] // chunks)
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return vmap(func, in_dims, out_dims, randomness) if chunks == 1 else mapped


__getattr__ = _refuses(__name__)
