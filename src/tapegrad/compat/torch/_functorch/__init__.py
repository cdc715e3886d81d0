"""`torch._functorch`: where PyTorch has the functions of `torch.func`."""

from tapegrad.compat.insides import with_submodules as _with_submodules

__all__: list[str] = []

__getattr__ = _with_submodules(
    __name__, "apis config eager_transforms functional_call make_functional vmap"
)
