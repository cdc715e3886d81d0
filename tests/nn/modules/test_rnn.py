"""Recurrent networks: PyTorch's numbers for a seed, states, packed input, errors."""

import copy
import warnings

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises, raises_beginning

STATE = (-0.005293981172144413, 0.37932288646698)  # the first row of weight_ih_l0 for seed 0


OUTPUT = {  # PyTorch's, of the first sequence, two layers both ways with dropout for seed 1
    "RNN": [
        [-0.561720073223114, 0.9575470685958862, -0.12197399139404297, 0.862464427947998],
        [-0.8550214171409607, 0.9391759037971497, -0.2827621400356293, 0.8430066108703613],
        [-0.1311078667640686, 0.7778847813606262, 0.8716831803321838, 0.26151201128959656],
    ],
    "LSTM": [
        [0.030734926462173462, -0.11091404408216476, 0.09346270561218262, 0.14883354306221008],
        [0.045462336391210556, -0.153654545545578, 0.06229187175631523, 0.1180560290813446],
        [0.040231578052043915, -0.1622288078069687, 0.012446729466319084, 0.11006928980350494],
    ],
    "GRU": [
        [-0.18414148688316345, 0.17765840888023376, -0.1707582324743271, -0.5649467706680298],
        [0.18682312965393066, 0.20934061706066132, -0.09192154556512833, -0.397430956363678],
        [0.11901092529296875, 0.23259581625461578, -0.07485082000494003, -0.3080218434333801],
    ],
}


GRADIENT = {  # of bias_hh_l0_reverse, for the sum of squares
    "RNN": [-1.1904500722885132, 1.4825160503387451],
    "LSTM": [
        *(0.010857228189706802, 0.004606027156114578, 0.002397731877863407, 0.005645676515996456),
        *(0.05009406432509422, -0.04346742480993271, 0.01176459714770317, 0.014366121962666512),
    ],
    "GRU": [
        *(0.333773136138916, 0.0033200327306985855, -0.1209510788321495),
        *(-0.049197401851415634, -1.345078706741333, -0.0794554203748703),
    ],
}


PACKED = {  # the longest sequence's first output, and the last states of the shorter one
    "RNN": (
        [-0.5258654952049255, 0.9105137586593628, 0.23013724386692047, 0.4139522314071655],
        [
            [-0.23409369587898254, -0.0039220997132360935],
            [0.06439095735549927, 0.8071959614753723],
            [-0.5073227882385254, 0.9105704426765442],
            [0.21864695847034454, 0.16215462982654572],
        ],
    ),
    "LSTM": (
        [0.023508405312895775, -0.11625076085329056, 0.10055600106716156, 0.12926550209522247],
        [
            [-0.291333943605423, 0.07281899452209473],
            [0.2121482789516449, 0.06168685480952263],
            [0.06426700204610825, -0.3764519989490509],
            [0.026526685804128647, 0.2170354723930359],
        ],
    ),
    "GRU": (
        [-0.2154567688703537, 0.22716310620307922, -0.2360597848892212, -0.5488676428794861],
        [
            [-0.25123330950737, -0.39746081829071045],
            [0.012340443208813667, -0.06241817772388458],
            [-0.17945027351379395, 0.17696672677993774],
            [-0.13477854430675507, -0.19924966990947723],
        ],
    ),
}


def near(x, values):
    return torch.allclose(x, torch.tensor(values), rtol=1e-4, atol=1e-5)


