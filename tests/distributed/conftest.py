"""A world of one rank for each test that asks for it."""

import pytest

import tapegrad as torch
from tapegrad import distributed as dist


@pytest.fixture
def world():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield torch.distributed.group.WORLD
    if dist.is_initialized():
        dist.destroy_process_group()
