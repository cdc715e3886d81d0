"""Every collective, in three ranks, against what NumPy computes of all ranks' numbers."""

import functools

import numpy as np
import torch
from torch import distributed as dist
from torch.distributed import ReduceOp

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
assert (size, dist.get_backend(), dist.group.WORLD.name()) == (3, "gloo", "gloo")
REDUCERS = {
    "SUM": np.add,
    "PRODUCT": np.multiply,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "BAND": np.bitwise_and,
    "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
}
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int32, torch.int64]
COMPLEX = [torch.complex64, torch.complex128]


def of(r, dtype, shape=(2, 3)):
    """The numbers of rank r: small integers, which every dtype has."""
    n = int(np.prod(shape))
    if dtype is torch.bool:
        return (torch.arange(n) % (r + 2) == 0).view(shape)
    return (torch.arange(n) % 5 + r + 1).view(shape).to(dtype)


def reduced(op, dtype, numbers=None):
    parts = [x.to(torch.int64).numpy() for x in numbers or [of(r, dtype) for r in range(size)]]
    return torch.from_numpy(functools.reduce(REDUCERS[op], parts))


def same(x, y):
    assert x.dtype == y.dtype and x.equal(y), (x, y)


def reductions():
    for dtype in (*FLOATS, *INTEGERS):
        for op in REDUCERS:
            if op[0] == "B" and dtype in FLOATS:
                continue
            x = of(rank, dtype)
            assert dist.all_reduce(x, getattr(ReduceOp, op)) is None
            same(x, reduced(op, dtype).to(dtype))
        x = of(rank, dtype)
        dist.reduce(x, 1, ReduceOp.SUM)
        same(x, reduced("SUM", dtype).to(dtype) if rank == 1 else of(rank, dtype))
        y = torch.zeros(2, 3, dtype=dtype)
        dist.reduce_scatter(y, [of(rank, dtype) + i for i in range(size)])
        same(y, (reduced("SUM", dtype) + size * rank).to(dtype))
        y = torch.zeros(1, 3, dtype=dtype)
        dist.reduce_scatter_single(y, of(rank, dtype, (3, 3)), ReduceOp.MAX)
        same(y, of(2, dtype, (3, 3))[rank : rank + 1])
    for dtype in FLOATS:
        x = of(rank, dtype)
        dist.all_reduce(x, ReduceOp.AVG)
        same(x, of(1, dtype))
    for dtype in COMPLEX:
        x = of(rank, dtype) * 1j
        dist.all_reduce(x)
        same(x, reduced("SUM", torch.int64).to(dtype) * 1j)
    odd = [of(r, torch.bool).to(torch.int64) for r in range(size)]
    for op, like in {"SUM": "BOR", "MAX": "BOR", "PRODUCT": "BAND", "BXOR": "BXOR"}.items():
        x = of(rank, torch.bool)
        dist.all_reduce(x, getattr(ReduceOp, op))
        same(x, reduced(like, torch.int64, odd).to(torch.bool))


def moves():
    for dtype in (*FLOATS, *INTEGERS, *COMPLEX, torch.bool, torch.int16):
        mine, every = of(rank, dtype), [of(r, dtype) for r in range(size)]
        x = mine.clone()
        dist.broadcast(x, 2)
        same(x, every[2])
        y = [torch.zeros_like(mine) for _ in range(size)]
        dist.all_gather(y, mine)
        same(torch.stack(y), torch.stack(every))
        z = torch.zeros(3, 2, dtype=dtype).t()  # not contiguous
        dist.broadcast(x if rank == 0 else z, 0)
        same(x if rank == 0 else z, x if rank == 0 else every[2])
        flat = torch.zeros(size * 2, 3, dtype=dtype)
        dist.all_gather_single(flat, mine)
        same(flat, torch.cat(every))
        y = [torch.zeros_like(mine) for _ in range(size)] if rank == 1 else None
        dist.gather(mine, y, dst=1)
        assert y is None or torch.stack(y).equal(torch.stack(every))
        x = torch.zeros_like(mine)
        dist.scatter(x, [of(r + 1, dtype) for r in range(size)] if rank == 0 else None, src=0)
        same(x, of(rank + 1, dtype))
        y = [torch.zeros(s + 1, dtype=dtype) for s in range(size)]
        dist.all_to_all(y, [of(s, dtype, (rank + 1,)) for s in range(size)])
        for s in range(size):
            same(y[s], of(rank, dtype, (s + 1,)))
        x = torch.zeros(sum(range(1, size + 1)), 2, dtype=dtype)  # s + 1 rows of rank s
        given = of(rank, dtype, ((rank + 1) * size, 2))
        dist.all_to_all_single(x, given, [1, 2, 3], [rank + 1] * size)
        rows = [slice(rank * (s + 1), (rank + 1) * (s + 1)) for s in range(size)]
        same(x, torch.cat([of(s, dtype, ((s + 1) * size, 2))[rows[s]] for s in range(size)]))


def later():
    x = torch.full((3,), float(rank))
    work = dist.all_reduce(x, async_op=True)
    doubled = work.get_future().then(lambda future: future.value()[0] * 2)
    assert doubled.wait().tolist() == [6, 6, 6] and work.is_completed() and work.is_success()
    works = [dist.all_reduce(torch.ones(2), async_op=True) for _ in range(5)]
    assert all(work.wait() for work in reversed(works))
    columns = torch.zeros(4, 2).t()
    work = dist.broadcast(columns if rank else torch.ones(2, 4), 0, async_op=True)
    while not work.is_completed():
        pass
    assert rank == 0 or columns.eq(1).all()  # written without a wait


reductions()
moves()
later()
dist.barrier()
dist.destroy_process_group()
assert not dist.is_initialized()
print(f"rank {rank} is done")
