"""Methods of PyTorch's tensors that tapegrad lacks: asking for one says so.

Each is a descriptor that raises. A `__getattr__` on tensors would make every other attribute slow.
"""

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.missing import missing_attribute

_NAMES = """
const_data_ptr grad_dtype index ipu mtia name record_stream reinforce
resize_as_sparse_ slice_inverse sparse_resize_ sparse_resize_and_clear_
to_mkldnn to_padded_tensor to_sparse_bsc to_sparse_bsr
volatile xpu
"""


class Missing:
    """An attribute that is not there, as `hasattr` and `getattr` with a default see it, too."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Tensor, owner: type) -> Any:
        raise missing_attribute(owner.__name__, self.name, tensor)


def declare_missing(cls: type) -> None:
    """Put a descriptor on `cls` for every name above that it does not have."""
    for name in _NAMES.split():
        if not hasattr(cls, name):
            setattr(cls, name, Missing(name))
