"""Collectives on any objects that can be pickled; of one rank, copies of them."""

import io
import pickle

from tapegrad.core.annotations import Any
from tapegrad.distributed.collectives import (
    _not_a_member,
    all_gather,
    broadcast,
    check_one_side,
    gather,
    group_rank_of,
    scatter,
)
from tapegrad.distributed.groups import _rank_not_in_group, _resolved, get_world_size


def _object_to_tensor(obj: Any, device: Any = None, group: Any = None) -> tuple[Any, Any]:
    """An object as bytes, and how many they are."""
    from tapegrad import frombuffer, int64, tensor, uint8

    file = io.BytesIO()
    pickle.Pickler(file).dump(obj)
    data = bytearray(file.getvalue())
    return frombuffer(data, dtype=uint8).to(device), tensor([len(data)], dtype=int64, device=device)


def _tensor_to_object(tensor: Any, tensor_size: Any, group: Any = None) -> Any:
    """The object of which a tensor has the bytes."""
    return pickle.loads(tensor.cpu().numpy().tobytes()[: int(tensor_size)])


def _gathered_sizes(n_bytes, group):
    from tapegrad import int64, zeros

    sizes = [zeros(1, dtype=int64) for _ in range(get_world_size(group))]
    all_gather(sizes, n_bytes, group=group)
    return [int(n) for n in sizes]


def _padded(data, n):
    from tapegrad.nn.functional import pad

    return pad(data, (0, n - data.numel()))


def _empty_bytes(n):
    from tapegrad import empty, uint8

    return empty(n, dtype=uint8)


def all_gather_object(object_list: list, obj: Any, group: Any = None) -> None:
    """Write to `object_list[r]` the object of rank r.

    >>> torch.distributed.init_process_group(
    ...     "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> found = [None]
    >>> torch.distributed.all_gather_object(found, {"loss": 0.5})
    >>> found
    [{'loss': 0.5}]
    >>> torch.distributed.destroy_process_group()
    """
    if _rank_not_in_group(group):
        return _not_a_member("all_gather_object")
    data, n_bytes = _object_to_tensor(obj)
    sizes = _gathered_sizes(n_bytes, group)
    parts = [_empty_bytes(max(sizes)) for _ in sizes]
    all_gather(parts, _padded(data, max(sizes)), group=group)
    for i, (part, n) in enumerate(zip(parts, sizes, strict=True)):
        object_list[i] = _tensor_to_object(part, n)
    return None


def gather_object(
    obj: Any,
    object_gather_list: list | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Write to `object_gather_list[r]` of rank `dst` the object of rank r."""
    if _rank_not_in_group(group):
        return _not_a_member("gather_object")
    found = _resolved(group)
    root = 0 if dst is None and group_dst is None else group_rank_of(found, dst, group_dst)
    is_root = root == found.rank()
    check_one_side(is_root, object_gather_list, "gather_list", "destination", "ranks")
    data, n_bytes = _object_to_tensor(obj)
    sizes = _gathered_sizes(n_bytes, group)
    parts = [_empty_bytes(max(sizes)) for _ in sizes] if is_root else None
    gather(_padded(data, max(sizes)), parts, group=group, group_dst=root)
    if object_gather_list is not None and parts is not None:
        for i, (part, n) in enumerate(zip(parts, sizes, strict=True)):
            object_gather_list[i] = _tensor_to_object(part, n)
    return None


def broadcast_object_list(
    object_list: list,
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Write to the list the objects of rank `src`."""
    from tapegrad import cat, int64, tensor

    found = _resolved(group)
    root = 0 if src is None and group_src is None else group_rank_of(found, src, group_src)
    if _rank_not_in_group(group):
        return _not_a_member("broadcast_object_list")
    is_root = root == found.rank()
    pickled = [_object_to_tensor(x) for x in object_list] if is_root else []
    sizes = tensor([int(n) for _, n in pickled] or [0] * len(object_list), dtype=int64)
    broadcast(sizes, group=group, group_src=root)
    data = cat([x for x, _ in pickled]) if pickled else _empty_bytes(int(sizes.sum()))
    broadcast(data, group=group, group_src=root)
    if not is_root:
        for i, part in enumerate(data.split(sizes.tolist())):
            object_list[i] = _tensor_to_object(part, part.numel())
    return None


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Write to the first item of rank r's output list rank `src`'s `input_list[r]`."""
    from tapegrad import int64, tensor

    found = _resolved(group)
    root = 0 if src is None and group_src is None else group_rank_of(found, src, group_src)
    if _rank_not_in_group(group):
        return _not_a_member("scatter_object_list")
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    is_root = root == found.rank()
    given = scatter_object_input_list if is_root else None
    pickled = [_object_to_tensor(x) for x in given or []]
    widest = tensor([max((int(n) for _, n in pickled), default=0)], dtype=int64)
    broadcast(widest, group=group, group_src=root)
    part, n_bytes = _empty_bytes(int(widest)), tensor([0], dtype=int64)
    parts = [_padded(data, int(widest)) for data, _ in pickled] if is_root else None
    scatter(part, parts, group=group, group_src=root)
    scatter(n_bytes, [n for _, n in pickled] if is_root else None, group=group, group_src=root)
    scatter_object_output_list[0] = _tensor_to_object(part, n_bytes)
    return None


def send_object_list(
    object_list: list,
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send a list of objects to a rank."""
    from tapegrad import cat
    from tapegrad.distributed.point_to_point import send

    root = group_rank_of(_resolved(group), dst, group_dst)
    if _rank_not_in_group(group):
        return _not_a_member("send_object_list")
    pickled = [_object_to_tensor(x) for x in object_list]
    send(cat([n for _, n in pickled]), group=group, group_dst=root)
    send(cat([x for x, _ in pickled]), group=group, group_dst=root)
    return None


def recv_object_list(
    object_list: list,
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive as many objects as the list has; which rank they came from."""
    from tapegrad import int64, zeros
    from tapegrad.distributed.point_to_point import recv

    if _rank_not_in_group(group):
        _not_a_member("recv_object_list")
        return -1
    sizes = zeros(len(object_list), dtype=int64)
    rank = recv(sizes, src=src, group=group, group_src=group_src)
    data = _empty_bytes(int(sizes.sum()))
    recv(data, src=rank, group=group)
    for i, part in enumerate(data.split(sizes.tolist())):
        object_list[i] = _tensor_to_object(part, part.numel())
    return rank
