"""Which process of a parallel job this is, by the variables of MPI's or Slurm's starter."""

import os
import re
from typing import NamedTuple


class Place(NamedTuple):
    """Which process of a job this is, of all and of those on its computer."""

    rank: int
    size: int
    local_rank: int
    local_size: int


_STARTERS = (  # in the order of `Place`
    "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK "
    "OMPI_COMM_WORLD_LOCAL_SIZE",  # Open MPI
    "PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS",  # MPICH, Intel MPI
    "SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_LOCALID SLURM_STEP_TASKS_PER_NODE",
)


def started_place() -> Place | None:
    """What the variables of MPI's or Slurm's starter say; None if nothing started this process.

    >>> import os
    >>> from tapegrad.core.started_place import started_place
    >>> os.environ.update(PMI_RANK="1", PMI_SIZE="4", MPI_LOCALRANKID="1", MPI_LOCALNRANKS="2")
    >>> started_place()
    Place(rank=1, size=4, local_rank=1, local_size=2)
    >>> for name in "PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS".split():
    ...     del os.environ[name]
    """
    for names in _STARTERS:
        values = [os.environ.get(name) for name in names.split()]
        if values[0] and values[1]:
            rank, size, local_rank = (int(value or 0) for value in values[:3])
            return Place(rank, size, local_rank, _local_size(values[3]))
    return None


def _local_size(text):
    """The tasks of this node, of "4" or of Slurm's "2(x3),1" for four nodes."""
    counts = []
    for n, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text or "1"):
        counts += [int(n)] * int(times or 1)
    node = int(os.environ.get("SLURM_NODEID") or 0)
    return counts[node] if node < len(counts) else counts[0]
