"""Adagrad: its state."""

import tapegrad as torch
from tapegrad import optim


def leaf(*values, dtype=None):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_adagrad_has_its_state_from_the_start():
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimizer = optim.Adagrad([z], initial_accumulator_value=0.5)
    assert repr(optimizer.state_dict()["state"]) == (
        "{0: {'step': tensor(0.), 'sum': tensor([0.5000+0.5000j, 0.5000+0.5000j])}}"
    )


def test_adagrad_starts_a_late_group_at_its_first_step_from_the_common_value():
    late = leaf(1.0)
    optimizer = optim.Adagrad([leaf(1.0)], initial_accumulator_value=0.5)
    optimizer.add_param_group({"params": [late], "initial_accumulator_value": 2.0})
    assert list(optimizer.state_dict()["state"]) == [0]
    late.grad = torch.ones(1)
    optimizer.step()
    assert (
        repr(optimizer.state_dict()["state"][1]) == "{'step': tensor(1.), 'sum': tensor([1.5000])}"
    )
