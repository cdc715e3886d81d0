"""Rank 1 fails in the way that the argument says, while rank 0 waits for it."""

import sys

import torch
from torch import distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 1:
    if sys.argv[1] == "raise":
        raise ValueError("of rank 1")
    sys.exit(3)
dist.all_reduce(torch.ones(2))
