"""Recurrent networks of several layers and directions, on padded or packed sequences."""

from functools import partial

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import float32, int64
from tapegrad.core.family import family
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import no_dimensions
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.autocast_state import IN_USE, lower_dtype, lowered
from tapegrad.operators.linalg.matmul_check import mismatch, unequal_dtypes
from tapegrad.operators.nn.dropout import dropout as drop
from tapegrad.operators.nn.rnn.cell import stepwise_gru, stepwise_lstm
from tapegrad.operators.nn.rnn.rnn_rules import gru_layer, lstm_layer, rnn_layer
from tapegrad.operators.shape.cat_stack import cat, stack

__torch__ = "gru lstm rnn_relu rnn_tanh"


class _Options:
    """What the arguments of a call say, padded or packed."""

    __slots__ = (
        "bidirectional", "dropout", "has_biases", "hx", "input", "n_layers", "n_weights", "packed",
        "params", "sizes", "train", "turned",
    )  # fmt: skip

    def __init__(self, given: tuple, mixed: bool = False):
        self.packed = isinstance(given[3], (list, tuple))
        if self.packed:
            self.input, sizes, self.hx, self.params, self.has_biases = given[:5]
            self.n_layers, self.dropout, self.train, self.bidirectional = given[5:]
            self.turned = False
            self._check_numbers()
            if sizes.dtype is not int64:
                raise errors.runtime_error(
                    f"expected scalar type Long but found {sizes.dtype.scalar_name}",
                    "batch_sizes are whole numbers: pack_padded_sequence makes them.",
                )
            if not sizes.ndim:
                raise no_dimensions(0, "batch_sizes has one dimension, that of time.")
            self.sizes = tuple(sizes.tolist())
            _check_sizes(self.sizes, self.input)
        else:
            self.input, self.hx, self.params, self.has_biases, self.n_layers = given[:5]
            self.dropout, self.train, self.bidirectional, self.turned = given[5:]
            if self.turned:
                self.input = self.input.transpose(0, 1).contiguous()
            self._check_numbers()
            self.sizes = (self.input.shape[1],) * self.input.shape[0]
        if not self.sizes:
            raise errors.runtime_error(
                "Expected sequence length to be larger than 0 in RNN",
                "The input is (length, batch, features), or with batch_first (batch, length, "
                "features).",
            )
        states = self.hx if isinstance(self.hx, (tuple, list)) else (self.hx,)
        for x in states:
            if x.dtype is not self.input.dtype and not mixed:
                advice = f"Convert the state: hx.to({self.input.dtype})."
                raise unequal_dtypes("mat1 and mat2", x, self.input, advice)

    def _check_numbers(self) -> None:
        """Refuse weights and states that are not as many as layers and directions need."""
        directions = 2 if self.bidirectional else 1
        needed = self.n_layers * directions
        has_pair = isinstance(self.hx, (tuple, list))
        projects = has_pair and self.hx[0].size(2) != self.hx[1].size(2)
        self.n_weights = n_each = (4 if self.has_biases else 2) + projects
        # PyTorch runs such an LSTM in one piece, which takes no notice of what is too much.
        fused = has_pair and not self.packed and not projects and self.input.dtype is float32
        n_params = len(self.params)
        if n_params % n_each:
            text = "got an incorrect number of RNN parameters"
            if fused:
                text = f"MatrixRef: ArrayRef size {n_params} not divisible by stride {n_each}"
            raise self._unequal(text, needed)
        states = self.hx if has_pair else (self.hx,)
        if not all(x.ndim for x in states):
            raise no_dimensions(0, "A state begins with layers and directions.")
        n_states = min(x.shape[0] for x in states)
        n_weights = n_params // n_each
        if directions == 2 and not fused and (n_states % 2 or n_weights % 2):
            text = "Odd number of params or hiddens given to a bidirectional RNN"
        elif n_states != needed and (not fused or n_states < needed):
            text = "Expected more hidden states in stacked_rnn"
        elif n_weights != needed and (not fused or n_weights < needed):
            text = "Expected more weights in stacked_rnn"
        elif needed < 1:
            text = "stack expects a non-empty TensorList"
        else:
            return
        raise self._unequal(text, needed)

    def _unequal(self, text: str, needed: int) -> RuntimeError:
        directions = " in both directions" if self.bidirectional else ""
        return errors.runtime_error(
            text,
            f"For {self.n_layers} layers{directions}, give {max(needed, 0)} times "
            f"{self.n_weights} weights and states of shape ({max(needed, 0)}, batch, hidden_size).",
        )


