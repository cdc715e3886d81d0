"""Rank 0 waits for rank 1: what a profile and `inspect.ranks` say of it."""

import json
import sys
import time

import torch
from torch import distributed as dist

import tapegrad

dist.init_process_group("gloo")
rank = dist.get_rank()
dist.barrier()
if rank == 1:
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        seen = tapegrad.inspect.ranks()
        if seen[0].call is not None:
            break
    assert seen[0].call == "allreduce of 1000 float32" and seen[0].waits_for == [1], seen
    assert seen[1].call is None and seen[1].line.startswith("seeing.py:"), seen
    print(seen)
    time.sleep(0.2)
with torch.profiler.profile(record_shapes=True) as prof:
    works = [dist.all_reduce(torch.ones(1000), async_op=True)]
    works.append(dist.broadcast(torch.ones(3, 2), 0, async_op=True))
    for work in works:
        work.wait()
    dist.barrier()
counts = {e.key: e.count for e in prof.key_averages() if e.key.startswith("gloo:")}
assert counts == {"gloo:all_reduce": 1, "gloo:broadcast": 1, "gloo:barrier": 1}, counts
path = f"{sys.argv[1]}/{rank}.json"
prof.export_chrome_trace(path)
with open(path) as file:
    spans = {e["name"]: e for e in json.load(file)["traceEvents"] if e["ph"] == "X"}
told = spans["gloo:all_reduce"]["args"]
assert told["Bytes"] == 4000 and told["Rank"] == rank and told["Group size"] == 2
assert told["Input Dims"] == [[1000]] and spans["gloo:broadcast"]["args"]["Bytes"] == 24
assert (told["Waiting us"] > 1e5) is (rank == 0), told
assert spans["gloo:all_reduce"]["tid"] != spans["gloo:broadcast"]["tid"]
if rank == 0:
    print(f"waited {told['Waiting us']:.0f} us")
dist.destroy_process_group()
