"""Groups of ranks: the default one, `new_group`, and who is which number."""

import os
import warnings
from collections.abc import Sequence
from datetime import timedelta

from tapegrad.core.annotations import Any
from tapegrad.core.errors import advised, assertion_error, value_error
from tapegrad.distributed.backend_names import Backend, BackendConfig, require
from tapegrad.distributed.constants import default_pg_timeout
from tapegrad.distributed.debug_level import DebugLevel, get_debug_level
from tapegrad.distributed.failure import mark_tracebacks
from tapegrad.distributed.in_process import OneRank
from tapegrad.distributed.launch_variables import set_launch_variables
from tapegrad.distributed.process_group import ProcessGroup, ProcessGroupGloo
from tapegrad.distributed.rendezvous import asked_world_size, rendezvous
from tapegrad.distributed.store import PrefixStore, Store


class _World:
    """The groups of this process, in the order in which they were made."""

    def __init__(self) -> None:
        self.default_pg: Any = None
        self.ranks: dict[ProcessGroup, list[int]] = {}
        self.names: dict[ProcessGroup, tuple[str, BackendConfig]] = {}
        self.group_count = 0

    @property
    def pg_map(self) -> dict:
        """The backend and the store of each group."""
        return {group: (name, group._store) for group, (name, _) in self.names.items()}

    @property
    def pg_names(self) -> dict:
        """The name of each group."""
        return {group: group.group_name for group in self.ranks}

    @property
    def pg_group_ranks(self) -> dict:
        """The global ranks of each group, with their numbers in it."""
        return {group: {r: i for i, r in enumerate(ranks)} for group, ranks in self.ranks.items()}


_world = _World()


class _WorldMeta(type):
    """`WORLD`: the default group, or None."""

    @property
    def WORLD(cls) -> Any:
        return _world.default_pg

    @WORLD.setter
    def WORLD(cls, group: Any) -> None:
        _world.default_pg = group


class group(metaclass=_WorldMeta):
    """`group.WORLD`, the default group."""


class GroupMember(metaclass=_WorldMeta):
    """`GroupMember.WORLD`, and what `new_group` gives to ranks that are not in it."""

    NON_GROUP_MEMBER = -100


def is_available() -> bool:
    """True: one rank is a world, and more are where there is mpi4py.

    >>> torch.distributed.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Whether there is a default group.

    >>> torch.distributed.is_initialized()
    False
    """
    return _world.default_pg is not None


def _get_default_group() -> Any:
    if not is_initialized():
        raise value_error(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group.",
            'One process: init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, '
            "world_size=1).",
        )
    return _world.default_pg


def _get_default_store() -> Store:
    return _get_default_group()._store


def _resolved(group: Any) -> Any:
    """A group, the default one for None."""
    return _get_default_group() if group is None or group is _world.default_pg else group


def _rank_not_in_group(group: Any) -> bool:
    return group == GroupMember.NON_GROUP_MEMBER


def _ranks_of(group):
    ranks = _world.ranks.get(group)
    if ranks is None:
        raise value_error(
            f"Group {group} is not registered, please create group with "
            "torch.distributed.new_group API",
            "It may have been destroyed.",
        )
    return ranks


def get_rank(group: Any = None) -> int:
    """The number of this process in a group; -1 if it is not in it."""
    if _rank_not_in_group(group):
        return -1
    default = _get_default_group()
    if group is None or group is default:
        return default.rank()
    return get_group_rank(group, default.rank())


def get_world_size(group: Any = None) -> int:
    """How many processes a group has; -1 if this one is not in it."""
    if _rank_not_in_group(group):
        return -1
    return len(_ranks_of(_resolved(group)))


def get_group_rank(group: Any, global_rank: int) -> int:
    """The number in a group of the process with a number in the world."""
    if group is GroupMember.WORLD:
        return global_rank
    ranks = _ranks_of(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The number in the world of the process with a number in a group."""
    if group is GroupMember.WORLD:
        return group_rank
    ranks = _ranks_of(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_process_group_ranks(group: Any) -> list[int]:
    """The numbers in the world of a group's processes."""
    return list(_ranks_of(_resolved(group)))


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The number of this process on its computer, which its starter says in `LOCAL_RANK`."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context "
        "and want the code to run locally instead."
    )


def get_backend(group: Any = None) -> str:
    """The name of a group's backend."""
    found = _resolved(group)
    if _rank_not_in_group(found) or found not in _world.names:
        raise ValueError("Invalid process group specified")
    return _world.names[found][0]


