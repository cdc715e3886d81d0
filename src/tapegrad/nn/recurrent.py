"""Recurrent networks: RNN, LSTM and GRU, of several layers and directions."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import runtime_error, value_error
from tapegrad.nn.recurrent_base import RNNBase
from tapegrad.operators.creation.zeros_eye import zeros
from tapegrad.tensors.tensor import Tensor


def _no_projection(proj_size: Any) -> None:
    if proj_size is not None:
        raise value_error(
            "proj_size argument is only supported for LSTM, not RNN or GRU",
            "Put a Linear layer behind it.",
        )


class RNN(RNNBase):
    """The simplest recurrent network: `h_t = tanh(w_ih x_t + b_ih + w_hh h_(t-1) + b_hh)`.

    Args:
        input_size: features of `x`
        hidden_size: features of the state `h`, H
        num_layers: each further layer takes the output of the one below
        nonlinearity: "tanh" or "relu"
        bias: whether there are biases
        batch_first: whether inputs and outputs are (batch, length, features)
        dropout: in training, the probability with which outputs of all layers but the last are
            zeroed
        bidirectional: whether a second network walks from the end to the start; D = 2

    Shape: input (L, N, input_size) or (L, input_size) or packed; output (L, N, D * H), the last
    layer's states; state (D * num_layers, N, H), zeros if not given.

    Source: Elman, Finding structure in time, 1990.

    >>> rnn = torch.nn.RNN(3, 4, num_layers=2)
    >>> rnn
    RNN(3, 4, num_layers=2)
    >>> output, h = rnn(torch.zeros(5, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        proj_size: Any = None,
    ) -> None:
        _no_projection(proj_size)
        if nonlinearity not in ("tanh", "relu"):
            raise value_error(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.",
                "For another one write the loop over time with a cell of your own.",
            )
        super().__init__(
            "RNN_" + nonlinearity.upper(),
            *(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0),
            *(device, dtype),
        )
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> tuple:
        return self._forward(input, hx)


class GRU(RNNBase):
    """Gated recurrent units:

        r_t = sigmoid(W_ir x_t + b_ir + W_hr h_(t-1) + b_hr)
        z_t = sigmoid(W_iz x_t + b_iz + W_hz h_(t-1) + b_hz)
        n_t = tanh(W_in x_t + b_in + r_t * (W_hn h_(t-1) + b_hn))
        h_t = (1 - z_t) * n_t + z_t * h_(t-1)

    Arguments and shapes are those of `torch.nn.RNN`. `weight_ih_l[k]` is W_ir, W_iz, W_in one below
    the other, (3 * hidden_size, features); likewise the others.

    Source: Cho et al., Learning phrase representations using RNN encoder-decoder, 2014; with the
    reset gate outside of the product, as in cuDNN.

    >>> gru = torch.nn.GRU(3, 4, bidirectional=True)
    >>> output, h = gru(torch.zeros(5, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        proj_size: Any = None,
    ) -> None:
        _no_projection(proj_size)
        super().__init__(
            "GRU",
            *(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0),
            *(device, dtype),
        )

    def forward(self, input: Any, hx: Any = None) -> tuple:
        return self._forward(input, hx)


class LSTM(RNNBase):
    """Long short-term memory:

        i_t = sigmoid(W_ii x_t + b_ii + W_hi h_(t-1) + b_hi)
        f_t = sigmoid(W_if x_t + b_if + W_hf h_(t-1) + b_hf)
        g_t = tanh(W_ig x_t + b_ig + W_hg h_(t-1) + b_hg)
        o_t = sigmoid(W_io x_t + b_io + W_ho h_(t-1) + b_ho)
        c_t = f_t * c_(t-1) + i_t * g_t
        h_t = o_t * tanh(c_t)

    Arguments and shapes are those of `torch.nn.RNN`; the state is a tuple (h, c). With `proj_size`
    the output is W_hr h_t, of that size. `weight_ih_l[k]` is W_ii, W_if, W_ig, W_io one below the
    other, (4 * hidden_size, features); likewise the others.

    Source: Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers et al., Learning to
    forget, 2000; Sak et al., 2014, for projections.

    >>> lstm = torch.nn.LSTM(3, 4, batch_first=True)
    >>> output, (h, c) = lstm(torch.zeros(2, 5, 3))
    >>> output.shape, h.shape, c.shape
    (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM",
            *(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional),
            *(proj_size, device, dtype),
        )

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """(layers and directions, batch, features) of the state c."""
        n, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return n, batch, self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise unless input and state fit the layer."""
        self.check_input(input, batch_sizes)
        for i, size in enumerate((self.get_expected_hidden_size, self.get_expected_cell_size)):
            self.check_hidden_size(
                hidden[i], size(input, batch_sizes), f"Expected hidden[{i}] size {{}}, got {{}}"
            )

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its batch in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        cell = self.get_expected_cell_size(input, batch_sizes)
        c = zeros(cell, dtype=input.dtype, device=input.device)
        return super()._zero_state(input, batch_sizes), c

    def _checked_state(self, hx: Any, n_axes: int) -> Any:
        if hx[0].dim() != n_axes or hx[1].dim() != n_axes:
            batched = "batched 3-D" if n_axes == 3 else "unbatched 2-D"
            raise runtime_error(
                f"For {batched} input, hx and cx should also be {n_axes}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors",
                "The state is (h, c), each (num_layers * directions, batch, features), without "
                "batch if the input is.",
            )
        return tuple(hx) if n_axes == 3 else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def forward(self, input: Any, hx: Any = None) -> tuple:
        return self._forward(input, hx)
