"""Rank 0, which keeps the store, ends before the other asks it something."""

import time

from torch import distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
store = dist.distributed_c10d._get_default_store()
dist.destroy_process_group()
if rank:
    time.sleep(0.5)
    store.set("key", "value")
    print(f"rank {rank} read {store.get('key').decode()}")
