"""What `torch.sparse` has besides `tapegrad.sparse`: names of what there is not."""

from tapegrad.compat.refusal import refusing as _refusing

ADVICE = "tapegrad has sparse tensors of layouts torch.sparse_coo, sparse_csr and sparse_csc."

__getattr__ = _refusing(
    __name__,
    ADVICE,
    functions="as_sparse_gradcheck sampled_addmm solve spsolve to_sparse_semi_structured",
    classes=(
        "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
        "SparseSemiStructuredTensorCUTLASS"
    ),
    submodules="semi_structured",
)
