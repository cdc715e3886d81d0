"""`torch._vmap_internals`: where PyTorch had `vmap` first."""

from tapegrad.core.errors import deprecated as _deprecated
from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import vmap as _torch_vmap

__all__ = ["vmap"]


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """`torch.vmap` by its old name, as PyTorch's own derivatives of batches call it."""
    return _torch_vmap(func, in_dims, out_dims)


def vmap(func, in_dims=0, out_dims=0):
    """`torch.vmap`; warns that this is its old place."""
    _deprecated("Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", 2)
    return _torch_vmap(func, in_dims, out_dims)


__getattr__ = _refuses(__name__)
