"""Writes a checkpoint to one folder and reads that of the other library from another.

python exchanged.py READ_FROM WRITE_TO
"""

import sys

import torch
from torch.distributed import checkpoint
from torch.distributed.checkpoint import format_utils


def state(scale):
    return {
        "model": {"w": scale * torch.arange(6.0).view(2, 3), "half": scale * torch.ones(2).half()},
        "optim": {
            "state": {0: {"step": scale * torch.tensor(3.0)}},
            "groups": [{"lr": scale * 0.5}],
        },
        "list": [scale * torch.ones(2, dtype=torch.bfloat16), scale],
        "name": "x" * scale,
    }


def save(folder):
    checkpoint.save(state(1), checkpoint_id=folder, no_dist=True)
    format_utils.dcp_to_torch_save(folder, f"{folder}.pt")


def load(folder):
    found, expected = state(0), state(1)
    checkpoint.load(found, checkpoint_id=folder, no_dist=True)
    for each in (found, torch.load(f"{folder}.pt")):
        key = next(iter(each["optim"]["state"]))
        assert each["model"]["w"].equal(expected["model"]["w"])
        assert each["model"]["half"].equal(expected["model"]["half"])
        assert each["optim"]["state"][key]["step"] == 3
        assert each["optim"]["groups"] == [{"lr": 0.5}]
        assert each["list"][0].equal(expected["list"][0]) and each["list"][1] == 1
        assert each["name"] == "x"


if __name__ == "__main__":
    read_from, write_to = sys.argv[1:]
    save(write_to)
    if read_from:
        load(read_from)