def seeded(name):
    torch.manual_seed(0)
    module = getattr(nn, name)(2, 2, num_layers=2, dropout=0.5, bidirectional=True)
    return module, torch.arange(12.0).view(3, 2, 2) / 10


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_seed_gives_the_numbers_of_pytorch_with_dropout_and_both_ways(name):
    module, x = seeded(name)
    assert near(module.weight_ih_l0[0], STATE)
    torch.manual_seed(1)
    y, _ = module(x)
    assert near(y[:, 0], OUTPUT[name])
    (y * y).sum().backward()
    assert near(module.bias_hh_l0_reverse.grad, GRADIENT[name])


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_packed_sequences_end_where_each_of_them_ends(name):
    module, x = seeded(name)
    module.eval()
    pack = nn.utils.rnn.pack_padded_sequence(x, [1, 3], enforce_sorted=False)
    y, state = module(pack)
    output, last = PACKED[name]
    assert near(y.data[0], output)
    assert near((state[1] if name == "LSTM" else state)[:, 0], last)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_packed_and_padded_sequences_have_the_same_gradients(name):
    module, x = seeded(name)
    module.eval()
    lengths = [3, 2]
    rnn = nn.utils.rnn
    x = x.double().requires_grad_()
    module.double()
    y, _ = module(rnn.pack_padded_sequence(x, lengths))
    rnn.pad_packed_sequence(y)[0].pow(2).sum().backward()
    packed = [x.grad, *(p.grad for p in module.parameters())]
    x.grad = None
    module.zero_grad()
    for i, n in enumerate(lengths):
        module(x[:n, i])[0].pow(2).sum().backward()
    apart = [x.grad, *(p.grad for p in module.parameters())]
    assert all(torch.allclose(a, b) for a, b in zip(packed, apart, strict=True))


def test_a_projection_makes_the_output_smaller():
    torch.manual_seed(0)
    module = nn.LSTM(2, 3, proj_size=1)
    y, (h, c) = module(torch.arange(12.0).view(3, 2, 2) / 10)
    assert near(y[:, 0, 0], [-0.0036308858543634415, -0.045660458505153656, -0.10936252772808075])
    assert near(c[0, 0], [-0.0077839195728302, -0.7139121890068054, 0.08762155473232269])
    assert h.shape == (1, 2, 1)
    assert module.weight_hr_l0.shape == (1, 3)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_batch_first_turns_input_and_output_alone(name):
    module, x = seeded(name)
    module.eval()
    y, state = module(x)
    module.batch_first = True
    turned, same = module(x.transpose(0, 1))
    assert torch.equal(turned.transpose(0, 1), y)
    first = (state, same) if name != "LSTM" else (state[0], same[0])
    assert torch.equal(*first)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_sequence_continues_from_its_state(name):
    module = getattr(nn, name)(2, 3)
    x = torch.randn(6, 2, 2)
    whole, _ = module(x)
    first, state = module(x[:4])
    second, _ = module(x[4:], state)
    assert torch.allclose(torch.cat([first, second]), whole, atol=1e-6)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_layer_is_one_node_whatever_its_length(name):
    y, _ = getattr(nn, name)(2, 3)(torch.zeros(50, 1, 2))
    kinds = {type(edge).__name__ for edge, _ in y.grad_fn.next_functions if edge is not None}
    assert kinds == {"AccumulateGrad"}


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_outputs_may_be_written_in_place(name):
    module = getattr(nn, name)(2, 3)
    x = torch.ones(4, 1, 2)
    (module(x)[0] * 2).sum().backward()
    expected = module.weight_hh_l0.grad
    module.zero_grad()
    module(x)[0].mul_(2).sum().backward()
    assert torch.equal(module.weight_hh_l0.grad, expected)


def test_gradients_are_differentiable_again():
    module = nn.LSTM(2, 3).double()
    x = torch.randn(4, 1, 2, dtype=torch.float64)
    direction = torch.randn(4, 1, 2, dtype=torch.float64)

    def gradient(x, again=False):
        x = x.detach().requires_grad_()
        y = module(x)[0].pow(2).sum()
        return x, torch.autograd.grad(y, x, create_graph=again)[0]

    leaf, g = gradient(x, True)
    (second,) = torch.autograd.grad((g * direction).sum(), leaf)
    step = 1e-6 * direction
    numeric = (gradient(x + step)[1] - gradient(x - step)[1]) / 2e-6
    assert torch.allclose(second, numeric, atol=1e-8)


