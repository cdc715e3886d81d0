"""Methods of matrices: products and factors; the activations and spectra PyTorch has as methods."""

from tapegrad.core.annotations import Any
from tapegrad.core.lazy import method
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_function import IN_USE, operated
from tapegrad.operators.linalg import dot_vdot, inner_outer
from tapegrad.operators.linalg import matmul as _matmul
from tapegrad.operators.nn import softmax as _softmax
from tapegrad.operators.pointwise import relu_threshold_shrink
from tapegrad.operators.reduction import vector_norm

_ADDMM = "tapegrad.operators.linalg.addmm_addmv_addr_addbmm"
_EINSUM = "tapegrad.operators.linalg.einsum_tensordot_kron"


class LinalgMethods:
    """Products, activations, softmax; inverses, determinants, factors; spectra of frames."""

    __slots__ = ()

    mm = _matmul.mm
    mv = _matmul.mv
    dot = _matmul.dot
    vdot = dot_vdot.vdot
    bmm = _matmul.bmm
    matmul = _matmul.matmul
    outer = ger = inner_outer.outer
    inner = inner_outer.inner

    def __matmul__(self, other: Any) -> Any:
        if IN_USE or not isinstance(other, TensorBase):
            again = operated("matmul", False, self, other)
            if again is not None:
                return again()
        return _matmul.matmul(self, other) if isinstance(other, TensorBase) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        again = operated("matmul", True, self, other)
        if again is not None:
            return again()
        return _matmul.matmul(other, self) if isinstance(other, TensorBase) else NotImplemented

    addmm, addmm_ = method(_ADDMM), method(_ADDMM)
    addmv, addmv_ = method(_ADDMM), method(_ADDMM)
    addr, addr_ = method(_ADDMM), method(_ADDMM)
    addbmm, addbmm_ = method(_ADDMM), method(_ADDMM)
    baddbmm, baddbmm_ = method(_ADDMM), method(_ADDMM)

    relu, relu_ = relu_threshold_shrink.relu, relu_threshold_shrink.relu_
    prelu = relu_threshold_shrink.prelu
    hardshrink = relu_threshold_shrink.hardshrink
    softmax = _softmax.softmax
    log_softmax = _softmax.log_softmax

    trace = method(_EINSUM)
    kron = method(_EINSUM)

    norm = vector_norm.norm_method
    dist = method("tapegrad.operators.nn.cosine_similarity_distance", "dist")
    renorm, renorm_ = vector_norm.renorm, vector_norm.renorm_

    qr = method("tapegrad.operators.linalg.qr", "qr")
    svd = method("tapegrad.operators.linalg.svd", "svd")
    pinverse = method("tapegrad.operators.linalg.pinv_matrix_rank", "pinverse")
    geqrf = method("tapegrad.operators.linalg.geqrf_ormqr", "geqrf")
    orgqr = method("tapegrad.operators.linalg.geqrf_ormqr", "orgqr")
    ormqr = method("tapegrad.operators.linalg.geqrf_ormqr", "ormqr")

    cholesky = method("tapegrad.operators.linalg.cholesky", "cholesky")
    cholesky_inverse = method("tapegrad.operators.linalg.cholesky", "cholesky_inverse")
    cholesky_solve = method("tapegrad.operators.linalg.cholesky", "cholesky_solve")
    cross = method("tapegrad.operators.linalg.cross_vecdot", "cross")
    det = method("tapegrad.operators.linalg.det_slogdet", "det")
    eig = method("tapegrad.operators.linalg.removed", "eig")
    inverse = method("tapegrad.operators.linalg.inv", "inverse")
    logdet = method("tapegrad.operators.linalg.det_slogdet", "logdet")
    lstsq = method("tapegrad.operators.linalg.removed", "lstsq")
    lu = method("tapegrad.operators.linalg.lu_factor", "lu_method")
    lu_solve = method("tapegrad.operators.linalg.lu_solve", "lu_solve")
    matrix_exp = method("tapegrad.operators.linalg.matrix_exp_power", "matrix_exp")
    matrix_power = method("tapegrad.operators.linalg.matrix_exp_power", "matrix_power")
    slogdet = method("tapegrad.operators.linalg.det_slogdet", "slogdet")
    solve = method("tapegrad.operators.linalg.removed", "solve")
    symeig = method("tapegrad.operators.linalg.removed", "symeig")
    triangular_solve = method("tapegrad.operators.linalg.triangular_solve", "triangular_solve")

    stft = method("tapegrad.operators.fft.stft", "stft")
    istft = method("tapegrad.operators.fft.istft", "istft")
