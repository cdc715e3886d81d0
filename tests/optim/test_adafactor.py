"""Adafactor: the tensors it takes."""

import tapegrad as torch
from tapegrad import optim
from tests.messages import raises


def test_adafactor_takes_tensors_of_any_rank_and_no_complex_ones():
    w = torch.arange(12.0).reshape(2, 2, 3).requires_grad_()
    optimizer = optim.Adafactor([w])
    w.grad = torch.ones(2, 2, 3)
    optimizer.step()
    state = optimizer.state[w]
    assert state["row_var"].shape == (2, 2, 1)
    assert state["col_var"].shape == (2, 1, 3)
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimizer = optim.Adafactor([z])
    z.grad = torch.ones_like(z)
    with raises(RuntimeError, "Adafactor does not support complex parameters"):
        optimizer.step()
