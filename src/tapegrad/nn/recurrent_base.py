"""What recurrent networks share: weights, checks, and the way through padded or packed input."""

from __future__ import annotations

from typing import Any
from warnings import warn

from tapegrad.core.errors import runtime_error, type_error, value_error
from tapegrad.dispatch.autocast_state import is_on
from tapegrad.nn import init
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.nn.utils.packed_sequence import PackedSequence
from tapegrad.operators.creation.zeros_eye import empty, zeros
from tapegrad.operators.nn.rnn.rnn_lstm_gru import gru, lstm, rnn_relu, rnn_tanh
from tapegrad.tensors.tensor import Tensor

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {"LSTM": lstm, "GRU": gru, "RNN_TANH": rnn_tanh, "RNN_RELU": rnn_relu}


class RNNBase(Module):
    """What recurrent networks share: options, weights, checks.

    Weights of layer k are `weight_ih_l[k]`, `weight_hh_l[k]`, `bias_ih_l[k]`, `bias_hh_l[k]` and
    with projections `weight_hr_l[k]`; those of the way back end in `_reverse`.
    """

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
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
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
                    parameter = Parameter(empty(shape, device=device, dtype=dtype))
                    self.register_parameter(names[-1], parameter)
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
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != usual:
                parts.append(f"{name}={value}")
        return ", ".join(parts)

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

    def _run(self, *args: Any) -> tuple:
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

    def _forward(self, input: Any, hx: Any) -> tuple:
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
            stacklevel=4,
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
