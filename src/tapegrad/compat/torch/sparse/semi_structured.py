"""`torch.sparse.semi_structured` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.sparse import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions="to_sparse_semi_structured",
    classes=(
        "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
        "SparseSemiStructuredTensorCUTLASS"
    ),
)
