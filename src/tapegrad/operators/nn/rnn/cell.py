"""One step of recurrent networks."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.operators.linalg.linear import linear
from tapegrad.operators.pointwise.relu_threshold_shrink import relu
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import sigmoid
from tapegrad.operators.pointwise.trigonometry import tanh
from tapegrad.operators.shape.cat_stack import cat, stack
from tapegrad.operators.shape.split_chunk_unbind import split_untracked

__torch__ = "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell"


_ADVICE = "The input is (batch, input_size), each state (batch, hidden_size)."


def _check_input(x: Tensor, w_ih: Any) -> None:
    if x.size(1) != w_ih.size(1):
        text = f"input has inconsistent input_size: got {x.size(1)} expected {w_ih.size(1)}"
        raise errors.runtime_error(text, _ADVICE)


def _check_states(x: Tensor, states: tuple, w_hh: Any) -> None:
    hidden_size = w_hh.size(1)
    for i, h in enumerate(states):
        if h.size(0) != x.size(0):
            text = f"Input batch size {x.size(0)} doesn't match hidden{i} batch size {h.size(0)}"
            raise errors.runtime_error(text, _ADVICE)
        if h.size(1) != hidden_size:
            text = f"hidden{i} has inconsistent hidden_size: got {h.size(1)}, expected "
            raise errors.runtime_error(text + str(hidden_size), _ADVICE)


def _check_weights(w_ih: Any, w_hh: Any, n_gates: int) -> None:
    hidden_size = w_hh.size(1)
    for name, w in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if w.size(0) != n_gates * hidden_size:
            raise errors.runtime_error(
                f"{name} first dim must be {n_gates} * hidden_size = {n_gates * hidden_size}, "
                f"but got {w.size(0)}",
                "hidden_size is the second dimension of w_hh.",
            )


@require_tensors
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """tanh(w_ih input + b_ih + w_hh hx + b_hh).

    Shapes: (N, I) and hx (N, H); w_ih (H, I), w_hh (H, H); result as hx.

    >>> torch.rnn_tanh_cell(torch.ones(1, 1), torch.zeros(1, 1), torch.eye(1), torch.eye(1))
    tensor([[0.7616]])
    """
    _check_weights(w_ih, w_hh, 1)
    _check_input(input, w_ih)
    _check_states(input, (hx,), w_hh)
    return tanh(linear(hx, w_hh, b_hh) + linear(input, w_ih, b_ih))


@require_tensors
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """relu(w_ih input + b_ih + w_hh hx + b_hh).

    Shapes: (N, I) and hx (N, H); w_ih (H, I), w_hh (H, H); result as hx.

    >>> torch.rnn_relu_cell(torch.ones(1, 1), torch.ones(1, 1), torch.eye(1), torch.eye(1))
    tensor([[2.]])
    """
    _check_weights(w_ih, w_hh, 1)
    _check_input(input, w_ih)
    _check_states(input, (hx,), w_hh)
    return relu(linear(hx, w_hh, b_hh) + linear(input, w_ih, b_ih))


def _parts(gates: Any, n: int) -> tuple:
    size = gates._array.shape[1] // n
    return split_untracked(gates, axis=1, size=size) if size else gates.chunk(n, 1)


@require_tensors
def lstm_cell(
    input: Tensor, hx: Tensor, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple:
    """The next state (h, c) of long short-term memory; see `torch.nn.LSTMCell`.

    Shapes: (N, I) and (N, H) each; w_ih (4H, I), w_hh (4H, H); results as h.

    >>> w, zero = torch.ones(4, 1), torch.zeros(1, 1)
    >>> torch.lstm_cell(torch.ones(1, 1), (zero, zero), w, w)
    (tensor([[0.3696]]), tensor([[0.5568]]))
    """
    if not isinstance(hx, (tuple, list)):
        raise errors.must_be("lstm_cell", "hx", 2, "tuple of Tensors", hx)
    if len(hx) != 2:
        raise errors.runtime_error("lstm_cell expects two hidden states", "Give (h, c) as hx.")
    h, c = hx
    _check_input(input, w_ih)
    _check_weights(w_ih, w_hh, 4)
    _check_states(input, (h, c), w_hh)
    gates = linear(h, w_hh, b_hh) + linear(input, w_ih, b_ih)
    i, f, n, o = _parts(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * tanh(n)
    return sigmoid(o) * tanh(c), c


@require_tensors
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """The next state of gated recurrent units; see `torch.nn.GRUCell`.

    Shapes: (N, I) and hx (N, H); w_ih (3H, I), w_hh (3H, H); result as hx.

    >>> w, zero = torch.ones(3, 1), torch.zeros(1, 1)
    >>> torch.gru_cell(torch.ones(1, 1), zero, w, w)
    tensor([[0.2048]])
    """
    _check_input(input, w_ih)
    _check_states(input, (hx,), w_hh)
    _check_weights(w_ih, w_hh, 3)
    r_x, z_x, n_x = _parts(linear(input, w_ih, b_ih), 3)
    r_h, z_h, n_h = _parts(linear(hx, w_hh, b_hh), 3)
    n = tanh(n_x + n_h * sigmoid(r_h + r_x))
    return (hx - n) * sigmoid(z_h + z_x) + n


def stepwise_lstm(
    x: Tensor, start: list, weights: Tensor, sizes: tuple, reverse: bool, has_bias: bool
) -> tuple:
    """A layer of long short-term memory: the outputs, and the last c."""
    w_ih, w_hh, *rest = weights
    b_ih, b_hh, *rest = rest if has_bias else (None, None, *rest)

    def step(gates: Any, states: list) -> list:
        h, c = states
        i, f, n, o = (gates + linear(h, w_hh, b_hh)).chunk(4, 1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(n)
        h = sigmoid(o) * tanh(c)
        return [linear(h, rest[0]) if rest else h, c]

    return _stepped(linear(x, w_ih, b_ih), start, sizes, reverse, step)


def stepwise_gru(x: Tensor, start: list, weights: Tensor, sizes: tuple, reverse: bool) -> tuple:
    """A layer of gated recurrent units: the outputs."""
    w_ih, w_hh, b_ih, b_hh = (*weights, None, None)[:4]

    def step(gates: Any, states: list) -> list:
        (h,) = states
        r_x, z_x, n_x = gates.chunk(3, 1)
        r_h, z_h, n_h = linear(h, w_hh, b_hh).chunk(3, 1)
        n = tanh(n_x + sigmoid(r_x + r_h) * n_h)
        return [(h - n) * sigmoid(z_x + z_h) + n]

    return _stepped(linear(x, w_ih, b_ih), start, sizes, reverse, step)


def stepwise_rnn(
    x: Tensor, start: list, weights: Tensor, sizes: tuple, reverse: bool, activation: str
) -> tuple:
    """A recurrent layer: the outputs."""
    w_ih, w_hh, b_ih, b_hh = (*weights, None, None)[:4]
    activate = tanh if activation == "tanh" else relu

    def step(sums: Any, states: list) -> list:
        return [activate(sums + linear(states[0], w_hh, b_hh))]

    return _stepped(linear(x, w_ih, b_ih), start, sizes, reverse, step)


def _stepped(gates: Any, start: list, sizes: tuple, reverse: bool, step: Callable) -> tuple:
    """The outputs of all steps, and the last of each part of the state but the first.

    `gates` are (length, batch, ...), or packed: the rows of all steps, `sizes` of them in each.
    """
    rows = gates.split(list(sizes)) if gates.ndim == 2 else gates.unbind(0)
    outputs: list[Any] = [None] * len(sizes)
    ended: list[list] = []  # states of sequences that are over
    states = [part[: sizes[-1 if reverse else 0]] for part in start]
    for i in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        n, before = sizes[i], states[0].shape[0]
        if n > before:  # sequences that begin here, seen from their end
            states = [cat([s, part[before:n]]) for s, part in zip(states, start, strict=True)]
        elif n < before:
            ended.append([s[n:] for s in states])
            states = [s[:n] for s in states]
        states = step(rows[i], states)
        outputs[i] = states[0]
    last = [
        cat([states[k], *(s[k] for s in reversed(ended))]) if ended else states[k]
        for k in range(1, len(states))
    ]
    return (cat(outputs) if gates.ndim == 2 else stack(outputs), *last)
