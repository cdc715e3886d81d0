"""Cells of recurrent networks."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises

STATES = {  # PyTorch's after two steps, for seed 0
    "RNNCell": [
        [
            [-0.025888171046972275, -0.41677993535995483],
            [-0.011755536310374737, -0.6565974950790405],
        ]
    ],
    "LSTMCell": [
        [
            [-0.22707948088645935, 0.002216212684288621],
            [-0.2082827091217041, -0.007766867056488991],
        ],
        [[-0.411590039730072, 0.0032773055136203766], [-0.4190208613872528, -0.011749058961868286]],
    ],
    "GRUCell": [
        [[-0.4658440947532654, -0.562874972820282], [-0.46373242139816284, -0.5659982562065125]]
    ],
}


@pytest.mark.parametrize("name", list(STATES))
def test_a_seed_gives_the_numbers_of_pytorch(name):
    x = torch.arange(12.0).view(3, 2, 2) / 10
    torch.manual_seed(0)
    cell = getattr(nn, name)(2, 2)
    state = cell(x[1], cell(x[0]))
    for part, expected in zip(
        state if isinstance(state, tuple) else (state,), STATES[name], strict=True
    ):
        assert torch.allclose(part, torch.tensor(expected), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_cell_in_a_loop_is_the_layer(name):
    layer = getattr(nn, name)(2, 3)
    cell = getattr(nn, name + "Cell")(2, 3)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    x = torch.randn(5, 4, 2)
    y, _ = layer(x)
    state = None
    for t in range(5):
        state = cell(x[t], state)
        h = state[0] if name == "LSTM" else state
        assert torch.allclose(h, y[t], atol=1e-6)


def test_a_single_input_gives_a_single_state():
    h, c = nn.LSTMCell(3, 4)(torch.zeros(3))
    assert h.shape == c.shape == (4,)
    assert nn.GRUCell(3, 4)(torch.zeros(3), torch.zeros(4)).shape == (4,)


def test_cells_print_their_sizes():
    assert repr(nn.LSTMCell(3, 4, bias=False)) == "LSTMCell(3, 4, bias=False)"
    assert repr(nn.RNNCell(3, 4, nonlinearity="relu")) == "RNNCell(3, 4, nonlinearity=relu)"


def test_what_does_not_fit_is_named():
    zeros = torch.zeros
    with raises(ValueError, "GRUCell: Expected input to be 1D or 2D, got 3D instead"):
        nn.GRUCell(3, 4)(zeros(1, 2, 3))
    with raises(ValueError, "LSTMCell: Expected hx[0] to be 1D or 2D, got 3D instead"):
        nn.LSTMCell(3, 4)(zeros(2, 3), (zeros(1, 2, 4), zeros(2, 4)))
    with raises(RuntimeError, "input has inconsistent input_size: got 4 expected 3"):
        nn.RNNCell(3, 4)(zeros(2, 4))
    with raises(RuntimeError, "Input batch size 2 doesn't match hidden1 batch size 3"):
        nn.LSTMCell(3, 4)(zeros(2, 3), (zeros(2, 4), zeros(3, 4)))
    with raises(RuntimeError, "hidden0 has inconsistent hidden_size: got 5, expected 4"):
        nn.GRUCell(3, 4)(zeros(2, 3), zeros(2, 5))
    message = "lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor"
    with raises(TypeError, message):
        nn.LSTMCell(3, 4)(zeros(2, 3), zeros(2, 4))
    with raises(RuntimeError, "Unknown nonlinearity: foo"):
        nn.RNNCell(3, 4, nonlinearity="foo")(zeros(2, 3))
