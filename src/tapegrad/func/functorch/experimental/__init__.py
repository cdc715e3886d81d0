"""`functorch.experimental`: functions of `torch.func` under their old names, without a warning."""

from tapegrad.compat.torch._functorch.apis import chunk_vmap
from tapegrad.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = [
    "chunk_vmap", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_",
]  # fmt: skip