def _check_sizes(sizes: tuple[int, ...], data: Any) -> None:
    if list(sizes) != sorted(sizes, reverse=True) or sum(sizes) != data.shape[0]:
        raise errors.runtime_error(
            f"batch_sizes {list(sizes)} are not those of a packed sequence of {data.shape[0]} rows",
            "They never increase, and sum to the number of rows: pack_padded_sequence makes them.",
        )


def _last_rows(sizes: tuple[int, ...]) -> np.ndarray:
    """The row of a packed sequence in which each sequence ends."""
    starts = np.concatenate(([0], np.cumsum(sizes[:-1])))
    found = np.empty(sizes[0], np.int64)
    for start, n in zip(starts, sizes, strict=True):
        found[:n] = np.arange(start, start + n)
    return found


def _last_output(output: Any, sizes: tuple[int, ...], reverse: bool) -> Any:
    if output.ndim == 3:
        return output[0 if reverse else -1]
    if reverse:
        return output[: sizes[0]]
    return output.index_select(0, wrap(_last_rows(sizes)))


def _check_states(hx: Any) -> None:
    """Refuse what is not the two parts of the state of an LSTM."""
    if len(hx) != 2:
        raise errors.runtime_error("lstm expects two hidden states", "Give (h, c) as hx.")


def _runs_by_steps(hx: Tensor) -> bool:
    """Whether an LSTM is packed, or projects its output: PyTorch then runs it step by step."""
    if not isinstance(hx, (tuple, list)):  # packed: these are batch_sizes and hx
        return True
    return hx[0].shape[-1] != hx[1].shape[-1]


