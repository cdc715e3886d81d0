"""Methods that multiply matrices, and the activations PyTorch has as methods."""

from typing import Any

from tapegrad.core.annotations import Scalar
from tapegrad.core.lazy import method
from tapegrad.operators.linalg import addmm_linear as _affine
from tapegrad.operators.linalg import einsum_tensordot as _contraction
from tapegrad.operators.linalg import matmul as _product
from tapegrad.operators.nn import softmax as _logits
from tapegrad.operators.pointwise import relu as _rectifier
from tapegrad.operators.reduction import vector_norm as _length


class LinalgMethods:
    """Products, activations, softmax."""

    __slots__ = ()

    mm = _product.mm
    mv = _product.mv
    dot = _product.dot
    vdot = _product.vdot
    bmm = _product.bmm
    matmul = __matmul__ = _product.matmul
    outer = ger = _product.outer
    inner = _product.inner

    def __rmatmul__(self, other: Scalar) -> Any:
        return _product.matmul(other, self)

    addmm = _affine.addmm
    addmm_ = _affine.addmm_
    addmv = _affine.addmv
    addmv_ = _affine.addmv_
    addr = _affine.addr
    addr_ = _affine.addr_
    addbmm = _affine.addbmm
    addbmm_ = _affine.addbmm_
    baddbmm = _affine.baddbmm
    baddbmm_ = _affine.baddbmm_

    relu = _rectifier.relu
    relu_ = _rectifier.relu_
    prelu = _rectifier.prelu
    hardshrink = _rectifier.hardshrink
    softmax = _logits.softmax
    log_softmax = _logits.log_softmax

    trace = _contraction.trace
    kron = _contraction.kron

    norm = _length.norm_method
    dist = method("tapegrad.operators.nn.cosine_similarity_distance", "dist")
    renorm = _length.renorm
    renorm_ = _length.renorm_

    qr = method("tapegrad.operators.linalg.qr", "qr")
    svd = method("tapegrad.operators.linalg.svd", "svd")
    pinverse = method("tapegrad.operators.linalg.pinv_matrix_rank", "pinverse")
    geqrf = method("tapegrad.operators.linalg.geqrf_ormqr", "geqrf")
    orgqr = method("tapegrad.operators.linalg.geqrf_ormqr", "orgqr")
    ormqr = method("tapegrad.operators.linalg.geqrf_ormqr", "ormqr")
