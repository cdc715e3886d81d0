"""Tensors of the elements of a file."""

from tapegrad.core import tensor_base
from tapegrad.core.annotations import Any
from tapegrad.core.device import CPU, require_cpu
from tapegrad.core.dtype import default
from tapegrad.core.untyped_storage import UntypedStorage


def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
) -> Any:
    """The first `size` elements of a file as a tensor; writes go to it if it is `shared`.

    Shape: (size,).
    Raises: RuntimeError for a file that cannot be opened, or is too small and not shared.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> x = torch.from_file(path, shared=True, size=2).fill_(1)
    >>> torch.from_file(path, size=2)
    tensor([1., 1.])
    """
    require_cpu(CPU if device is None else device)
    kind = default() if dtype is None else dtype
    n_bytes = (size or 0) * kind.itemsize
    memory = UntypedStorage.from_file(filename, bool(shared), n_bytes)
    return tensor_base.wrap(memory.elements(kind.numpy))


__torch__ = "from_file"
