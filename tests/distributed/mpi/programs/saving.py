"""Two ranks save to one folder until rank 1 is killed while it writes.

torchrun --nproc-per-node 2 saving.py FOLDER
"""

import os
import random
import signal
import sys
import threading

import torch
from torch import distributed as dist
from torch.distributed import checkpoint
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
n = 0
while True:
    n += 1
    x = distribute_tensor(torch.full((1000,), float(n)), mesh, [Shard(0)])
    checkpoint.save({"n": n, "x": x}, checkpoint_id=sys.argv[1])
    if n == 3 and dist.get_rank() == 1:
        delay_s = random.uniform(0, 0.2)
        threading.Timer(delay_s, os.kill, (os.getpid(), signal.SIGKILL)).start()