def _run(call: _Options, states: tuple, layer: Callable) -> tuple:
    """The output of the last layer, and for each part of the state those of all layers.

    `layer(x, states, weights, sizes, reverse)` gives the output, then the last of each part of the
    state but the first, which is the output's.
    """
    x = call.input
    directions = 2 if call.bidirectional else 1
    n_weights = call.n_weights
    starts = [part.unbind(0) for part in states]
    ends: list[tuple] = []
    for i in range(call.n_layers):
        outputs = []
        for reverse in range(directions):
            k = i * directions + reverse
            weights = call.params[k * n_weights : (k + 1) * n_weights]
            w_ih = weights[0]
            if x.shape[-1] != w_ih.shape[1]:
                raise mismatch((x.numel() // max(x.shape[-1], 1), x.shape[-1]), w_ih.shape[::-1])
            start = [part[k] for part in starts]
            output, *others = layer(x, start, weights, call.sizes, bool(reverse))
            ends.append((_last_output(output, call.sizes, bool(reverse)), *others))
            outputs.append(output)
        x = outputs[0] if directions == 1 else cat(outputs, -1)
        if call.dropout and call.train and i < call.n_layers - 1:
            x = drop(x, call.dropout, True)
    if call.turned:
        x = x.transpose(0, 1)
    return (x, *[stack(part) for part in zip(*ends, strict=True)])


@family
def _network(compute: Callable) -> Callable:
    def network(
        input: Tensor,
        hx: Tensor,
        params: Any,
        has_biases: Any,
        num_layers: Any,
        dropout: Any,
        train: Any,
        bidirectional: Any,
        batch_first: Any,
    ) -> tuple:
        rest = (has_biases, num_layers, dropout, train, bidirectional, batch_first)
        return compute(input, hx, params, *rest)

    return network


def _lstm(input: Tensor, hx: Tensor, params: Any, *rest: Any) -> tuple:
    _check_states(hx if isinstance(hx, (tuple, list)) else params)
    stepwise = lower_dtype() is not None
    if stepwise and not _runs_by_steps(hx):
        input, hx, params = lowered(input, hx, params)
        stepwise = False
    call = _Options((input, hx, params, *rest), stepwise)

    def layer(x: Tensor, start: list, weights: Tensor, sizes: tuple, reverse: bool) -> Any:
        if stepwise:
            return stepwise_lstm(x, start, weights, sizes, reverse, bool(call.has_biases))
        options = {"has_bias": bool(call.has_biases), "sizes": sizes, "reverse": reverse}
        return lstm_layer(x, *start, *weights, **options, wants_input=x.requires_grad)[:2]

    return _run(call, tuple(call.hx), layer)


@require_tensors
@_network(_lstm)
def lstm() -> Any:
    """Long short-term memory: the output, the last h and the last c; see `torch.nn.LSTM`.

    A packed sequence is given as (data, batch_sizes, hx, params, has_biases, num_layers, dropout,
    train, bidirectional).

    Shapes: those of `torch.nn.LSTM`.

    >>> w, x, h = torch.ones(4, 1), torch.zeros(3, 1, 1), torch.zeros(1, 1, 1)
    >>> y, h, c = torch.lstm(x, (h, h), (w, w), False, 1, 0.0, False, False, False)
    >>> y.shape
    torch.Size([3, 1, 1])
    """


def _gru(*given: Any) -> tuple:
    stepwise = lower_dtype() is not None
    call = _Options(given, stepwise)

    def layer(x: Tensor, start: list, weights: Tensor, sizes: tuple, reverse: bool) -> Any:
        if stepwise:
            return stepwise_gru(x, start, weights, sizes, reverse)
        options = {"sizes": sizes, "reverse": reverse, "wants_input": x.requires_grad}
        return gru_layer(x, *start, *weights, **options)[:1]

    return _run(call, (call.hx,), layer)


@require_tensors
@_network(_gru)
def gru() -> Any:
    """Gated recurrent units: the output and the last h; see `torch.nn.GRU`.

    A packed sequence is given as for `torch.lstm`.

    Shapes: those of `torch.nn.GRU`.

    >>> w, x, h = torch.ones(3, 1), torch.zeros(3, 1, 1), torch.zeros(1, 1, 1)
    >>> y, h = torch.gru(x, h, (w, w), False, 1, 0.0, False, False, False)
    >>> y.shape
    torch.Size([3, 1, 1])
    """


def _rnn(activation: str, *given: Any) -> tuple:
    call = _Options(lowered(*given) if IN_USE else given)

    def layer(x: Tensor, start: list, weights: Tensor, sizes: tuple, reverse: bool) -> Any:
        options = {"activation": activation, "sizes": sizes, "reverse": reverse}
        return rnn_layer(x, *start, *weights, **options, wants_input=x.requires_grad)[:1]

    return _run(call, (call.hx,), layer)


@overridable
@_network(partial(_rnn, "tanh"))
def rnn_tanh() -> Any:
    """A recurrent network with tanh: the output and the last h; see `torch.nn.RNN`.

    A packed sequence is given as for `torch.lstm`.

    Shapes: those of `torch.nn.RNN`.

    >>> w, x, h = torch.ones(1, 1), torch.ones(2, 1, 1), torch.zeros(1, 1, 1)
    >>> torch.rnn_tanh(x, h, (w, w), False, 1, 0.0, False, False, False)[0].flatten()
    tensor([0.7616, 0.9427])
    """


@overridable
@_network(partial(_rnn, "relu"))
def rnn_relu() -> Any:
    """A recurrent network with ReLU: the output and the last h; see `torch.nn.RNN`.

    A packed sequence is given as for `torch.lstm`.

    Shapes: those of `torch.nn.RNN`.

    >>> w, x, h = torch.ones(1, 1), torch.ones(2, 1, 1), torch.zeros(1, 1, 1)
    >>> torch.rnn_relu(x, h, (w, w), False, 1, 0.0, False, False, False)[0].flatten()
    tensor([1., 2.])
    """