def get_backend_config(group: Any = None) -> str:
    """Which backend a group has for each kind of device."""
    found = _resolved(group)
    if found not in _world.names:
        raise ValueError("Invalid process group specified")
    return str(_world.names[found][1])


def get_pg_count() -> int:
    """How many groups were made."""
    return _world.group_count


# --- making and unmaking them ---------------------------------------------------------------------


def _check_timeout(timeout):
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )


def _make(backend, store, ranks, rank, timeout, options, name, description):
    """A group with what belongs to it, and its place in the world."""
    config = BackendConfig(backend)
    for each in config.device_backend_map.values():
        require(each)
    first = config.device_backend_map.get("cpu", backend)
    plugin: Any = Backend._plugins.get(first.upper())
    prefixed = PrefixStore(f"{name}/", store) if store is not None else None
    if plugin is None:
        moves = _backend(first, prefixed, ranks, rank, timeout)
        made: Any = ProcessGroupGloo(rank, len(ranks), moves)
        made._store = prefixed
    else:
        made = _of_plugin(*plugin, prefixed, rank, len(ranks), timeout, options, ranks, name)
    made.group_name, made.group_desc = name, description
    _world.ranks[made] = ranks
    _world.names[made] = (backend, config)
    _world.group_count += 1
    return made


def _backend(name, store, ranks, rank, timeout):
    """What moves the numbers of a group of the world."""
    if len(ranks) == 1:
        found: Any = OneRank(rank, 1)
        found.name = name
        return found
    from tapegrad.distributed import mpi

    of_world = getattr(_world.default_pg, "_backend", None)
    if of_world is not None:
        found = of_world.group(rank, len(ranks), ranks)
        found.name = name
        found.set_timeout(timeout)
        return found
    found = mpi.connect(name, store, rank, ranks, timeout)
    if get_debug_level() is not DebugLevel.DETAIL:
        return found
    from tapegrad.distributed.checked import Checked

    return Checked(found)


class _Options:
    """What a creator with `extended_api` is told."""


def _of_plugin(creator, extended, store, rank, size, timeout, options, ranks, name):
    if not extended:
        return creator(store, rank, size, timeout)
    told: Any = _Options()
    told.store, told.group_rank, told.group_size, told.timeout = store, rank, size, timeout
    told.global_ranks_in_group, told.group_id = ranks, name
    return creator(told, options)


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: Sequence[int] | None = None,
) -> None:
    """Make the default group.

    Args:
        backend: "gloo" or "mpi", which are MPI where there are several ranks, or a name that
            `Backend.register_backend` knows. "mpi" takes ranks and world from MPI.
        init_method: Where the ranks meet: `env://` (the default; reads `MASTER_ADDR`,
            `MASTER_PORT`, `RANK`, `WORLD_SIZE`, or what MPI and Slurm say in their place),
            `tcp://host:port`, `file:///path`.
        store: Instead of that, a store that all ranks reach, with `rank` and `world_size`.

    Raises:
        DistBackendError: For more ranks than MPI has started, or without mpi4py.

    >>> torch.distributed.init_process_group(
    ...     "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> torch.distributed.get_rank(), torch.distributed.get_world_size()
    (0, 1)
    >>> torch.distributed.destroy_process_group()
    """
    if is_initialized():
        raise advised(
            ValueError("trying to initialize the default process group twice!"),
            "destroy_process_group() comes before another.",
        )
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None and not world_size > 0:
        raise assertion_error("world_size must be positive if using store", "Give it, and rank.")
    if store is not None and not rank >= 0:
        raise AssertionError("rank must be non-negative if using store")
    if backend is None and device_id is not None and not isinstance(device_id, int):
        backend = Backend.default_device_backend_map.get(device_id.type)
    name = Backend("undefined" if backend is None else backend)
    timeout = default_pg_timeout if timeout is None else timeout
    _check_timeout(timeout)
    url = "env://" if init_method is None else init_method
    if name == Backend.MPI:
        require(name)
        store, (rank, world_size) = None, _world_of_mpi(rank, world_size)
    elif store is None and url.startswith("env:"):
        set_launch_variables()
    meets = store is None and name != Backend.MPI
    asked = asked_world_size(url, rank, world_size) if meets else world_size
    if asked > 1 and name.upper() not in Backend._plugins:
        from tapegrad.distributed.mpi import require_ranks

        require_ranks(asked)  # before waiting for ranks that never come
    if meets:
        store, rank, world_size = next(iter(rendezvous(url, rank, world_size, timeout=timeout)))
        store.set_timeout(timeout)
        store = PrefixStore("default_pg", store)
    _world.group_count = 0
    ranks = list(range(world_size))
    _world.default_pg = _make(name, store, ranks, rank, timeout, pg_options, "0", "default_pg")
    mark_tracebacks(rank)
    if world_size > 1 and store is not None:
        from tapegrad.distributed.waiting import answer_questions

        answer_questions(store, rank, world_size)


