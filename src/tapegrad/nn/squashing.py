"""Activations that squash, clip or shrink their input."""

from __future__ import annotations

from warnings import warn

from tapegrad.core.errors import assertion_error
from tapegrad.nn import functional as F
from tapegrad.nn.activation import InPlace
from tapegrad.nn.module import Module
from tapegrad.tensors.tensor import Tensor


class Sigmoid(Module):
    """`1 / (1 + exp(-x))`, between 0 and 1.

    >>> torch.nn.Sigmoid()(torch.tensor([-1.0, 0.0]))
    tensor([0.2689, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent, between -1 and 1.

    >>> torch.nn.Tanh()(torch.tensor([-1.0, 0.0]))
    tensor([-0.7616,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Module):
    """`log(sigmoid(x))`, without overflow.

    >>> torch.nn.LogSigmoid()(torch.tensor([-1.0, 0.0]))
    tensor([-1.3133, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(Module):
    """`x / (1 + |x|)`, between -1 and 1.

    >>> torch.nn.Softsign()(torch.tensor([-1.0, 0.0]))
    tensor([-0.5000,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """`x - tanh(x)`.

    >>> torch.nn.Tanhshrink()(torch.tensor([-1.0, 0.0]))
    tensor([-0.2384,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Hardsigmoid(InPlace):
    """`clamp(x / 6 + 1 / 2, 0, 1)`, piecewise and cheap.

    >>> torch.nn.Hardsigmoid()(torch.tensor([-1.0, 4.0]))
    tensor([0.3333, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardtanh(Module):
    """`clamp(x, min_val, max_val)`.

    >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _renamed("max_value", "max_val")
            max_val = max_value
        if max_val <= min_val:
            raise assertion_error(
                f"max_val ({max_val}) must be greater than min_val ({min_val})", "Swap the two."
            )
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        inplace = ", inplace=True" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace}"


class ReLU6(Hardtanh):
    """`min(max(x, 0), 6)`.

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 9.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """`x` where it is above `threshold`, `value` elsewhere.

    >>> torch.nn.Threshold(0.1, 20.0)(torch.tensor([0.0, 0.5]))
    tensor([20.0000,  0.5000])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        inplace = ", inplace=True" if self.inplace else ""
        return f"threshold={self.threshold}, value={self.value}{inplace}"


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """`x` where `|x| > lambd`, 0 elsewhere.

    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """`x` moved by `lambd` towards 0, and 0 where `|x| <= lambd`.

    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


def _renamed(old: str, new: str) -> None:
    warn(
        f"keyword argument `{old}` is deprecated and renamed to `{new}`\nWrite {new}=...",
        FutureWarning,
        stacklevel=3,
    )
