"""Parameters as one vector."""

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import utils
from tests.messages import raises


def pair():
    a, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1, 2))
    a.grad, b.grad = torch.tensor([3.0, 4.0]), torch.tensor([[12.0, 0.0]])
    return a, b


def test_parameters_become_a_vector_and_come_back():
    a, b = pair()
    vector = utils.parameters_to_vector([a, b])
    assert vector.tolist() == [1.0] * 4
    new = torch.arange(4.0)
    utils.vector_to_parameters(new, [a, b])
    assert (a.tolist(), b.tolist()) == ([0.0, 1.0], [[2.0, 3.0]])
    new[0] = 9
    assert a[0].item() == 9.0
    with raises(TypeError, "expected torch.Tensor, but got: list"):
        utils.vector_to_parameters([1, 2], [a, b])
