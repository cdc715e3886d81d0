"""A model trained with each hook that compresses or averages seldom; rank 0 prints its losses."""

import json
import sys
import warnings

import numpy as np
import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    post_localSGD_hook,
    powerSGD_hook,
    register_ddp_comm_hook,
)
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.nn.parallel import DistributedDataParallel


def numbers(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def train(hook, state, averager=None, **options):
    rank = dist.get_rank()
    model = nn.Sequential(nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 40), nn.Linear(40, 3))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(i, *p.shape) / 5)
    shared = DistributedDataParallel(model, **options)
    if isinstance(hook, DDPCommHookType):
        register_ddp_comm_hook(hook, shared, state)
    else:
        shared.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for step in range(8):
        optimizer.zero_grad()
        x, y = numbers(100 + 2 * step + rank, 8, 6), numbers(200 + 2 * step + rank, 8, 3)
        loss = (shared(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        if averager is not None:
            averager.average_parameters(model.parameters())
        losses.append(loss.item())
    if averager is None:
        weights = torch.cat([p.detach().flatten() for p in model.parameters()])
        every = [torch.empty_like(weights) for _ in range(dist.get_world_size())]
        dist.all_gather(every, weights)
        assert all(each.equal(weights) for each in every)
    return losses


def power_sgd(columns, **options):
    return powerSGD_hook.PowerSGDState(None, columns, start_powerSGD_iter=2, **options)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    dist.init_process_group("gloo")
    low_rank = powerSGD_hook.powerSGD_hook
    found = {
        "rank 1": train(low_rank, power_sgd(1)),
        "rank 3": train(low_rank, power_sgd(3)),
        "stacked": train(low_rank, power_sgd(2, batch_tensors_with_same_shape=True)),
        "forgetful": train(low_rank, power_sgd(1, use_error_feedback=False, warm_start=False)),
        "late": train(DDPCommHookType.POWER_SGD, None),
    }
    if len(sys.argv) > 1:  # PyTorch's gloo mixes up the reductions of several buckets
        train(low_rank, power_sgd(3), bucket_cap_mb=0.001)
        train(powerSGD_hook.batched_powerSGD_hook, power_sgd(2), bucket_cap_mb=0.001)
    alone = [dist.new_group([r]) for r in range(dist.get_world_size())][dist.get_rank()]
    for sends in (True, False):
        state = post_localSGD_hook.PostLocalSGDState(None, alone, 3, sends)
        averager = PeriodicModelAverager(2, 3)
        found[f"local {sends}"] = train(post_localSGD_hook.post_localSGD_hook, state, averager)
    if dist.get_rank() == 0:
        print(json.dumps(found))
    dist.destroy_process_group()
