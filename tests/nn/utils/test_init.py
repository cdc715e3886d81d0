"""Modules without their first values."""

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def test_a_skipped_initialisation_takes_no_random_numbers():
    torch.manual_seed(0)
    nn.utils.skip_init(nn.Linear, 100, 100)
    after = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), after)
    with raises(RuntimeError, "Module must support a 'device' arg to skip initialization"):
        nn.utils.skip_init(nn.ReLU)
