"""`torch.sparse` by name: tensors have all their elements here."""

from tapegrad.compat.refusal import refusing as _refusing

ADVICE = "tapegrad has no sparse tensors: keep indices and values apart, and use index_add."

__getattr__ = _refusing(
    __name__,
    ADVICE,
    functions=(
        "addmm as_sparse_gradcheck log_softmax mm sampled_addmm softmax solve spdiags spsolve sum "
        "to_sparse_semi_structured"
    ),
    classes=(
        "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
        "SparseSemiStructuredTensorCUTLASS check_sparse_tensor_invariants"
    ),
    submodules="semi_structured",
)
