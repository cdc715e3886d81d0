"""A script that would start its ranks itself, twice, as PyTorch's tutorials do."""

import os
import sys

import torch
from torch import distributed as dist
from torch import multiprocessing as mp


def work(rank, world_size, factor):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = sys.argv[1]
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.all_reduce(x := torch.ones(1) * factor)
    print(rank, x.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    for factor in (1, 2):
        mp.spawn(work, args=(2, factor), nprocs=2, join=True)
