"""Methods that multiply matrices, and the activations PyTorch has as methods."""

from typing import Any

from tapegrad.ops import activation as _activation
from tapegrad.ops import addmm as _addmm
from tapegrad.ops import product as _product
from tapegrad.ops import logits as _logits


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

    addmm = _addmm.addmm
    addmm_ = _addmm.addmm_
    addmv = _addmm.addmv
    addmv_ = _addmm.addmv_
    addr = _addmm.addr
    addr_ = _addmm.addr_
    addbmm = _addmm.addbmm
    addbmm_ = _addmm.addbmm_
    baddbmm = _addmm.baddbmm
    baddbmm_ = _addmm.baddbmm_

    relu = _activation.relu
    relu_ = _activation.relu_
    prelu = _activation.prelu
    hardshrink = _activation.hardshrink
    softmax = _logits.softmax
    log_softmax = _logits.log_softmax
