"""Sending a tensor to one rank, and receiving it there."""

from contextlib import contextmanager

from tapegrad.core.annotations import Any, Callable, Sequence, Tensor
from tapegrad.distributed.collectives import _not_a_member, check_tensor, group_rank_of
from tapegrad.distributed.groups import _rank_not_in_group, _resolved, get_global_rank


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Any:
    """Begin to send a tensor; the work to wait for."""
    found = _resolved(group)
    to = group_rank_of(found, dst, group_dst)
    check_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _not_a_member("isend")
    return found.send([tensor], to, tag)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Any:
    """Begin to receive a tensor, from any rank if none is named; the work to wait for."""
    check_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _not_a_member("irecv")
    found = _resolved(group)
    if src is None and group_src is None:
        return found.recv_anysource([tensor], tag)
    return found.recv([tensor], group_rank_of(found, src, group_src), tag)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to another rank.

    Raises:
        ValueError: To this rank itself.
    """
    found = _resolved(group)
    to = group_rank_of(found, dst, group_dst)
    if not _rank_not_in_group(group) and to == found.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the "
            "current process."
        )
    work = isend(tensor, group=group, tag=tag, group_dst=to)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor; which rank it came from."""
    work = irecv(tensor, src=src, group=group, tag=tag, group_src=group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    found = _resolved(group)
    return get_global_rank(found, work.source_rank() if group_src is None else group_src)


class P2POp:
    """One transfer of several that `batch_isend_irecv` begins: `isend` or `irecv`, and of what."""

    def __init__(
        self,
        op: Callable,
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = _resolved(group)
        self.group_peer = group_rank_of(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)

    def __repr__(self) -> str:
        me = self.group.rank()
        ends = (me, self.group_peer) if self.op is isend else (self.group_peer, me)
        return (
            f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={ends[0]}, "
            f"group_dst={ends[1]},  {self.tensor.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list:
    """Begin several transfers; the works to wait for, in their order."""
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    first = p2p_op_list[0].group
    if any(each.group is not first for each in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    works = []
    for each in p2p_op_list:
        side = "group_dst" if each.op is isend else "group_src"
        given = {side: each.group_peer}
        works.append(each.op(each.tensor, group=each.group, tag=each.tag, **given))
    return [work for work in works if work is not None]


class _CoalescingManager:
    """The works of a block of collectives."""

    def __init__(self) -> None:
        self.works: list = []

    def append(self, work: Any = None) -> None:
        """Take one more work."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all."""
        for work in self.works:
            work.wait()


@contextmanager
def _coalescing_manager(group: Any = None, device: Any = None, async_ops: bool = False):
    """A block whose collectives a device may begin at once; here each begins where it stands."""
    _resolved(group)
    manager = _CoalescingManager()
    yield manager
    if not async_ops:
        manager.wait()