def test_options_are_printed_that_are_not_usual():
    module = nn.LSTM(3, 4, 2, False, True, 0.1, True, 2)
    assert repr(module) == (
        "LSTM(3, 4, proj_size=2, num_layers=2, bias=False, batch_first=True, dropout=0.1, "
        "bidirectional=True)"
    )
    assert repr(nn.RNN(3, 4, nonlinearity="relu")) == "RNN(3, 4)"


def test_weights_are_named_by_kind_layer_and_direction():
    module = nn.LSTM(3, 4, 2, bias=False, bidirectional=True, proj_size=2)
    shapes = [(name, tuple(p.shape)) for name, p in module.named_parameters()]
    assert shapes[3:8] == [
        ("weight_ih_l0_reverse", (16, 3)),
        ("weight_hh_l0_reverse", (16, 2)),
        ("weight_hr_l0_reverse", (2, 4)),
        ("weight_ih_l1", (16, 4)),
        ("weight_hh_l1", (16, 2)),
    ]
    assert [len(weights) for weights in module.all_weights] == [3, 3, 3, 3]
    assert module.flatten_parameters() is None


def test_what_does_not_fit_is_named():
    zeros = torch.zeros
    with raises(ValueError, "LSTM: Expected input to be 2D or 3D, got 1D instead"):
        nn.LSTM(3, 4)(zeros(3))
    with raises(RuntimeError, "input.size(-1) must be equal to input_size. Expected 3, got 4"):
        nn.GRU(3, 4)(zeros(5, 2, 4))
    with raises(RuntimeError, "For batched 3-D input, hx should also be 3-D but got 2-D tensor"):
        nn.RNN(3, 4)(zeros(5, 2, 3), zeros(1, 4))
    with raises(RuntimeError, "Expected hidden[1] size (1, 2, 4), got [1, 3, 4]"):
        nn.LSTM(3, 4)(zeros(5, 2, 3), (zeros(1, 2, 4), zeros(1, 3, 4)))
    with raises(RuntimeError, "Expected sequence length to be larger than 0 in RNN"):
        nn.GRU(3, 4)(zeros(0, 2, 3))
    message = (
        "RNN input dtype (torch.float64) does not match weight dtype (torch.float32). Convert "
        "input: input.to(torch.float32), or convert model: model.to(torch.float64)"
    )
    with raises(ValueError, message):
        nn.RNN(3, 4)(zeros(5, 2, 3, dtype=torch.float64))


def test_batch_sizes_that_are_not_those_of_a_packed_sequence_are_refused():
    pack = nn.utils.rnn.PackedSequence(torch.zeros(3, 2), torch.tensor([1, 2]))
    message = "batch_sizes [1, 2] are not those of a packed sequence of 3 rows"
    with raises(RuntimeError, message):
        nn.LSTM(2, 4)(pack)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"dropout": 2},
            ValueError,
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed",
        ),
        ({"num_layers": 0}, ValueError, "num_layers must be greater than zero"),
        (
            {"proj_size": -1},
            ValueError,
            "proj_size should be a positive integer or zero to disable projections",
        ),
        ({"proj_size": 4}, ValueError, "proj_size has to be smaller than hidden_size"),
    ],
)
def test_options_that_cannot_be_are_refused(arguments, error, message):
    with raises(error, message):
        nn.LSTM(3, 4, **arguments)


def test_projections_are_those_of_lstm_alone():
    message = "proj_size argument is only supported for LSTM, not RNN or GRU"
    for layer in (nn.RNN, nn.GRU):
        with raises(ValueError, message):
            layer(3, 4, proj_size=2)


