"""`RANK`, `LOCAL_RANK`, `WORLD_SIZE`, ...: what `torchrun` sets, from what MPI or Slurm set."""

import os

from tapegrad.core.started_place import started_place


def set_launch_variables() -> None:
    """Set what `torchrun` sets where MPI or Slurm started this process and nobody has set it.

    Several processes on a computer get one thread each, unless `OMP_NUM_THREADS` says how many.
    """
    place = started_place()
    if place is None:
        return
    if "RANK" not in os.environ and "WORLD_SIZE" not in os.environ:
        os.environ["RANK"], os.environ["WORLD_SIZE"] = str(place.rank), str(place.size)
        os.environ.setdefault("LOCAL_RANK", str(place.local_rank))
        os.environ.setdefault("LOCAL_WORLD_SIZE", str(place.local_size))
    if place.local_size > 1 and "OMP_NUM_THREADS" not in os.environ:
        from tapegrad.settings import set_num_threads

        os.environ["OMP_NUM_THREADS"] = "1"
        set_num_threads(1)
    if place.size > 1 and not {"MASTER_ADDR", "MASTER_PORT"} & os.environ.keys():
        os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = _meeting_place(place)


def _meeting_place(place):
    """Where rank 0 is to keep a store: known to all ranks, as text."""
    from tapegrad.distributed.mpi import mpi

    comm = mpi().COMM_WORLD
    here = None
    if comm.rank == 0:
        import socket

        host = "127.0.0.1" if place.local_size == place.size else socket.gethostname()
        here = host, str(free_port())
    return comm.bcast(here)


def free_port() -> int:
    """A port that nobody listens at."""
    import socket

    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]
