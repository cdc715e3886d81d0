"""What `torch.distributed` has for many ranks is known by name and refused by name."""

from importlib import import_module

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tests.command import run_code
from tests.messages import raises

NAMES = """
torch.distributed.fsdp.FullyShardedDataParallel
torch.distributed.fsdp.fully_sharded_data_parallel.StateDictType
torch.distributed.fsdp.wrap.size_based_auto_wrap_policy
torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler
torch.distributed.fsdp.MixedPrecisionPolicy
torch.distributed.tensor.DTensor
torch.distributed.tensor.placement_types.Shard
torch.distributed.tensor.parallel.ColwiseParallel
torch.distributed.tensor.experimental.context_parallel
torch.distributed._tensor.DTensor
torch.distributed._composable.fsdp.fully_shard
torch.distributed.rpc.init_rpc
torch.distributed.pipelining.pipeline
torch.distributed.algorithms.join.Join
torch.distributed.algorithms.ddp_comm_hooks.default_hooks.fp16_compress_hook
torch.distributed.device_mesh.DeviceMesh
""".split()


def test_the_modules_that_packages_import_are_there():
    lines = [f"from {name.rpartition('.')[0]} import {name.rpartition('.')[2]}" for name in NAMES]
    run_code("from tapegrad import compat; compat.install()\n" + "\n".join(lines))


def test_a_module_is_an_attribute():
    assert dist.rpc.is_available() is False
    assert dist.fsdp.ShardingStrategy.FULL_SHARD.value == 1
    assert not hasattr(dist, "no_such_thing")


def hf_storage():
    return import_module("tapegrad.compat.torch.distributed.checkpoint.hf_storage")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("fsdp.FullyShardedDataParallel", lambda: dist.fsdp.FullyShardedDataParallel(None)),
        ("tensor.distribute_module", lambda: dist.tensor.distribute_module(torch.nn.ReLU())),
        ("tensor.parallel.ColwiseParallel", lambda: dist.tensor.parallel.ColwiseParallel()),
        ("rpc.init_rpc", lambda: dist.rpc.init_rpc("worker")),
        (
            "checkpoint.hf_storage.HuggingFaceStorageReader",
            lambda: hf_storage().HuggingFaceStorageReader("folder"),
        ),
        ("pipelining.pipeline", lambda: dist.pipelining.pipeline(None)),
    ],
)
def test_what_needs_ranks_is_refused(name, call):
    __import__("tapegrad.compat.torch.distributed.tensor.parallel")
    with raises(NotImplementedError, f"tapegrad has no torch.distributed.{name}"):
        call()


def test_backward_passes_over_ranks_are_not_available():
    from tapegrad.compat.torch.distributed import autograd

    assert not autograd.is_available()
    with pytest.raises(NotImplementedError, match=r"no torch\.distributed\.autograd\.b"):
        autograd.backward(0, [])
