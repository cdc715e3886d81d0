"""What reductions compute, and the options of collectives."""

from datetime import timedelta
from enum import IntEnum

from tapegrad.core.annotations import Any
from tapegrad.distributed.constants import default_pg_timeout


class RedOpType(IntEnum):
    """How numbers of several ranks become one.

    >>> torch.distributed.ReduceOp.SUM
    <RedOpType.SUM: 0>
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """A reduction: one of `RedOpType`, whose members it has, too.

    >>> torch.distributed.ReduceOp("max") == torch.distributed.ReduceOp.MAX
    True
    """

    RedOpType = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __init__(self, op: Any) -> None:
        if isinstance(op, str):
            op = RedOpType[op.upper()]
        self.op = reduction_of(op)

    def __eq__(self, other: object) -> bool:
        other = other.op if isinstance(other, ReduceOp) else other
        return self.op == other

    def __hash__(self) -> int:
        return hash(self.op)


def reduction_of(op: Any) -> RedOpType:
    """The `RedOpType` of a reduction; TypeError if it is none."""
    op = op.op if isinstance(op, ReduceOp) else op
    if not isinstance(op, RedOpType):
        raise TypeError(f"expected a torch.distributed.ReduceOp, but got {type(op).__name__}")
    return op


class _Options:
    """Arguments of one collective: each has a default, and stands as an attribute."""

    defaults: dict[str, Any] = {}  # noqa: RUF012  # never written

    def __init__(self) -> None:
        for name, value in self.defaults.items():
            setattr(self, name, value)
        self.timeout: timedelta = default_pg_timeout
        self.asyncOp = True


class AllreduceOptions(_Options):
    """Of `allreduce`: the reduction."""

    defaults = {"reduceOp": RedOpType.SUM}  # noqa: RUF012
    reduceOp: Any


class AllreduceCoalescedOptions(AllreduceOptions):
    """Of `allreduce_coalesced`."""


class ReduceOptions(_Options):
    """Of `reduce`: the reduction, and which rank has it."""

    defaults = {"reduceOp": RedOpType.SUM, "rootRank": 0, "rootTensor": 0}  # noqa: RUF012
    reduceOp: Any
    rootRank: int


class ReduceScatterOptions(AllreduceOptions):
    """Of `reduce_scatter`: the reduction."""


class BroadcastOptions(_Options):
    """Of `broadcast`: whose numbers they are."""

    defaults = {"rootRank": 0, "rootTensor": 0}  # noqa: RUF012
    rootRank: int


class GatherOptions(BroadcastOptions):
    """Of `gather`: where to."""


class ScatterOptions(BroadcastOptions):
    """Of `scatter`: where from."""


class AllgatherOptions(_Options):
    """Of `allgather`."""


class AllToAllOptions(_Options):
    """Of `alltoall`."""


class BarrierOptions(_Options):
    """Of `barrier`."""

    defaults = {"device_ids": (), "device": None}  # noqa: RUF012


class _DeprecatedReduceOps:
    """`torch.distributed.reduce_op`, the old name of `ReduceOp`."""

    def __getattr__(self, name: str) -> Any:
        if name not in RedOpType.__members__:
            raise AttributeError(f"'_DeprecatedReduceOps' object has no attribute '{name}'")
        import warnings

        warnings.warn(
            "`torch.distributed.reduce_op` is deprecated, please use "
            "`torch.distributed.ReduceOp` instead",
            category=FutureWarning,
            stacklevel=2,
        )
        return getattr(ReduceOp, name)


reduce_op = _DeprecatedReduceOps()
