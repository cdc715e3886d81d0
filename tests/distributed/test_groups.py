"""Groups of one rank: how they are made, found and taken away."""

import socket
import sys

import pytest

import tapegrad as torch
from tapegrad import distributed as dist
from tests.command import run_code
from tests.messages import raises, raises_beginning


@pytest.fixture(autouse=True)
def leave():
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.mark.parametrize("form", ["env", "file", "tcp", "tcp_query"])
def test_the_forms_of_meeting(form, tmp_path, monkeypatch):
    given = {"rank": 0, "world_size": 1}
    if form == "env":
        names = {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
        for name, value in names.items():
            monkeypatch.setenv(name, str(value))
        dist.init_process_group()
    elif form == "file":
        dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", **given)
    else:
        url = f"tcp://127.0.0.1:{free_port()}"
        if form == "tcp_query":
            url, given = f"{url}?rank=0&world_size=1", {}
        dist.init_process_group("gloo", init_method=url, **given)
    assert dist.is_initialized() and (dist.get_rank(), dist.get_world_size()) == (0, 1)
    dist.barrier()
    name = "undefined" if form == "env" else "gloo"
    assert dist.get_backend() == name
    with raises(ValueError, "trying to initialize the default process group twice!"):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {},
            ValueError,
            "Error initializing torch.distributed using env:// rendezvous: environment variable "
            "RANK expected, but not set",
        ),
        ({"init_method": "zzz://a"}, RuntimeError, "No rendezvous handler for zzz://"),
        ({"store": dist.HashStore()}, AssertionError, "world_size must be positive if using store"),
        (
            {"init_method": "tcp://localhost", "rank": 0, "world_size": 1},
            ValueError,
            "Error initializing torch.distributed using tcp:// rendezvous: port number missing",
        ),
        (
            {"init_method": "file:///tmp/x"},
            ValueError,
            "Error initializing torch.distributed using file:// rendezvous: rank parameter missing",
        ),
    ],
)
def test_what_is_missing_is_said(options, error, message, monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with raises(error, message):
        dist.init_process_group("gloo", **options)
    assert not dist.is_initialized()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nccl", RuntimeError, "Distributed package doesn't have NCCL built in"),
        ("ucc", AssertionError, "Unknown c10d backend type UCC"),
        ("nosuch", AssertionError, "Unknown backend type nosuch"),
    ],
)
def test_backends_that_are_not_there(name, error, message):
    with raises_beginning(error, message):
        dist.init_process_group(name, store=dist.HashStore(), rank=0, world_size=1)


def test_more_ranks_are_refused_before_anyone_waits(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)  # as if it were not installed
    message = "ranks are connected by MPI, which is not there: "
    with raises_beginning(dist.DistBackendError, message) as caught:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=2)
    assert "tapegrad[distributed]" in caught.value.__notes__[0]
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", "2")
    start = "Error initializing torch.distributed using env:// rendezvous: environment variable"
    for name, value in {"RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}.items():
        with raises(ValueError, f"{start} {name} expected, but not set"):
            dist.init_process_group("gloo")
        monkeypatch.setenv(name, value)
    with raises_beginning(dist.DistBackendError, message):
        dist.init_process_group("gloo")


def test_mpi_is_there_with_mpi4py(monkeypatch):
    assert dist.is_backend_available("mpi") is dist.is_mpi_available()
    monkeypatch.setattr("tapegrad.distributed.backend_names.is_mpi_available", lambda: False)
    with raises_beginning(RuntimeError, "Distributed package doesn't have MPI built in."):
        dist.init_process_group("mpi")


def test_groups_in_the_world(world):
    one = dist.new_group([0])
    assert one is not world and dist.group.WORLD is world is dist.GroupMember.WORLD
    assert (dist.get_rank(one), dist.get_world_size(one)) == (0, 1)
    assert dist.get_process_group_ranks(one) == [0] == dist.get_process_group_ranks(None)
    assert (dist.get_group_rank(one, 0), dist.get_global_rank(one, 0)) == (0, 0)
    assert (world.group_desc, one.group_desc, one.name()) == ("default_pg", "undefined", "gloo")
    assert dist.get_backend_config() == "cpu:gloo,cuda:gloo"
    assert dist.new_subgroups(1)[1][0].size() == 1
    with raises(ValueError, f"Global rank 3 is not part of group {one}"):
        dist.get_group_rank(one, 3)
    dist.destroy_process_group(one)
    with raises_beginning(ValueError, f"Group {one} is not registered"):
        dist.get_rank(one)
    with raises(ValueError, "Invalid process group specified"):
        dist.destroy_process_group(one)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        (
            [0, 1],
            "the new group's world size should be less or equal to the world size set by "
            "init_process_group",
        ),
        ([1], "Rank 1 is out of range. Valid ranks are 0 to 0 (world_size=1)"),
        ([0, 0], "ranks list must not contain duplicate entries, got [0, 0]"),
    ],
)
def test_groups_of_others_are_refused(world, ranks, message):
    with raises(ValueError, message):
        dist.new_group(ranks)


def test_a_library_may_bring_a_backend(monkeypatch):
    class Doubling(dist.ProcessGroup):
        def allreduce(self, tensors, opts=None):
            for x in tensors:
                x.mul_(2)
            return dist.Work(tensors)

        def getBackendName(self):
            return "doubling"

    name = "doubling"
    monkeypatch.setattr(dist.Backend, "_plugins", {})
    monkeypatch.setattr(dist.Backend, "backend_list", list(dist.Backend.backend_list))
    dist.Backend.register_backend(
        name, lambda store, rank, size, _: Doubling(rank, size), devices="cpu"
    )
    monkeypatch.delattr(dist.Backend, name.upper(), raising=True)
    dist.init_process_group(name, store=dist.HashStore(), rank=1, world_size=3)
    x = torch.ones(2)
    dist.all_reduce(x)
    assert x.tolist() == [2, 2] and (dist.get_rank(), dist.get_world_size()) == (1, 3)
    assert dist.group.WORLD.name() == name and dist.get_backend() == name


def test_nothing_of_it_is_loaded_with_the_package():
    code = "import tapegrad, sys; print([n for n in sys.modules if 'tapegrad.distributed' in n])"
    assert run_code(code) == "[]\n"


def test_a_traceback_says_whose_it_is():
    from tests.command import python

    code = (
        "import tapegrad.distributed as d\n"
        "d.init_process_group('gloo', store=d.HashStore(), rank=0, world_size=1)\n"
        "1 / 0"
    )
    assert "[rank0]: ZeroDivisionError: division by zero" in python("-c", code).stderr
