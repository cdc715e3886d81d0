"""States by the names of parameters, without any wrapper."""

import pytest

import tapegrad as torch
from tapegrad.distributed.checkpoint import state_dict as states


def trained():
    model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.mark.parametrize("flat", [False, True])
def test_states_go_from_one_model_to_another(flat):
    options = states.StateDictOptions(flatten_optimizer_state_dict=flat)
    (model, optimizer), (other, its_own) = trained(), trained()
    found = states.get_state_dict(model, optimizer, options=options)
    assert list(found[0]) == ["weight", "bias"]
    if flat:
        assert found[1]["param_groups.bias.lr"] == 0.001
    else:
        assert found[1]["param_groups"][0]["params"] == ["weight", "bias"]
    states.set_state_dict(other, its_own, model_state_dict=found[0], optim_state_dict=found[1])
    assert other.module.weight.equal(model.module.weight)
    for a, b in zip(its_own.state_dict()["state"].values(), optimizer.state.values(), strict=True):
        assert a["exp_avg"].equal(b["exp_avg"])


def test_frozen_parameters_may_stay_away():
    model, _ = trained()
    model.module.bias.requires_grad_(False)
    options = states.StateDictOptions(ignore_frozen_params=True, cpu_offload=True)
    assert list(states.get_model_state_dict(model, options=options)) == ["weight"]


def test_nothing_to_load_is_an_error():
    with pytest.raises(RuntimeError, match="but model state_dict is empty"):
        states.set_model_state_dict(trained()[0], {})
    lax = states.StateDictOptions(strict=False)
    assert not states.set_model_state_dict(trained()[0], {}, options=lax).missing_keys