def _world_of_mpi(rank, world_size):
    """What "mpi" takes in place of a rendezvous: all processes that MPI started."""
    if rank != -1 or world_size != -1:
        warnings.warn(
            f"For MPI backend, world_size ({world_size}) and rank ({rank}) are ignored since they "
            "are assigned by the MPI runtime.",
            stacklevel=3,
        )
    from tapegrad.distributed.mpi import mpi

    comm = mpi().COMM_WORLD
    return comm.rank, comm.size


def destroy_process_group(group: Any = None) -> None:
    """Take a group away; the default one takes all others with it."""
    if _rank_not_in_group(group):
        return
    found = _world.default_pg if group is None else group
    if found is None and group is None and not _world.ranks:
        raise assertion_error("Process group cannot be None", "There is none to destroy.")
    if found not in _world.ranks:
        raise ValueError("Invalid process group specified")
    gone = list(_world.ranks) if found is _world.default_pg else [found]
    for each in gone:
        each.shutdown()
        del _world.ranks[each], _world.names[each]
    if found is _world.default_pg:
        _world.default_pg = None
        _world.group_count = 0


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
) -> Any:
    """A group of some ranks, all by default; every process has to ask for it.

    Returns: The group, or `GroupMember.NON_GROUP_MEMBER` where this process is not in it.
    """
    default = _get_default_group()
    size = default.size()
    chosen = list(range(size)) if ranks is None else sorted(ranks)
    if len(chosen) > size and len(set(chosen)) == len(chosen):
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by "
            "init_process_group"
        )
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {list(ranks or [])}")
    for each in chosen:
        if not 0 <= each < size:
            raise ValueError(
                f"Rank {each} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})"
            )
    if not chosen:
        raise TypeError("a group has at least one rank")
    name = Backend(_world.names[default][0] if backend is None else backend)
    timeout = default_pg_timeout if timeout is None else timeout
    _check_timeout(timeout)
    for each in BackendConfig(name).device_backend_map.values():
        require(each)
    if default.rank() not in chosen:
        _world.group_count += 1
        return GroupMember.NON_GROUP_MEMBER
    return _make(
        name,
        default._store,
        chosen,
        chosen.index(default.rank()),
        timeout,
        pg_options,
        str(_world.group_count),
        group_desc or "undefined",
    )


def new_subgroups(
    group_size: int | None = None,
    group: Any = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list]:
    """Groups of `group_size` neighbours each: the one of this process, and all."""
    size = get_world_size(group)
    if group_size is None:
        raise value_error(
            "Default group size only takes effect when CUDA is available.", "Give group_size."
        )
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if group_size > size:
        raise ValueError(
            f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})"
        )
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    ranks = get_process_group_ranks(group)
    parts = [ranks[i : i + group_size] for i in range(0, size, group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list]:
    """Groups of the ranks that are listed for each: the one of this process, and all."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    flat = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(flat)) < len(flat):
        twice = next(rank for rank in flat if flat.count(rank) > 1)
        raise ValueError(f"Rank {twice} has appeared in more than one subgroup")
    mine, made = None, []
    for ranks in ranks_per_subgroup_list:
        one = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        made.append(one)
        if get_rank() in ranks:
            mine = one
    return mine, made


def split_group(*args: Any, **kwargs: Any) -> Any:
    """Raises: groups of gloo are made by `new_group`, not split off."""
    _get_default_group()
    raise advised(
        RuntimeError(
            "No backend for the parent process group or its backend does not support splitting"
        ),
        "new_group(ranks) makes one.",
    )


def shrink_group(*args: Any, **kwargs: Any) -> Any:
    """Raises: groups of gloo keep their ranks."""
    _get_default_group()
    raise advised(
        TypeError("shrink_group is only supported for the NCCL backend"),
        "new_group(ranks) makes one.",
    )


def warn_deprecated(message: str) -> None:
    """A FutureWarning at the line that called the caller's caller."""
    warnings.warn(message, category=FutureWarning, stacklevel=4)