def test_dropout_of_one_layer_warns():
    message = "dropout option adds dropout after all but last recurrent layer"
    with pytest.warns(UserWarning, match=message):
        nn.GRU(3, 4, dropout=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.GRU(3, 4, num_layers=2, dropout=0.5)


def test_numbers_of_16_bits_are_computed():
    for layer in (nn.RNN, nn.LSTM, nn.GRU):
        for dtype in (torch.float16, torch.bfloat16):
            torch.manual_seed(0)
            module = layer(2, 3)
            x = torch.ones(4, 1, 2)
            wide, _ = module(x)
            y, _ = module.to(dtype)(x.to(dtype))
            assert y.dtype is dtype
            assert torch.allclose(y.float(), wide, atol=0.02)
            y.sum().backward()
            assert module.weight_hh_l0.grad.dtype is dtype


@pytest.mark.parametrize("sizes", [{"hidden_size": 1}, {"hidden_size": 3, "proj_size": 1}])
def test_a_pass_leaves_weights_of_a_single_column_as_they_are(sizes):
    net = nn.LSTM(2, **sizes)
    before = copy.deepcopy(net.state_dict())
    net(torch.ones(4, 2))
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


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


def test_what_does_not_fit_a_cell_is_named():
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


NUMBERS = (  # parameters, layers, both ways, and PyTorch's error
    (3, 1, False, "got an incorrect number of RNN parameters"),
    (0, 1, False, "Expected more weights in stacked_rnn"),
    (4, 2, False, "Expected more hidden states in stacked_rnn"),
    (8, 1, True, "Odd number of params or hiddens given to a bidirectional RNN"),
)


@pytest.mark.parametrize("name", ["gru", "rnn_tanh", "rnn_relu"])
@pytest.mark.parametrize(("n", "layers", "both", "text"), NUMBERS)
def test_as_many_weights_and_states_as_layers(name, n, layers, both, text):
    x, h = torch.ones(3, 2, 4), torch.ones(1, 2, 5)
    with raises(RuntimeError, text):
        getattr(torch, name)(x, h, [torch.ones(15, 4)] * n, True, layers, 0.0, False, both, False)
    with raises(RuntimeError, text):
        sizes = torch.tensor([2, 2, 2])
        params = [torch.ones(15, 4)] * n
        getattr(torch, name)(x.flatten(0, 1), sizes, h, params, True, layers, 0.0, False, both)


def test_an_lstm_has_two_states():
    x, h, w = torch.ones(3, 2, 4), torch.ones(1, 2, 5), torch.ones(20, 4)
    with raises(RuntimeError, "lstm expects two hidden states"):
        torch.lstm(x, [h], [w, w, w, w], True, 1, 0.0, False, False, False)
    with raises(RuntimeError, "lstm_cell expects two hidden states"):
        torch.lstm_cell(x[0], [h[0]], w, torch.ones(20, 5))
    with raises_beginning(IndexError, "Dimension out of range (expected to be in range of [-1, 0]"):
        torch.lstm(x, [h[0, 0], h[0, 0]], [w, w, w, w], True, 1, 0.0, False, False, False)


@pytest.mark.parametrize("name, gates", [("rnn_tanh_cell", 1), ("gru_cell", 3), ("lstm_cell", 4)])
def test_weights_of_a_cell_have_a_row_for_each_gate(name, gates):
    x, h = torch.ones(2, 4), torch.ones(2, 5)
    hx = (h, h) if gates == 4 else h
    w, u = torch.ones(gates * 5, 4), torch.ones(gates * 5, 5)
    for which, a, b in (("ih", w[1:], u), ("hh", w, u[1:])):
        text = f"weight_{which} first dim must be {gates} * hidden_size = {gates * 5}, but got "
        with raises(RuntimeError, text + str(gates * 5 - 1)):
            getattr(torch, name)(x, hx, a, b)


def test_sizes_of_a_packed_sequence_are_integers():
    x, h, w = torch.ones(2, 4), torch.ones(1, 2, 5), [torch.ones(5, 4), torch.ones(5, 5)]
    with raises(RuntimeError, "expected scalar type Long but found Float"):
        torch.rnn_tanh(x, torch.tensor([2.0]), h, w, False, 1, 0.0, False, False)


@pytest.mark.parametrize("cell", [nn.RNNCell, nn.LSTMCell, nn.GRUCell])
def test_a_cell_without_state_has_an_empty_result(cell):
    x = torch.ones(3, 10, requires_grad=True)
    result = cell(10, 0)(x)
    h = result[0] if isinstance(result, tuple) else result
    assert h.shape == (3, 0)
    h.sum().backward()
    assert x.grad.shape == (3, 10)
