"""What to do about a gradient that does not arrive, in one sentence each."""

from __future__ import annotations

from typing import Any

_LOST = {
    "no_grad": "Move that line out of the block, if a gradient is to go through it.",
    "integers": "Integers and booleans have no gradient: stay with floating numbers there, such as "
    "softmax() in place of argmax(), sigmoid() in place of a comparison.",
    "constant": "Use a function that has a derivative.",
    "detach()": "Leave detach() out there, if a gradient is to go through.",
    "detach_()": "Leave detach_() out there, if a gradient is to go through.",
    ".data": "Use the tensor itself in place of .data.",
    "torch.tensor()": "torch.tensor() copies numbers: use the tensor itself, or its clone(); join "
    "several by torch.stack().",
    "library": "What that call gives has no history on purpose: compute with the tensor itself.",
    "nn.Parameter()": "Parameter() makes a new leaf: compute with the tensor itself.",
}
_LEFT = "What Python and NumPy compute has no history: compute with functions of torch."


def restored_by(kind: str) -> str:
    """What lets a gradient through where history was lost by `kind`; see `log.Cut`.

    >>> from tapegrad.inspect.remedy import restored_by
    >>> restored_by(".data")
    'Use the tensor itself in place of .data.'
    """
    return _LOST.get(kind, _LEFT)


_SATURATED = "what goes in is so large that its slope is zero there: scale it down, as by a norm"
_STEPS = "it is constant between its steps, so its derivative is zero everywhere: use a smooth one"
_OVERWRITTEN = "it overwrote what was computed before: write out of place, or only a part"
_FACTOR = "what it multiplies with is zero, or too small"
_WHY = {
    "Relu": "all that goes in is negative: a smaller learning rate, another initialization, or "
    "leaky_relu() keep a unit alive",
    "Clamp": "all that goes in is outside of the limits",
    "ClampMin": "all that goes in is below the limit",
    "ClampMax": "all that goes in is above the limit",
    "Hardtanh": "all that goes in is outside of the limits",
    "Sigmoid": _SATURATED,
    "Tanh": _SATURATED,
    "Softmax": "it is saturated, or all that is made of it is its sum, which is always 1",
    "LogSoftmax": "what was made of it does not change with what goes in",
    "Where": "the other side was chosen everywhere",
    "Erf": _SATURATED,
    **dict.fromkeys("Round Floor Ceil Trunc Sign Heaviside DivTruncate DivFloor".split(), _STEPS),
    **dict.fromkeys("Fill Zero Copy CopySlices IndexPut Normal Uniform".split(), _OVERWRITTEN),
    **dict.fromkeys("Mul Mm Bmm Addmm Mv Dot Linear Pow Div".split(), _FACTOR),
    "Embedding": "it was asked for no row but padding_idx",
    "Max": "others were larger",
    "Index": "nothing of it was asked for",
}


def reason_of(blocked: Any) -> str:
    """Why a node let no gradient through; see `log.Blocked`."""
    if blocked.custom:
        return "its backward() returns " + ("None" if blocked.silent else "zeros")
    name = blocked.node.rstrip("0123456789").removesuffix("Backwards").removesuffix("Backward")
    return _WHY.get(name, "its derivative is zero there")
