"""Ranks that make different collectives, which TORCH_DISTRIBUTED_DEBUG=DETAIL finds."""

import sys
from datetime import timedelta

import torch
from torch import distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
dist.all_reduce(torch.ones(2))
found = []


def refused(run):
    try:
        run()
    except RuntimeError as error:
        found.extend([str(error), *getattr(error, "__notes__", ())])
    else:
        raise AssertionError("nobody was told")


refused(lambda: dist.all_reduce(torch.ones(2 + rank)))
refused(lambda: dist.all_reduce(torch.ones(2, dtype=torch.float64 if rank else torch.float32)))
if rank:
    refused(lambda: dist.all_reduce(torch.ones(2)))
else:
    refused(lambda: dist.broadcast(torch.ones(2), 0))
if rank == 0:
    print("\n".join(found))
sys.stdout.flush()
dist.barrier()
