"""What `torch.distributed.algorithms` has by itself."""

import pickle

import pytest

import tapegrad as torch
from tapegrad.distributed import algorithms
from tapegrad.distributed.algorithms import join
from tapegrad.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, quantization_hooks
from tapegrad.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import (
    PowerSGDState,
    _orthogonalize,
)
from tapegrad.distributed.algorithms.model_averaging import averagers, utils
from tests.messages import raises, raises_beginning


def test_join_is_found_in_the_package_too():
    found = (algorithms.Join, algorithms.Joinable, algorithms.JoinHook)
    assert found == (join.Join, join.Joinable, join.JoinHook)


@pytest.mark.parametrize("r", [1, 2, 3])
def test_columns_are_made_orthonormal(r):
    torch.manual_seed(0)
    x = torch.randn(2, 5, r)
    _orthogonalize(x)
    assert torch.allclose(x.mT @ x, torch.eye(r).expand(2, r, r), atol=1e-6)


def test_power_sgd_goes_on_where_it_was_saved(world):
    with raises_beginning(ValueError, "Expect `start_powerSGD_iter` > 1"):
        PowerSGDState(world, start_powerSGD_iter=1)
    state = PowerSGDState(None, 2, start_powerSGD_iter=3)
    state.iter, state.error_dict[0] = 5, torch.ones(2)
    again = pickle.loads(pickle.dumps(state))
    assert again.process_group is world and again.iter == 5
    assert again.error_dict[0].tolist() == [1, 1] and again.compression_stats() == (0, 0, 0)
    assert again.rng.randint(100) == state.rng.randint(100)


def test_hooks_that_are_not_there_say_so():
    with raises(NotImplementedError, "tapegrad has no quantized tensors to send gradients in"):
        quantization_hooks.quantization_perchannel_hook(None, None)
    names = {"QUANTIZE_PER_TENSOR", "POWER_SGD", "BATCHED_POWER_SGD_RANK2", "NOOP"}
    assert names <= set(DDPCommHookType.__members__)


def test_parameters_are_averaged_now_and_then(world, monkeypatch):
    seen = []
    monkeypatch.setattr(utils, "average_parameters", lambda params, group: seen.append(params))
    a, b = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    a.grad = torch.ones(2)
    averager = averagers.PeriodicModelAverager(3, warmup_steps=2)
    for _ in range(7):
        averager.average_parameters([{"params": [a, b]}])
    assert seen == [[a], [a]]
    with raises(ValueError, "Arg ``period`` must be a positive value."):
        averagers.PeriodicModelAverager(0)
    with pytest.warns(UserWarning, match="When period is 1"):
        averagers.PeriodicModelAverager(1)
