"""Cells: one step of a recurrent network, to be called in a loop over time."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import runtime_error, value_error
from tapegrad.nn import init
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty, zeros
from tapegrad.operators.nn.rnn.cell import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from tapegrad.tensors.tensor import Tensor


class RNNCellBase(Module):
    """What cells share: weights of `num_chunks` gates, one below the other."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform on +-1/sqrt(hidden_size), all of them."""
        bound = 1 / self.hidden_size**0.5 if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        if nonlinearity != "tanh":
            parts.append(f"nonlinearity={nonlinearity}")
        return ", ".join(parts)

    def _weights(self) -> tuple:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _check_axes(self, what: str, x: Tensor) -> None:
        if x.dim() not in (1, 2):
            raise value_error(
                f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {x.dim()}D instead",
                "It is (batch, features), or (features) without a batch.",
            )

    def _batch_of(self, input: Tensor, hx: Any) -> tuple[Tensor, Tensor]:
        """Input and state (batch, features); zeros for a state that is not given."""
        self._check_axes("input", input)
        if hx is not None:
            self._check_axes("hidden", hx)
        if input.dim() == 1:
            input = input.unsqueeze(0)
            hx = None if hx is None else hx.unsqueeze(0)
        if hx is None:
            shape = (input.size(0), self.hidden_size)
            hx = zeros(shape, dtype=input.dtype, device=input.device)
        return input, hx


class RNNCell(RNNCellBase):
    """One step of `torch.nn.RNN`: `h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`.

    Shape: input (N, input_size) or (input_size); state (N, hidden_size) or (hidden_size), zeros if
    not given; the result is the next state.

    >>> cell = torch.nn.RNNCell(3, 4)
    >>> h = torch.zeros(2, 4)
    >>> for x in torch.zeros(5, 2, 3):
    ...     h = cell(x, h)
    >>> h.shape
    torch.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        x, h = self._batch_of(input, hx)
        if self.nonlinearity == "tanh":
            found = rnn_tanh_cell(x, h, *self._weights())
        elif self.nonlinearity == "relu":
            found = rnn_relu_cell(x, h, *self._weights())
        else:
            raise runtime_error(
                f"Unknown nonlinearity: {self.nonlinearity}", "It is 'tanh' or 'relu'."
            )
        return found.squeeze(0) if input.dim() == 1 else found


class LSTMCell(RNNCellBase):
    """One step of `torch.nn.LSTM`, from (h, c) to the next (h, c).

    Shape: input (N, input_size) or (input_size); h and c (N, hidden_size) or (hidden_size), zeros
    if not given.

    >>> cell = torch.nn.LSTMCell(3, 4)
    >>> h, c = cell(torch.zeros(2, 3))
    >>> h, c = cell(torch.zeros(2, 3), (h, c))
    >>> h.shape, c.shape
    (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        self._check_axes("input", input)
        if isinstance(hx, (tuple, list)):
            for i, x in enumerate(hx):
                self._check_axes(f"hx[{i}]", x)
        single = input.dim() == 1
        if single:
            input = input.unsqueeze(0)
            hx = None if hx is None else tuple(x.unsqueeze(0) for x in hx)
        if hx is None:
            shape = (input.size(0), self.hidden_size)
            zero = zeros(shape, dtype=input.dtype, device=input.device)
            hx = (zero, zero)
        h, c = lstm_cell(input, hx, *self._weights())
        return (h.squeeze(0), c.squeeze(0)) if single else (h, c)


class GRUCell(RNNCellBase):
    """One step of `torch.nn.GRU`, from h to the next h.

    Shape: input (N, input_size) or (input_size); state (N, hidden_size) or (hidden_size), zeros if
    not given.

    >>> torch.nn.GRUCell(3, 4)(torch.zeros(2, 3), torch.zeros(2, 4)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        x, h = self._batch_of(input, hx)
        found = gru_cell(x, h, *self._weights())
        return found.squeeze(0) if input.dim() == 1 else found
