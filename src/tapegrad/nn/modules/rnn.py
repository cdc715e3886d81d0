"""Recurrent layers and their cells."""

from tapegrad.core.annotations import Any, DeviceLike, DTypeLike
from tapegrad.core.errors import runtime_error, type_error, value_error, warn
from tapegrad.dispatch.autocast_state import is_on
from tapegrad.nn import init
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import unusual
from tapegrad.nn.parameter import Parameter, add_parameter
from tapegrad.nn.utils.rnn import PackedSequence
from tapegrad.operators.creation.zeros_eye import zeros
from tapegrad.operators.nn.rnn.cell import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from tapegrad.operators.nn.rnn.rnn_lstm_gru import gru, lstm, rnn_relu, rnn_tanh
from tapegrad.tensors.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {"LSTM": lstm, "GRU": gru, "RNN_TANH": rnn_tanh, "RNN_RELU": rnn_relu}


class RNNBase(Module):
    """What recurrent networks share: options, weights, checks.

    Weights of layer k are `weight_ih_l[k]`, `weight_hh_l[k]`, `bias_ih_l[k]`, `bias_hh_l[k]` and
    with projections `weight_hr_l[k]`; those of the way back end in `_reverse`.
    """

    __constants__ = (
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    )

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout = float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        _check_options(self, dropout)
        if mode not in _GATES:
            raise value_error("Unrecognized RNN mode: " + mode, f"Modes are {', '.join(_GATES)}.")
        rows = _GATES[mode] * hidden_size
        out = proj_size or hidden_size
        directions = ("", "_reverse") if bidirectional else ("",)
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            size = out * len(directions) if layer else input_size
            shapes: dict[str, tuple] = {"weight_ih": (rows, size), "weight_hh": (rows, out)}
            if bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if proj_size:
                shapes |= {"weight_hr": (proj_size, hidden_size)}
            for suffix in directions:
                names = []
                for name, shape in shapes.items():
                    names.append(f"{name}_l{layer}{suffix}")
                    add_parameter(self, names[-1], True, shape, device, dtype)
                self._all_weights.append(names)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """Uniform on +-1/sqrt(hidden_size), all of them."""
        bound = 1 / self.hidden_size**0.5 if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: it lays weights out for a GPU's library, which there is none of here."""

    def extra_repr(self) -> str:
        usual = {"bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        parts = unusual(self, proj_size=0, num_layers=1, **usual)
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *parts])

    # ---------------------------------------------------------------------------------- checks

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise unless the input has the layer's dtype, as many axes as it must, and its size."""
        dtype = self._flat_weights[0].dtype
        if input.dtype is not dtype and not is_on():
            raise value_error(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})",
                "Input and weights have one dtype.",
            )
        n = 2 if batch_sizes is not None else 3
        if input.dim() != n:
            raise runtime_error(
                f"input must have {n} dimensions, got {input.dim()}",
                "Packed data are (rows, input_size).",
            )
        if input.size(-1) != self.input_size:
            raise runtime_error(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}",
                "The last dimension of the input is its features.",
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """(layers and directions, batch, features) of the state h."""
        if batch_sizes is not None:
            n = int(batch_sizes[0])
        else:
            n = input.size(0) if self.batch_first else input.size(1)
        directions = 2 if self.bidirectional else 1
        return self.num_layers * directions, n, self.proj_size or self.hidden_size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raise unless a state has this shape."""
        if tuple(hx.shape) != expected_hidden_size:
            raise runtime_error(
                msg.format(expected_hidden_size, list(hx.shape)),
                "A state is (num_layers * directions, batch, features), also with batch_first.",
            )

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise unless input and state fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its batch in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # --------------------------------------------------------------------------------- forward

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return zeros(shape, dtype=input.dtype, device=input.device)

    def _checked_state(self, hx: Any, n_axes: int) -> Any:
        """A state as it was given, as (layers, batch, features)."""
        if hx.dim() != n_axes:
            batched = "batched 3-D" if n_axes == 3 else "unbatched 2-D"
            raise runtime_error(
                f"For {batched} input, hx should also be {n_axes}-D but got {hx.dim()}-D tensor",
                "A state is (num_layers * directions, batch, features), without batch if the input "
                "is.",
            )
        return hx if n_axes == 3 else hx.unsqueeze(1)

    def _run(self, *args: object) -> tuple:
        return _FUNCTIONS[self.mode](*args)

    def _options(self) -> tuple:
        return (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)

    def _forward_packed(self, input: PackedSequence, hx: Any) -> tuple:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is None:
            hx = self._zero_state(data, batch_sizes)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, *last = self._run(data, batch_sizes, hx, self._flat_weights, *self._options())
        output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(_state(last), unsorted_indices)

    def forward(self, input: Tensor, hx: Any = None) -> tuple:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            tensor = " tensor" if self.mode[:3] == "RNN" else ""
            raise value_error(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D"
                f"{tensor} instead",
                "It is (length, batch, features), or (length, features) without a batch.",
            )
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is None:
            hx = self._zero_state(input, None)
        else:
            hx = self._checked_state(hx, 3 if batched else 2)
        self.check_forward_args(input, hx, None)
        output, *last = self._run(input, hx, self._flat_weights, *self._options(), self.batch_first)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            last = [x.squeeze(1) for x in last]
        return output, _state(last)


def _state(parts: list) -> Any:
    return parts[0] if len(parts) == 1 else tuple(parts)


def _check_options(module: RNNBase, dropout: Any) -> None:
    if not 0 <= module.dropout <= 1 or isinstance(dropout, bool):
        raise value_error(
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed",
            "dropout is between layers.",
        )
    if dropout > 0 and module.num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={module.num_layers}",
            4,
        )
    if not isinstance(module.hidden_size, int):
        raise type_error(
            f"hidden_size should be of type int, got: {type(module.hidden_size).__name__}",
            "hidden_size is how many numbers a state has.",
        )
    for name in ("hidden_size", "input_size", "num_layers"):
        if getattr(module, name) <= 0:
            raise value_error(f"{name} must be greater than zero", f"{name} is a count, 1 or more.")
    if module.proj_size < 0:
        raise value_error(
            "proj_size should be a positive integer or zero to disable projections",
            "proj_size is the size of the projected output.",
        )
    if module.proj_size >= module.hidden_size:
        raise value_error(
            "proj_size has to be smaller than hidden_size",
            "Leave proj_size away for an output of hidden_size.",
        )


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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
        *,
        proj_size: Any = None,
    ) -> None:
        _no_projection(proj_size)
        super().__init__(
            "GRU",
            *(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0),
            *(device, dtype),
        )


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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
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


class RNNCellBase(Module):
    """What cells share: weights of `num_chunks` gates, one below the other."""

    __constants__: tuple[str, ...] = ("input_size", "hidden_size", "bias")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        add_parameter(self, "weight_ih", True, (rows, input_size), device, dtype)
        add_parameter(self, "weight_hh", True, (rows, hidden_size), device, dtype)
        add_parameter(self, "bias_ih", bias, rows, device, dtype)
        add_parameter(self, "bias_hh", bias, rows, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform on +-1/sqrt(hidden_size), all of them."""
        bound = 1 / self.hidden_size**0.5 if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}", *unusual(self, bias=True)]
        if "nonlinearity" in self.__dict__:
            parts += unusual(self, nonlinearity="tanh")
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

    __constants__ = ("input_size", "hidden_size", "bias", "nonlinearity")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike = None,
        dtype: DTypeLike = None,
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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        x, h = self._batch_of(input, hx)
        found = gru_cell(x, h, *self._weights())
        return found.squeeze(0) if input.dim() == 1 else found
