"""torchsummary's table of a model's layers."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect.torchsummary import summary

RULE = "-" * 64
HEAD = "        Layer (type)               Output Shape         Param #"


class Pair(nn.Module):
    """Two inputs, two outputs, a parameter of its own, a layer used twice."""

    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 4)
        self.right = nn.Linear(5, 4, bias=False)
        self.both = nn.ModuleList([nn.Linear(4, 4)])
        self.scale = nn.Parameter(torch.ones(4))
        self.left.weight.requires_grad_(False)

    def forward(self, x, y):
        h = self.left(x) + self.right(y) * self.scale
        h = self.both[0](self.both[0](h))
        return h, h.sum(1)


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = Pair()

    def forward(self, x, y):
        return self.pair(x, y)[0]


def printed(capsys, *args, **kwargs):
    assert summary(*args, **kwargs) is None
    return capsys.readouterr().out.splitlines()


def test_a_network_prints_as_torchsummary_prints_it(capsys):
    model = nn.Sequential(nn.Linear(1000, 100), nn.ReLU(), nn.Sequential(nn.Linear(100, 10)))
    assert printed(capsys, model, (64, 1000), device="cpu") == [
        RULE,
        HEAD,
        "=" * 64,
        "            Linear-1              [-1, 64, 100]         100,100",
        "              ReLU-2              [-1, 64, 100]               0",
        "            Linear-3               [-1, 64, 10]           1,010",
        "=" * 64,
        "Total params: 101,110",
        "Trainable params: 101,110",
        "Non-trainable params: 0",
        RULE,
        "Input size (MB): 0.24",
        "Forward/backward pass size (MB): 0.10",
        "Params size (MB): 0.39",
        "Estimated Total Size (MB): 0.73",
        RULE,
    ]


def test_the_batch_size_is_shown_and_enters_the_memory(capsys):
    model = nn.Sequential(nn.Linear(1000, 100))
    out = printed(capsys, model, (1000,), batch_size=512, device="cpu")
    assert out[3] == "            Linear-1                 [512, 100]         100,100"
    assert out[9:12] == [
        "Input size (MB): 1.95",
        "Forward/backward pass size (MB): 0.39",
        "Params size (MB): 0.38",
    ]


def test_several_inputs_and_outputs_are_shown_and_every_parameter_counts_once(capsys):
    out = printed(capsys, Wrapped(), [(3,), (5,)], device="cpu")
    assert out[3:8] == [
        "            Linear-1                    [-1, 4]              16",
        "            Linear-2                    [-1, 4]              20",
        "            Linear-3                    [-1, 4]              20",
        "            Linear-4                    [-1, 4]              20",
        "              Pair-5            [[-1, 4], [-1]]               4",
    ]
    assert out[9:12] == ["Total params: 60", "Trainable params: 48", "Non-trainable params: 12"]


def test_a_model_without_layers_is_a_row(capsys):
    out = printed(capsys, nn.Linear(3, 4), (3,), device="cpu")
    assert out[3] == "            Linear-1                    [-1, 4]              16"


def test_without_a_gpu_the_default_device_is_the_cpu(capsys):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    model = nn.Sequential(nn.Linear(3, 4))
    assert printed(capsys, model, (3,)) == printed(capsys, model, (3,), device="CPU")


def test_an_unknown_device_is_refused():
    message = "Input device is not valid, please specify 'cuda' or 'cpu'"
    with pytest.raises(AssertionError, match=message):
        summary(nn.Linear(3, 4), (3,), device="tpu")


def test_no_hook_stays_behind_even_if_the_model_fails(capsys):
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 6))
    with pytest.raises(RuntimeError) as caught:
        summary(model, (3,), device="cpu")
    assert "Linear-1                    [-1, 4]              16" in caught.value.__notes__[-1]
    assert [len(layer._forward_hooks) for layer in model] == [0, 0]
    assert capsys.readouterr().out == ""
