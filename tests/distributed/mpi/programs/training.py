"""A model trained by all ranks on their parts of each batch; rank 0 prints its losses.

They are those of one process with whole batches, and the ranks' weights are the same numbers.
"""

import copy
import json

import numpy as np
import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 600), nn.Linear(600, 600)
        self.last = nn.Linear(600, 3)

    def forward(self, x):
        return self.last(torch.relu(self.second(torch.tanh(self.first(x)))))


def numbers(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def train():
    rank, size = dist.get_rank(), dist.get_world_size()
    model = Model()
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(i, *p.shape) / 10 + rank)  # of the others nothing stays
    alone = copy.deepcopy(model)
    with torch.no_grad():
        for p in alone.parameters():
            p.sub_(rank)
    shared = DistributedDataParallel(model, bucket_cap_mb=0.5)
    models = (shared, alone)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.005, momentum=0.9) for m in models]
    losses = []
    for step in range(5):
        x, y = numbers(100 + step, 16, 6), numbers(200 + step, 16, 3)
        parts = [(x.chunk(size)[rank], y.chunk(size)[rank]), (x, y)]
        found = []
        for m, optimizer, (a, b) in zip(models, optimizers, parts, strict=True):
            optimizer.zero_grad()
            loss = (m(a) - b).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.detach())
        dist.all_reduce(found[0])
        losses.append([found[0].item() / size, found[1].item()])
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    every = [torch.empty_like(weights) for _ in range(size)]
    dist.all_gather(every, weights)
    assert all(each.equal(weights) for each in every)
    if rank == 0:
        print(json.dumps(losses))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train()
    dist.destroy_process_group()
