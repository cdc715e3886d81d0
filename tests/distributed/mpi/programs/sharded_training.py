"""A model trained in four ways whose losses are the same; rank 0 prints them.

DistributedDataParallel, the same with ZeroRedundancyOptimizer, its second stage without the
wrapper where there is one, and fully_shard.
"""

import copy
import json
import sys

import numpy as np
import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

OURS = "tapegrad" in torch.__version__


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(n), nn.Linear(n, 401), nn.Linear(401, n)

    def forward(self, x):
        return x + self.narrow(torch.tanh(self.wide(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = nn.Embedding(11, 8)
        self.blocks = nn.ModuleList(Block(8) for _ in range(3))
        self.last = nn.Linear(8, 11, bias=False)

    def forward(self, x):
        x = self.names(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def numbers(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def ways(model):
    options = {"lr": 0.003, "weight_decay": 0.1}
    plain = DistributedDataParallel(copy.deepcopy(model))
    yield "ddp", plain, torch.optim.AdamW(plain.parameters(), **options)
    zero = DistributedDataParallel(copy.deepcopy(model))
    make = ZeroRedundancyOptimizer
    yield "zero", zero, make(zero.parameters(), torch.optim.AdamW, **options)
    if OURS:
        alone = copy.deepcopy(model)
        options["shard_gradients"] = True
        yield "zero 2", alone, make(alone.parameters(), torch.optim.AdamW, **options)
        del options["shard_gradients"]
    spread = copy.deepcopy(model)
    fully_shard(spread.blocks[0])
    fully_shard(list(spread.blocks[1:]))  # two whose parameters are gathered together
    fully_shard(spread)
    yield "fully_shard", spread, torch.optim.AdamW(spread.parameters(), **options)


def n_numbers(tensors):
    return sum(x.to_local().numel() if hasattr(x, "to_local") else x.numel() for x in tensors)


def train():
    rank, size = dist.get_rank(), dist.get_world_size()
    model = Model()
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(i, *p.shape) / 8)
    n, largest = n_numbers(model.parameters()), max(p.numel() for p in model.parameters())
    found = {}
    for name, m, optimizer in ways(model):
        losses = found[name] = []
        for step in range(5):
            batch = np.random.default_rng(step).integers(0, 11, (2, 4 * size, 5))
            x, y = (torch.from_numpy(each).chunk(size)[rank] for each in batch)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(m(x).flatten(0, 1), y.flatten())
            loss.backward()
            if name == "zero 2":
                held = n_numbers(p.grad for p in m.parameters() if p.grad is not None)
                assert held <= n / size + largest, (held, n)
            else:
                nn.utils.clip_grad_norm_(m.parameters(), 1e3)
            optimizer.step()
            loss = loss.detach()
            dist.all_reduce(loss)
            losses.append(loss.item() / size)
        inside = getattr(optimizer, "optim", optimizer)
        states = n_numbers(x for s in inside.state.values() for x in s.values() if x.dim())
        if name.startswith("zero"):
            assert states <= 2 * (n / size + largest), (name, states, n)
        if name == "fully_shard":
            rows = 2 * sum(p.shape[0] for p in m.parameters())  # parts may be a row longer
            assert states < 2 * (n / size + 8 * rows), (states, n)
            assert n_numbers(m.parameters()) == n_numbers(p.grad for p in m.parameters())
            assert n_numbers(m.parameters()) < n / size + 8 * rows
    if rank == 0:
        print(json.dumps(found))
        sys.stdout.flush()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train()
    dist.destroy_process_group()
