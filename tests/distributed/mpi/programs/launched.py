"""What a rank is told by the environment, and one sum over all."""

import os

import torch
from torch import distributed as dist

names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR OMP_NUM_THREADS".split()
told = [os.environ[name] for name in names]
assert int(os.environ["MASTER_PORT"]) and torch.get_num_threads() == int(told[-1])
dist.init_process_group()
assert told[0] == str(dist.get_rank())
dist.all_reduce(x := torch.tensor(dist.get_rank() + 1))
dist.destroy_process_group()
line = " ".join([*told, str(x.item()), str(dist.is_torchelastic_launched())])
print(line + "\n", end="")  # in one piece, beside the other rank's
