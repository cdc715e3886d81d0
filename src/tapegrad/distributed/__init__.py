"""`torch.distributed`: a world of one rank, in this process, or of many, which MPI connects.

run, launch_variables          starting ranks, and who they are
store, file_store, tcp_store   keys that ranks share; `rendezvous` finds one
backend                        what a library has to do that moves numbers
in_process, mpi                one for a world of one rank, and one for more
failure                        a rank that fails ends all
process_group                  collectives on tensors, on top of a backend's buffers
groups                         the default group and others
collectives, object_collectives, point_to_point   the functions that programs call
"""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.backend import Backend as _Backend
from tapegrad.distributed.debug_level import (
    DebugLevel,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from tapegrad.distributed.distributed_c10d import *
from tapegrad.distributed.distributed_c10d import (
    _all_gather_base,
    _coalescing_manager,
    _CoalescingManager,
    _rank_not_in_group,
    _reduce_scatter_base,
)
from tapegrad.distributed.exceptions import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    QueueEmptyError,
)
from tapegrad.distributed.file_store import FileStore
from tapegrad.distributed.groups import is_available
from tapegrad.distributed.reducer import BuiltinCommHookType, GradBucket, Reducer
from tapegrad.distributed.store import HashStore
from tapegrad.distributed.tcp_store import TCPStore

_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    """A module beside this one or known by name alone, on its first use."""
    if name in ("DeviceMesh", "init_device_mesh"):
        from tapegrad.distributed import device_mesh

        return getattr(device_mesh, name)
    if name[:2] != "__":
        from importlib import import_module
        from importlib.util import find_spec

        from tapegrad.compat.insides import module_of

        if find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        if (module := module_of(f"distributed.{name}")) is not None:
            return module
    return _refuse(name)
