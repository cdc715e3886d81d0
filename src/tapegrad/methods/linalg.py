"""Methods that multiply matrices, and the activations PyTorch has as methods."""

from typing import Any

from tapegrad.ops import activation as _activation
from tapegrad.ops import addmm as _addmm
from tapegrad.ops import matmul as _matmul
from tapegrad.ops import softmax as _softmax


class LinalgMethods:
    """Products, activations, softmax."""

    __slots__ = ()

    mm = _matmul.mm
    mv = _matmul.mv
    dot = _matmul.dot
    vdot = _matmul.vdot
    bmm = _matmul.bmm
    matmul = __matmul__ = _matmul.matmul
    outer = ger = _matmul.outer
    inner = _matmul.inner

    def __rmatmul__(self, other: Any) -> Any:
        return _matmul.matmul(other, self)

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
    softmax = _softmax.softmax
    log_softmax = _softmax.log_softmax
