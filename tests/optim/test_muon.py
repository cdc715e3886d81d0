"""Muon: where it leads, as in PyTorch."""

import pytest

import tapegrad as torch
from tapegrad import optim
from tests.messages import raises


def leaf(*values, dtype=None):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


MUON = [
    ({"lr": 0.1}, [0.994581, -0.509606, 0.232534, 1.466891, 0.862206, -1.227277]),
    (
        {"lr": 0.1, "nesterov": False, "weight_decay": 0.3, "adjust_lr_fn": "match_rms_adamw"},
        [1.175688, -0.435180, 0.214517, 1.597237, 0.690462, -1.077381],
    ),
]


@pytest.mark.parametrize(("options", "expected"), MUON)
def test_muon_goes_where_pytorch_goes(options, expected):
    w = torch.tensor([[1.5, -0.5], [0.25, 2.0], [0.75, -1.25]], requires_grad=True)
    optimizer = optim.Muon([w], **options)
    for _ in range(5):
        w.grad = w.detach() ** 2 - 1
        optimizer.step()
    assert w.flatten().tolist() == pytest.approx(expected, abs=2e-3)  # it rounds to bfloat16


def test_muon_is_for_matrices():
    message = "Muon only supports 2D parameters whereas we found a parameter with size: "
    with raises(ValueError, message + "torch.Size([3])"):
        optim.Muon([leaf(1.0, 2.0, 3.0)])
