"""What `fully_shard` does in two ranks beside training: precision, replicas, states."""

import copy
import sys

import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.checkpoint import state_dict as states
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("gloo")
rank = dist.get_rank()
X = torch.arange(8.0).view(4, 2) / 8 + rank


def model(spread=True, **options):
    torch.manual_seed(0)
    found = nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 3))
    if spread:
        fully_shard(found[0], **options)
        fully_shard(found, **options)
    return found


def whole(m):
    return [p.grad.full_tensor() for p in m.parameters()]


def averaged():
    plain = model(False)
    plain(X).square().sum().backward()
    for p in plain.parameters():
        dist.all_reduce(p.grad)
    return [p.grad / 2 for p in plain.parameters()]


def same(found, expected, tolerance=1e-6):
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape and (a - b).abs().max() <= tolerance * max(1, b.abs().max())


def memory():
    """Parts are what a rank holds; what is gathered goes, and comes for the backward pass."""
    m = model()
    assert isinstance(m, FSDPModule) and isinstance(m[:1], nn.Sequential)
    rows = [p.to_local().shape[0] for p in m.parameters()]
    assert rows == ([2, 2, 1, 1] if rank else [3, 3, 2, 2])
    seen = []
    m[0].register_forward_hook(lambda *_: seen.append(type(m[0].weight).__name__), prepend=True)
    loss = m(X).square().sum()
    assert seen == ["Parameter"] and type(m[0].weight).__name__ == "DTensor"
    assert type(m[2].weight).__name__ == "Parameter"  # the root keeps its own
    loss.backward()
    assert all(type(p).__name__ == "DTensor" for p in m.parameters())
    same(whole(m), averaged())


def gathered_by_hand():
    m = model()
    with torch.no_grad():
        expected = model(False)(X)
        handle = m.unshard(async_op=True)
        handle.wait()
        assert m[2].weight.shape == (3, 5)
        assert torch.allclose(m(X), expected)
        m.reshard()
        for p in m.parameters():
            p.mul_(2)
        doubled = model(False)
        for p in doubled.parameters():
            p.mul_(2)
        assert torch.allclose(m(X), doubled(X))
        m.reshard()
        parts = list(m.parameters())
        m(X)  # leaves the root's parameters gathered
        for p in parts:
            p.mul_(0.5)
        if "tapegrad" in torch.__version__:  # PyTorch computes with what it has gathered before
            assert torch.allclose(m(X), expected)


def without_reduction():
    m = model()
    m.set_requires_gradient_sync(False)
    m(X).square().sum().backward()
    assert all(p.grad is None for p in m.parameters())
    m.set_requires_gradient_sync(True)
    m(X).square().sum().backward()
    same(whole(m), [2 * g for g in averaged()])


def precision():
    m = model(False)
    fully_shard(m, mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32, torch.float32))
    m.unshard()
    assert m[2].weight.dtype is torch.bfloat16
    m.reshard()
    y = m(X)
    assert y.dtype is torch.float32
    y.square().sum().backward()
    assert all(p.grad.dtype is torch.float32 for p in m.parameters())
    same(whole(m), averaged(), 0.05)


def replicas():
    m = model(mesh=init_device_mesh("cpu", (2, 1), mesh_dim_names=("copy", "part")))
    assert m[0].weight.placements == (Replicate(), Shard(0))
    m(X).square().sum().backward()
    same(whole(m), averaged())


def checkpointed():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = fully_shard(nn.Linear(2, 2))

        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(self.layer, x, use_reentrant=False)

    torch.manual_seed(1)
    m = fully_shard(Block())
    plain = nn.Linear(2, 2)
    plain.load_state_dict({k: v.full_tensor() for k, v in m.layer.state_dict().items()})
    for each in (m, plain):
        each(X).square().sum().backward()
    for p in plain.parameters():
        dist.all_reduce(p.grad)
    same(whole(m), [p.grad / 2 for p in plain.parameters()])


def full_states():
    """Whole states on rank 0, loaded again by all: into a model that has no memory yet."""
    m = model()
    optimizer = torch.optim.AdamW(m.parameters())
    m(X).sum().backward()
    optimizer.step()
    full = states.StateDictOptions(full_state_dict=True, cpu_offload=True)
    found = states.get_state_dict(m, optimizer, options=full)
    assert bool(found[0]) is (rank == 0)
    given = states.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    with torch.device("meta"):
        other = model()
    states.set_model_state_dict(other, copy.deepcopy(found[0]), options=given)
    its_own = torch.optim.AdamW(other.parameters())
    states.set_optimizer_state_dict(other, its_own, copy.deepcopy(found[1]), options=given)
    same(
        [p.full_tensor() for p in other.parameters()], [p.full_tensor() for p in m.parameters()], 0
    )
    for a, b in zip(its_own.state.values(), optimizer.state.values(), strict=True):
        assert a["exp_avg"].to_local().equal(b["exp_avg"].to_local()) and a["step"] == b["step"]
    flat = states.StateDictOptions(full_state_dict=True, flatten_optimizer_state_dict=True)
    found = states.get_optimizer_state_dict(m, optimizer, options=flat)
    states.set_optimizer_state_dict(other, its_own, found, options=flat)
    assert its_own.state[next(other.parameters())]["exp_avg"].placements == (Shard(0),)


def scaled():
    """No rank makes a step where one has found an infinity."""
    for make in (torch.amp.GradScaler, ShardedGradScaler):
        w = nn.Parameter(torch.ones(2))
        if make is torch.amp.GradScaler:
            w = nn.Parameter(distribute_tensor(w.detach(), w_mesh, [Shard(0)]))
        optimizer = torch.optim.SGD([w], lr=1.0)
        scaler = make("cpu", init_scale=2.0)
        for bad in (1, 0):
            part = w.to_local() if hasattr(w, "to_local") else w
            loss = (part * (float("inf") if bad and rank else 1)).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            assert (part == bad).all(), (make, rank, part)
        assert scaler.get_scale() == 1


w_mesh = init_device_mesh("cpu", (2,))
for test in (
    scaled,
    memory,
    gathered_by_hand,
    without_reduction,
    precision,
    replicas,
    checkpointed,
    full_states,
):
    test()
dist.destroy_process_group()
print(f"rank {rank} is done")
sys.stdout.flush()
