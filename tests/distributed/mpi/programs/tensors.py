"""Tensors spread over two ranks compute what whole ones do, gradients included."""

import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (2,))
X = torch.arange(15.0).view(5, 3) / 7 - 1
PLACEMENTS = (Shard(0), Shard(1), Replicate())


def spread(x, placement):
    return distribute_tensor(x, mesh, [placement])


def parts():
    x = spread(X + 100 * rank, Shard(0))  # rank 0's numbers count
    assert x.shape == (5, 3) and x.stride() == (3, 1) and x.numel() == 15
    assert x.to_local().equal(X[3:] if rank else X[:3]) and x.full_tensor().equal(X)
    assert spread(X[:1], Shard(0)).to_local().shape == (1 - rank, 3)
    for source in PLACEMENTS:
        for target in PLACEMENTS:
            moved = spread(X, source).redistribute(placements=[target])
            assert moved.placements == (target,) and moved.full_tensor().equal(X)
    partial = DTensor.from_local(X * (rank + 1), mesh, [Partial()])
    for target in PLACEMENTS:
        assert partial.redistribute(placements=[target]).full_tensor().equal(3 * X)
    text = str(spread(torch.zeros(2), Shard(0)))
    assert text == (
        "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh((2,), 'cpu', stride=(1,)), "
        "placements=(Shard(dim=0),))"
    ), text


def by_columns(x):
    return x.redistribute(placements=[Shard(1)]) if isinstance(x, DTensor) else x


FUNCTIONS = {
    "product with a row": lambda x, row: (x * row).exp(),
    "mean of rows": lambda x, row: (x - row).mean(0) * row,
    "mean of columns": lambda x, row: x.tanh().sum(1, keepdim=True) * x + row,
    "moved": lambda x, row: (
        (x.redistribute(placements=[Shard(1)]) if isinstance(x, DTensor) else x) * row
    ),
    "comparison": lambda x, row: torch.where(x > row, x * x, row),
}


def gradients():
    row = torch.tensor([0.5, -1.0, 2.0])
    for name, function in FUNCTIONS.items():
        for placement in PLACEMENTS:
            for of_row in (Replicate(), Shard(0)):
                whole = [X.clone().requires_grad_(), row.clone().requires_grad_()]
                given = [spread(X, placement), spread(row, of_row)]
                given = [x.requires_grad_() for x in given]
                y, z = function(*whole), function(*given)
                assert torch.allclose(z.full_tensor(), y, atol=1e-6), (name, placement)
                (y * y).sum().backward()
                (z * z).sum().backward()
                for a, b in zip(whole, given, strict=True):
                    assert torch.allclose(b.grad.full_tensor(), a.grad, atol=1e-5), (
                        name,
                        placement,
                    )


def norms():
    for order in (1, 2, 3, float("inf")):
        found = spread(X, Shard(0)).norm(order)
        assert torch.allclose(found.full_tensor(), X.norm(order)), order
    for name in ("max", "min"):
        assert getattr(spread(X, Shard(0)), name)().full_tensor() == getattr(X, name)()
    assert (spread(X, Shard(0)) > -1).all().full_tensor().item() is False


def steps():
    for make in (
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True),
        lambda p: torch.optim.RMSprop(p, lr=0.1),
    ):
        whole = [nn.Parameter(X.clone()), nn.Parameter(X[0].clone())]
        given = [nn.Parameter(spread(x.detach(), Shard(0))) for x in whole]
        assert all(isinstance(p, nn.Parameter) for p in given)
        optimizers = [make(whole), make(given)]
        for step in range(3):
            for parameters, optimizer in zip((whole, given), optimizers, strict=True):
                optimizer.zero_grad()
                sum((p * p * (step + 1)).sum() for p in parameters).backward()
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
            if step == 1:
                fresh = make(given)
                fresh.load_state_dict(optimizers[1].state_dict())
                optimizers[1] = fresh
        for a, b in zip(whole, given, strict=True):
            assert torch.allclose(a, b.full_tensor(), atol=1e-6)
        for value in optimizers[1].state[given[0]].values():
            assert value.dim() == 0 or value.to_local().shape == (2 if rank else 3, 3)


def draws():
    """Where tapegrad says more than PyTorch: numbers are those of one process."""
    torch.manual_seed(0)
    whole = torch.empty(5, 3)
    nn.init.kaiming_uniform_(whole)
    torch.manual_seed(0)
    x = nn.Parameter(torch.distributed.tensor.empty(5, 3, device_mesh=mesh, placements=[Shard(0)]))
    nn.init.kaiming_uniform_(x)
    assert x.full_tensor().equal(whole)
    assert abs(float(x.detach().sum()) - float(whole.sum())) < 1e-6  # of the whole, not of the part


parts()
gradients()
norms()
steps()
draws()
dist.destroy_process_group()
print(f"rank {rank} is done")
