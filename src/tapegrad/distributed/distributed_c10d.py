"""`torch.distributed.distributed_c10d`: everything of process groups, from the files beside it."""

# ruff: noqa: F401

from tapegrad.core.annotations import Any
from tapegrad.core.errors import deprecated
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.backend_names import (
    Backend,
    BackendConfig,
    get_default_backend_for_device,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
)
from tapegrad.distributed.collectives import (
    _all_gather_base,
    _reduce_scatter_base,
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
    scatter,
    supports_complex,
)
from tapegrad.distributed.constants import default_pg_nccl_timeout, default_pg_timeout
from tapegrad.distributed.debug_level import DebugLevel, get_debug_level
from tapegrad.distributed.exceptions import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
)
from tapegrad.distributed.groups import (
    GroupMember,
    _get_default_group,
    _get_default_store,
    _rank_not_in_group,
    _world,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    shrink_group,
    split_group,
)
from tapegrad.distributed.object_collectives import (
    _object_to_tensor,
    _tensor_to_object,
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from tapegrad.distributed.point_to_point import (
    P2POp,
    _coalescing_manager,
    _CoalescingManager,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    send,
)
from tapegrad.distributed.process_group import ProcessGroup, ProcessGroupGloo
from tapegrad.distributed.reduce_op import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOp,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
    reduce_op,
)
from tapegrad.distributed.rendezvous import register_rendezvous_handler, rendezvous
from tapegrad.distributed.store import PrefixStore, Store
from tapegrad.distributed.work import Work

_GLOO_AVAILABLE = True
_MPI_AVAILABLE = _NCCL_AVAILABLE = _UCC_AVAILABLE = _XCCL_AVAILABLE = False
GroupName = str

__all__ = [
    "AllToAllOptions",
    "AllgatherOptions",
    "AllreduceCoalescedOptions",
    "AllreduceOptions",
    "Backend",
    "BackendConfig",
    "BarrierOptions",
    "BroadcastOptions",
    "DebugLevel",
    "GatherOptions",
    "GroupMember",
    "GroupName",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "ProcessGroupGloo",
    "ReduceOp",
    "ReduceOptions",
    "ReduceScatterOptions",
    "ScatterOptions",
    "Store",
    "Work",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_nccl_timeout",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_debug_level",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_op",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "register_rendezvous_handler",
    "rendezvous",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "shrink_group",
    "split_group",
    "supports_complex",
]


def _get_global_rank(group: Any, rank: int) -> int:
    """The old name of `get_global_rank`."""
    deprecated(
        "`torch.distributed.distributed_c10d._get_global_rank` is deprecated, please use "
        "`torch.distributed.distributed_c10d.get_global_rank` instead"
    )
    return get_global_rank(group, rank)


__getattr__ = _refuses(__name__)
