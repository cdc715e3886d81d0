"""A spread model is saved, and goes on from there bit for bit; what fails on one rank, fails.

torchrun --nproc-per-node 2 checkpoints.py FOLDER
"""

import sys

import torch
from torch import distributed as dist
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint import state_dict as states
from torch.distributed.fsdp import fully_shard

folder = sys.argv[1]
dist.init_process_group("gloo")
rank = dist.get_rank()


def trained(model, optimizer, steps):
    for i in steps:
        torch.manual_seed(10 * i + rank)
        optimizer.zero_grad()
        model(torch.randn(4, 3)).square().mean().backward()
        optimizer.step()


def fresh(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3))
    fully_shard(model[0])
    fully_shard(model)
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


class Everything:
    """The states of a model and its optimiser, as PyTorch's tutorial has them."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def state_dict(self):
        model, optimizer = states.get_state_dict(self.model, self.optimizer)
        return {"model": model, "optim": optimizer}

    def load_state_dict(self, state):
        states.set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optim"],
        )


def goes_on():
    model, optimizer = fresh(0)
    trained(model, optimizer, range(3))
    checkpoint.save({"app": Everything(model, optimizer), "step": 3}, checkpoint_id=folder)
    again, its_own = fresh(1)
    trained(again, its_own, range(1))  # its state is there, and other
    state = {"app": Everything(again, its_own), "step": 0}
    checkpoint.load(state, checkpoint_id=folder)
    assert state["step"] == 3
    for m, o in ((model, optimizer), (again, its_own)):
        trained(m, o, range(3, 5))
    for a, b in zip(model.parameters(), again.parameters(), strict=True):
        assert a.to_local().equal(b.to_local())


def in_the_background():
    x = torch.full((3,), float(rank))
    future = checkpoint.async_save({"x": x, f"of {rank}": rank}, checkpoint_id=f"{folder}-2")
    x.fill_(7)
    future.result()
    dist.barrier()
    found = {"x": torch.zeros(3), "of 0": -1, "of 1": -1}
    checkpoint.load(found, checkpoint_id=f"{folder}-2")
    assert (found["of 0"], found["of 1"]) == (0, 1) and found["x"].max() < 2


def failures():
    given = {"step": 0} if rank else {"step": 0, "other": 1}
    try:
        checkpoint.load(given, checkpoint_id=folder)
    except checkpoint.CheckpointException as error:
        assert list(error.failures) == [0]
    else:
        raise AssertionError("what rank 0 misses was not told to rank 1")


goes_on()
in_the_background()
failures()
dist.destroy_process_group()
print(f"rank {rank} is done")
