"""How much of a slow network DistributedDataParallel hides behind the backward pass.

    python -m tapegrad torchrun --nproc-per-node 2 benchmarks/ranks_overlap.py

The transport between the ranks is made slower: a reduction ends no sooner than a link would have
carried it, one after another. The link is one that takes a quarter, half, all and twice the time
that a step computes. The step may take 1.15 of the longer of both and 5 ms, else the exit status is
1; or the forward pass, in which there is nothing to send, and the link one after another.
"""

import argparse
import sys
import time

import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class SlowLink:
    """A backend whose reductions take as long as a link of so many bytes a second."""

    def __init__(self, backend):
        self.backend, self.bytes_per_s, self.free_at, self.busy_s = backend, 0.0, 0.0, 0.0

    def __getattr__(self, name):
        return getattr(self.backend, name)

    def allreduce(self, buffer, op):
        work = self.backend.allreduce(buffer, op)
        if self.bytes_per_s:
            takes = buffer.nbytes / self.bytes_per_s
            self.busy_s += takes
            self.free_at = max(self.free_at, time.perf_counter()) + takes
            work = self._late(work, self.free_at)
        return work

    @staticmethod
    def _late(work, at):
        completed, wait = work.is_completed, work.wait

        def is_completed():
            return completed() and time.perf_counter() >= at

        def waited(*args):
            wait(*args)
            time.sleep(max(0.0, at - time.perf_counter()))
            return True

        work.is_completed, work.wait = is_completed, waited
        return work


def least(step, n, link, speed):
    """Of some steps the quickest, in seconds, of the slowest rank; and the time of the link."""
    taken = []
    for _ in range(n):
        dist.barrier()
        link.free_at, link.busy_s, link.bytes_per_s = 0.0, 0.0, speed
        start = time.perf_counter()
        step()
        taken.append(time.perf_counter() - start)
        link.bytes_per_s = 0.0
    found = torch.tensor([min(taken), link.busy_s])
    dist.all_reduce(found, dist.ReduceOp.MAX)
    return found.tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20)
    n_steps = parser.parse_args().steps
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    layers = [each for _ in range(8) for each in (nn.Linear(512, 512), nn.ReLU())]
    model, x = nn.Sequential(*layers), torch.randn(1024, 512)
    shared = DistributedDataParallel(model, bucket_cap_mb=1)
    group = dist.group.WORLD
    link = group._backend = SlowLink(group._backend)
    n_bytes = sum(p.nbytes for p in model.parameters())

    def step():
        shared(x).square().mean().backward()
        shared.zero_grad()

    def alone():
        with shared.no_sync():
            step()

    def forward():
        with shared.no_sync():
            shared(x)

    for _ in range(3):
        step()
    missed = False
    for times in (0.25, 0.5, 1, 2):
        first, _ = least(forward, n_steps, link, 0.0)
        compute, _ = least(alone, n_steps, link, 0.0)
        taken, busy = least(step, n_steps, link, n_bytes / (times * compute))
        bound = max(1.15 * max(compute, busy), first + busy) + 0.005
        missed |= taken > bound
        if dist.get_rank() == 0:
            figures = " ".join(f"{1e3 * t:7.1f} ms" for t in (first, compute, busy, taken, bound))
            end = "  missed" if taken > bound else ""
            print(f"forward, compute, link, step, bound: {figures}{end}", flush=True)
    dist.destroy_process_group()
    sys.exit(missed)


if __name__ == "__main__":
    main()
