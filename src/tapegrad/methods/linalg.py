"""Methods that multiply matrices, and the activations PyTorch has as methods."""

from typing import Any

from tapegrad.later import method
from tapegrad.ops import affine as _affine
from tapegrad.ops import contraction as _contraction
from tapegrad.ops import length as _length
from tapegrad.ops import logits as _logits
from tapegrad.ops import product as _product
from tapegrad.ops import rectifier as _rectifier


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

    def __rmatmul__(self, other: Any) -> Any:
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
    dist = method("tapegrad.ops.distance", "dist")
    renorm = _length.renorm
    renorm_ = _length.renorm_

    qr = method("tapegrad.ops.orthogonal", "qr")
    svd = method("tapegrad.ops.singular", "svd")
    pinverse = method("tapegrad.ops.pseudoinverse", "pinverse")
    geqrf = method("tapegrad.ops.reflection", "geqrf")
    orgqr = method("tapegrad.ops.reflection", "orgqr")
    ormqr = method("tapegrad.ops.reflection", "ormqr")
