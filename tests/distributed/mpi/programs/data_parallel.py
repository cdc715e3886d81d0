"""What DistributedDataParallel does in two ranks beside training."""

import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
X = torch.arange(8.0).view(4, 2) + rank  # its columns sum to 12 and 16, on rank 1 to 16 and 20


def gradients(model):
    return [None if p.grad is None else p.grad.tolist() for p in model.parameters()]


class Choice(nn.Module):
    """Three layers; rank 0 uses the first, rank 1 the second, nobody the third."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 1, bias=False) for _ in range(3))

    def forward(self, x):
        return self.layers[rank](x)


def averages():
    model = DistributedDataParallel(nn.Linear(2, 1))
    with model.no_sync():
        model(X).sum().backward()
    assert gradients(model) == [[[12 + 4 * rank, 16 + 4 * rank]], [4]]
    model(X).sum().backward()
    assert gradients(model) == [[[28, 36]], [8]]


def unused():
    model = DistributedDataParallel(Choice(), find_unused_parameters=True)
    for i in range(1, 3):
        model(X).sum().backward()
        expected = [[[6, 8]], [[8, 10]], None]
        assert gradients(model) == expected, (gradients(model), i)
        model.zero_grad()
    model = DistributedDataParallel(Choice())
    model(X).sum().backward()
    try:
        model(X)
    except RuntimeError as error:
        assert str(error).startswith("Expected to have finished reduction in the prior iteration")
    else:
        raise AssertionError("unused parameters were not seen")


def hooks():
    for hook in (
        default_hooks.allreduce_hook,
        default_hooks.fp16_compress_hook,
        default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook),
    ):
        model = DistributedDataParallel(nn.Linear(2, 1))
        model.register_comm_hook(None, hook)
        model(X).sum().backward()
        assert gradients(model) == [[[14, 18]], [4]]
        assert model.module.weight.grad.dtype is torch.float32


def buffers():
    module = nn.BatchNorm1d(2)
    module.running_mean.fill_(rank + 1)
    model = DistributedDataParallel(module)
    assert module.running_mean.tolist() == [1, 1]
    model(X)
    model(X)  # takes rank 0's before it adds this rank's batch
    means = [torch.empty(2) for _ in range(2)]
    dist.all_gather(means, module.running_mean)
    mean = means[0]
    assert torch.allclose(means[1] - mean, torch.full((2,), 0.1), atol=1e-6)


def order():
    """Ranks whose gradients come in different orders reduce the same buckets."""

    class Crossed(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = (nn.Linear(600, 600, bias=False) for _ in range(2))

        def forward(self, x):
            first, second = (self.a, self.b) if rank else (self.b, self.a)
            return second(first(x))

    model = DistributedDataParallel(Crossed(), bucket_cap_mb=1)
    for _ in range(3):
        model.zero_grad()
        model(torch.ones(1, 600)).sum().backward()
        for p in model.parameters():
            mine = [torch.empty_like(p) for _ in range(2)]
            dist.all_gather(mine, p.grad)
            assert mine[0].equal(mine[1])


def overlap():
    """A bucket that is full early is reduced before the backward pass ends."""
    group, works, early = dist.group.WORLD, [], []

    class Watched:
        def __getattr__(self, name):
            return getattr(backend, name)

        def allreduce(self, buffer, op):
            works.append(backend.allreduce(buffer, op))
            return works[-1]

    layers = [nn.Linear(600, 600, bias=False) for _ in range(6)]
    model = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=1)
    model(torch.ones(1, 600)).sum().backward()  # learns the order of the buckets
    backend, group._backend = group._backend, Watched()
    layers[0].weight.register_hook(lambda g: early.append([w._done for w in works]))
    for _ in range(3):
        dist.barrier()
        works.clear()
        model(torch.ones(2000, 600)).sum().backward()
        assert len(works) == 6 and len(early[-1]) == 5
    group._backend = backend
    assert any(done[0] for done in early), early  # a busy computer may put it off, once or twice


def uneven_inputs():
    """Rank 0 has one batch, rank 1 has three, of which the second is not reduced."""
    for all_ranks in (True, False):
        model = DistributedDataParallel(nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)))
        model.eval()  # moments that stay, buffers that are exchanged all the same
        with torch.no_grad():
            model.module[1].weight.fill_(0)
        model.module[0].num_batches_tracked.fill_(rank)
        seen = []
        with model.join(divide_by_initial_world_size=all_ranks):
            for i in range(1 + 2 * rank):
                model.zero_grad()
                if i == 1:
                    with model.no_sync():
                        model(torch.ones(1, 2)).sum().backward()
                else:
                    model(torch.ones(1, 2)).sum().backward()
                seen.append(model.module[1].bias.grad.item())
                with torch.no_grad():
                    model.module[1].bias.fill_(i)
        assert seen == ([1] if rank == 0 else [1, 1, 0.5 if all_ranks else 1]), seen
        assert model.module[1].bias.item() == 2  # of the rank that was the last
        assert model.module[0].num_batches_tracked.item() == 1


def inputs_that_must_be_even():
    model = DistributedDataParallel(nn.Linear(2, 1))
    try:
        with model.join(throw_on_early_termination=True):
            for _ in range(1 + rank):
                model(X).sum().backward()
    except RuntimeError as error:
        own = "Rank 0 exhausted all inputs."
        others = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
        assert str(error) == (others if rank else own)
    else:
        raise AssertionError("nobody was told")


def models_that_differ():
    try:
        DistributedDataParallel(nn.Linear(2, 1 + rank))
    except RuntimeError as error:
        assert f"[{rank}]: params[0] in this process with sizes [{1 + rank}, 2]" in str(error)
    else:
        raise AssertionError("different models were taken")


averages()
unused()
hooks()
buffers()
order()
overlap()
uneven_inputs()
inputs_that_must_be_even()
models_that_differ()
dist.destroy_process_group()
print(f"rank {rank} is done")
