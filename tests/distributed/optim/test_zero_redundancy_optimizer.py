"""`ZeroRedundancyOptimizer` of one rank steps as the optimiser inside."""

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad.distributed.optim import ZeroRedundancyOptimizer


@pytest.fixture
def world():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def trained(make):
    w, b = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(1))
    optimizer = make([w])
    optimizer.add_param_group({"params": [b], "lr": 0.5})
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for _ in range(2):
        optimizer.zero_grad()
        ((w * 2).sum() + b).square().backward()
        optimizer.step()
        schedule.step()
    return optimizer, [w.tolist(), b.tolist()]


def test_steps_and_states_are_those_of_the_optimiser(world):
    alone, expected = trained(lambda p: torch.optim.Adam(p, lr=0.1))
    spread, found = trained(lambda p: ZeroRedundancyOptimizer(p, torch.optim.Adam, lr=0.1))
    assert found == expected and len(spread.param_groups) == 2
    with pytest.raises(RuntimeError, match="Optimizer state has not been consolidated"):
        spread.state_dict()
    spread.consolidate_state_dict()
    assert spread.state_dict()["param_groups"] == alone.state_dict()["param_groups"]
    spread.load_state_dict(alone.state_dict())
    assert spread.state is spread.optim.state
    assert spread.param_groups[1]["lr"] == alone.param_groups[1]["lr"]


def test_overlap_is_refused(world):
    with pytest.raises(NotImplementedError, match="no overlap_with_ddp"):
        ZeroRedundancyOptimizer([torch.ones(1)], torch.optim.SGD, overlap_with_ddp=True)


def test_a_second_backward_pass_before_the_step_is_refused_with_the_second_stage(world):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = ZeroRedundancyOptimizer([w], torch.optim.SGD, lr=1.0, shard_gradients=True)
    w.sum().backward()
    with pytest.raises(RuntimeError, match="shard_gradients averages the gradients of each"):
        w.sum().backward()
    optimizer.zero_grad()
    w.sum().backward()
    optimizer.step()
    assert w.tolist() == [0, 0]
