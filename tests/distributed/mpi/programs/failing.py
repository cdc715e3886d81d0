"""Rank 1 fails in the way that the argument says, while rank 0 waits for it."""

import os
import signal
import sys
import time
from datetime import timedelta

import torch
from torch import distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=float(sys.argv[2])))
dist.barrier()
if dist.get_rank() == 1:
    how = sys.argv[1]
    print("fails at", time.time(), flush=True)
    if how == "raise":
        raise ValueError("of rank 1")
    if how == "exit":
        sys.exit(3)
    if how == "leave":
        sys.exit(0)
    if how == "hang":
        time.sleep(100)
    time.sleep(1)  # by when rank 0 waits
    os.kill(os.getpid(), getattr(signal, how))
dist.all_reduce(torch.ones(2))
