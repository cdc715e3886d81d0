"""SyncBatchNorm in two ranks, with batches of 3 and 5, against BatchNorm of all 8."""

import copy

import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
x, weights = torch.randn(8, 3, 4, dtype=torch.float64), torch.randn(8, 3, 4, dtype=torch.float64)
whole = nn.Sequential(nn.BatchNorm1d(3, dtype=torch.float64))
with torch.no_grad():
    whole[0].weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
synced = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(whole)))
mine = slice(0, 3) if rank == 0 else slice(3, 8)
for _ in range(2):
    whole.zero_grad()
    synced.zero_grad()
    a = x.clone().requires_grad_()
    b = x[mine].clone().requires_grad_()
    expected = whole(a)
    (expected * weights).sum().backward()
    found = synced(b)
    (found * weights[mine]).sum().backward()
    assert torch.allclose(found, expected[mine]) and torch.allclose(b.grad, a.grad[mine])
    for p, q in zip(synced.parameters(), whole.parameters(), strict=True):
        assert torch.allclose(p.grad * 2, q.grad)  # the mean over two ranks
for p, q in zip(synced.buffers(), whole.buffers(), strict=True):
    assert torch.allclose(p, q)
synced.eval(), whole.eval()
assert torch.allclose(synced(x[mine]), whole(x)[mine])
dist.destroy_process_group()
print(f"rank {rank} is done")
