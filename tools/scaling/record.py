"""Record a step of training, and what reductions cost between real ranks.

    python -m tools.scaling.record trace          a step, of one rank
    python -m tools.scaling.record calibrate      reductions of 2, 4 and 8 ranks, or of those named

write into recorded.json, from which `python -m tools.scaling` makes docs/scaling.md.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad import nn
from tapegrad.distributed.algorithms.ddp_comm_hooks.default_hooks import noop_hook
from tapegrad.nn.parallel import DistributedDataParallel

FILE = Path(__file__).with_name("recorded.json")
SIZES = [4 << (4 * i) for i in range(6)]  # bytes: 4 to 4 Mi


def trace() -> dict:
    """The quickest of some steps of a transformer: its time, and when which bucket was full.

    Times are those of the processor, which another program on the computer does not lengthen much.
    """
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    model = DistributedDataParallel(nn.TransformerEncoder(layer, 8, enable_nested_tensor=False))
    x = torch.randn(8, 128, 512)
    seen: list[tuple[float, int]] = []

    def noted(start, bucket):
        seen.append((time.process_time() - start[0], bucket.buffer().nbytes))
        return noop_hook(None, bucket)

    start = [0.0]
    model.register_comm_hook(start, noted)
    steps = []
    for _ in range(5):
        seen.clear()
        start[0] = time.process_time()
        model(x).square().mean().backward()
        steps.append((time.process_time() - start[0], list(seen)))
        model.zero_grad()
    compute_s, buckets = min(steps[1:])  # buckets are made anew after the first
    dist.destroy_process_group()
    n = sum(p.numel() for p in model.parameters())
    return {"compute_s": compute_s, "buckets": buckets, "parameters": n, "tokens": 8 * 128}


def reductions() -> None:
    """Of a rank: the least times of all-reduces, of a sum and of a request to the store."""
    dist.init_process_group("gloo")
    found = []
    for n in SIZES:
        x, least = torch.zeros(n // 4), float("inf")
        for _ in range(20):
            dist.barrier()
            begin = time.perf_counter()
            dist.all_reduce(x)
            least = min(least, time.perf_counter() - begin)
        found.append(least)
    a, b, sums, requests = torch.zeros(1 << 20), torch.zeros(1 << 20), [], []
    store = dist.distributed_c10d._get_default_store()
    for _ in range(20):
        begin = time.perf_counter()
        a.add_(b)
        middle = time.perf_counter()
        store.set("key", "value")
        requests.append(time.perf_counter() - middle)
        sums.append((middle - begin) / a.nbytes)
    if dist.get_rank() == 0:
        print(json.dumps({"all_reduce": found, "gamma": min(sums), "store": min(requests)}))
    dist.destroy_process_group()


def calibrate(n: int) -> dict:
    """`reductions` in `n` ranks."""
    command = ["-m", "tapegrad", "torchrun", "--nproc-per-node", str(n), "-m"]
    command += ["tools.scaling.record", "reductions"]
    done = subprocess.run(
        [sys.executable, *command], check=True, stdout=subprocess.PIPE, text=True, timeout=300
    )
    return json.loads(done.stdout.splitlines()[-1])


def keep(what: str, found: dict) -> None:
    """Put what was found beside what was, so that counts of ranks may be recorded one by one."""
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    ranks = kept.get(what, {}).get("ranks", {})
    kept[what] = found | ({"ranks": ranks | found["ranks"]} if "ranks" in found else {})
    FILE.write_text(json.dumps(kept, indent=1) + "\n")


def main(arguments: list[str]) -> None:
    if arguments == ["reductions"]:
        reductions()
    elif arguments == ["trace"]:
        keep("trace", trace())
    elif arguments and arguments[0] == "calibrate":
        for n in arguments[1:] or ("2", "4", "8"):
            found = {n: calibrate(int(n))}
            keep("calibrate", {"ranks": found, "sizes": SIZES, "cores": os.cpu_count()})
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
