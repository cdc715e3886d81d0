"""Groups, point to point, objects, gradients of collectives and a rank that is late, in three."""

import datetime

import torch
from torch import distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.nn import functional as through

dist.init_process_group("mpi")
rank = dist.get_rank()
assert dist.get_backend() == "mpi" and dist.get_world_size() == 3


def groups():
    ends = dist.new_group([2, 0])  # a group's ranks are in the world's order
    alone = dist.new_group([1])
    assert dist.get_rank(ends) == {0: 0, 1: -1, 2: 1}[rank]
    x = torch.tensor([float(rank)])
    if rank != 1:
        dist.all_reduce(x, group=ends)
        assert x.item() == 2 and dist.get_process_group_ranks(ends) == [0, 2]
        dist.broadcast(y := torch.tensor([rank]), 2, group=ends)
        assert y.item() == 2
        dist.destroy_process_group(ends)
    else:
        dist.all_reduce(x, group=alone)
        assert x.item() == 1
    every = dist.new_group()
    dist.barrier(group=every)


def point_to_point():
    following, before = (rank + 1) % 3, (rank - 1) % 3
    found = torch.zeros(4, 2, dtype=torch.bfloat16)
    given = torch.full((4, 2), rank, dtype=torch.bfloat16)
    operations = [
        dist.P2POp(dist.isend, given, following, tag=5),
        dist.P2POp(dist.irecv, found, before, tag=5),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    assert found.eq(before).all()
    if rank == 0:
        sources = set()
        for _ in range(2):
            source = dist.recv(x := torch.zeros(2))
            assert x.eq(source).all()
            sources.add(source)
        assert sources == {1, 2}
    else:
        dist.send(torch.full((2,), float(rank)), 0)
    if rank == 0:
        dist.send_object_list([{"a": [1, 2]}, "b"], 1)
    elif rank == 1:
        objects = [None, None]
        assert dist.recv_object_list(objects) == 0 and objects == [{"a": [1, 2]}, "b"]


def objects():
    every = [None] * 3
    dist.all_gather_object(every, "x" * (rank + 1))
    assert every == ["x", "xx", "xxx"]
    gathered = [None] * 3 if rank == 2 else None
    dist.gather_object({rank}, gathered, dst=2)
    assert gathered in (None, [{0}, {1}, {2}])
    given = ["one", 2] if rank == 1 else [None, None]
    dist.broadcast_object_list(given, src=1)
    assert given == ["one", 2]
    own = [None]
    dist.scatter_object_list(own, ["a", "bb", "ccc"] if rank == 0 else None)
    assert own == ["abc"[rank] * (rank + 1)]


def gradients():
    x = torch.tensor([rank + 1.0], requires_grad=True)
    total = through.all_reduce(x)
    (total * (rank + 1)).backward()
    assert total.item() == 6 and x.grad.item() == 6  # 1 + 2 + 3, of what each does with it
    x.grad = None
    sum((r + 1) * y for r, y in enumerate(through.all_gather(x))).backward()
    assert x.grad.item() == 3 * (rank + 1)


def meshes():
    column = init_device_mesh("cpu", (3, 1), mesh_dim_names=("dp", "tp"))
    sizes = [dist.get_world_size(column[name].get_group()) for name in ("dp", "tp")]
    assert sizes == [3, 1] and column["dp"].get_local_rank() == rank
    row = DeviceMesh("cpu", [[2, 0]])
    assert row.get_local_rank(1) == {0: 0, 1: -1, 2: 1}[rank]
    if rank != 1:
        dist.all_reduce(x := torch.tensor([rank + 1]), group=row.get_group(1))
        assert x.item() == 4 and dist.get_world_size(row.get_group(0)) == 1


def messages_that_do_not_fit():
    if rank == 1:
        dist.send(torch.ones(10), 2)
    if rank == 2:
        try:
            dist.recv(torch.zeros(3), 1)
        except dist.DistBackendError as error:
            assert str(error).startswith("receive from rank 1 of 3 float32 on rank 2 of 3 failed:")
        else:
            raise AssertionError("ten numbers went into three")


def lateness():
    gloo = dist.new_group(backend="gloo")
    dist.monitored_barrier(gloo)
    if rank == 0:
        try:
            dist.monitored_barrier(gloo, datetime.timedelta(seconds=0.2), wait_all_ranks=True)
        except RuntimeError as error:
            assert str(error).startswith(
                "[Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 200"
            )
        work = dist.all_reduce(torch.ones(3), async_op=True)
        try:
            work.wait(datetime.timedelta(seconds=0.2))
        except dist.DistBackendError as error:
            said = "allreduce of 3 float32 on rank 0 of 3 did not end in 0.2 s"
            assert str(error).startswith(said), error
        else:
            raise AssertionError("it did not wait for the others")
        dist.send(torch.ones(1), 1)
        dist.send(torch.ones(1), 2)
        assert work.wait()
    else:
        dist.recv(torch.zeros(1), 0)
        dist.all_reduce(torch.ones(3))


groups()
point_to_point()
objects()
gradients()
meshes()
messages_that_do_not_fit()
lateness()
dist.destroy_process_group()
print(f"rank {rank} is done")
