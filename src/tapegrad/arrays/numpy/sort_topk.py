"""Selection among equal elements, as PyTorch's CPU kernels happen to make it.

Which of several equal elements is chosen is left open by the definition; programs that print
indices see it all the same. Lanes without ties are ranked by NumPy at once. A lane with a tie that
matters goes through the algorithm itself, element by element: select by partition for `kthvalue`,
the introselect of the C++ standard library for `topk`. In lanes too long for that the first of
equal elements is chosen.

Source: Hoare, "Algorithm 65: Find", 1961; Musser, "Introspective Sorting and Selection", 1997.
"""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.arrays.numpy.argsort import keys as sorting_keys
from tapegrad.arrays.numpy.argsort import sortable
from tapegrad.core.annotations import Any, Array, Callable

LONGEST = 1 << 14  # elements of a lane that are worth a loop in Python, about 10 ms


@kernel
def kth_index(x: Array, k: int, axis: int) -> Any:
    """The index of the k-th smallest element (from 0) along `axis`, kept as an axis of size 1."""
    lanes = np.moveaxis(x, axis, -1)
    if lanes.shape[-1] > LONGEST and not has_nan(lanes):
        return np.moveaxis(place_of_rank(lanes, k), -1, axis)
    order = np.argsort(lanes, axis=-1, kind="stable")
    ranked = np.take_along_axis(lanes, order, -1)
    index = order[..., k : k + 1].copy()
    tied = ((ranked == ranked[..., k : k + 1]).sum(-1) > 1) & (lanes.shape[-1] <= LONGEST)
    for lane in map(tuple, np.argwhere(tied)):
        index[lane] = _find(lanes[lane].tolist(), k)
    return np.moveaxis(index, -1, axis)


def has_nan(x: Array) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())


def place_of_rank(lanes: Any, k: int) -> Any:
    """Where the element of rank `k` lies in each lane, kept as an axis of size 1; no nan.

    Equal elements are ranked by their places.
    """
    value = np.partition(lanes, k, axis=-1)[..., k : k + 1]
    before = (lanes < value).sum(-1, keepdims=True)
    equal = np.cumsum(lanes == value, axis=-1, dtype=np.int64)
    return np.argmax(equal == k - before + 1, axis=-1, keepdims=True)


def _find(values: list, k: int) -> int:
    """Where the k-th smallest value lies after partitioning around medians of three."""
    places = list(range(len(values)))

    def above(a: Array, b: Array) -> bool:
        return (a != a and b == b) or a > b

    def swap(i: int, j: int) -> None:
        values[i], values[j] = values[j], values[i]
        places[i], places[j] = places[j], places[i]

    low, high = 0, len(values) - 1
    while high > low:
        if high == low + 1:
            if above(values[low], values[high]):
                swap(low, high)
            break
        swap((low + high) // 2, low + 1)
        if above(values[low + 1], values[high]):
            swap(low + 1, high)
        if above(values[low], values[high]):
            swap(low, high)
        if above(values[low + 1], values[low]):
            swap(low + 1, low)
        i, j, pivot = low + 1, high, values[low]
        while True:
            i += 1
            while above(pivot, values[i]):
                i += 1
            j -= 1
            while above(values[j], pivot):
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(low, j)
        if j <= k:
            low = i
        if j >= k:
            high = j - 1
    return places[k]


@kernel
def top_indices(x: Array, k: int, axis: int, largest: bool) -> Any:
    """The indices of the k largest or smallest elements along `axis`; nan counts as largest."""
    lanes = np.moveaxis(x, axis, -1)
    n = lanes.shape[-1]
    if n > LONGEST and 0 < k and sortable(lanes):
        keys = sorting_keys(lanes)
        keys = np.invert(keys, out=keys) if largest else keys
        index = np.empty((*lanes.shape[:-1], k), np.int64)
        for lane in np.ndindex(lanes.shape[:-1]):
            index[lane] = _top_of_long(keys[lane], k)
        return np.moveaxis(index, -1, axis)
    if largest:
        order = n - 1 - np.argsort(lanes[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        order = np.argsort(lanes, axis=-1, kind="stable")
    ranked = np.take_along_axis(lanes, order[..., : k + 1], -1)
    index = order[..., :k].copy()
    if k and n <= LONGEST:
        next_ones, ones = ranked[..., 1:], ranked[..., :-1]
        tied = (next_ones == ones) | ((next_ones != next_ones) & (ones != ones))
        for lane in map(tuple, np.argwhere(tied.any(-1))):
            index[lane] = _top(lanes[lane], k, largest)
    return np.moveaxis(index, -1, axis)


def _top_of_long(keys: Any, k: int) -> Any:
    """The places of the k smallest keys in order: at least k are as small as the k-th smallest of
    the smallest of each block, and few more."""
    block = keys.size // (8 * k)
    if block < 2:
        return np.argsort(keys, kind="stable")[:k]
    smallest = keys[: keys.size // block * block].reshape(-1, block).min(1)
    places = np.flatnonzero(keys <= np.partition(smallest, k - 1)[k - 1])
    return places[np.argsort(keys[places], kind="stable")[:k]]


def _top(lane: Any, k: int, largest: bool) -> list[int]:
    """The places of the first k in order: a heap where k is small, else select, then sort."""
    if largest:

        def before(a: tuple, b: tuple) -> bool:
            return (a[0] != a[0] and b[0] == b[0]) or a[0] > b[0]

    else:

        def before(a: tuple, b: tuple) -> bool:
            return (a[0] == a[0] and b[0] != b[0]) or a[0] < b[0]

    if k * 64 <= len(lane):
        queue = _heap_of(lane, k, largest, before)
        _sort_heap(queue, 0, k, before)
    else:
        queue = [(v, i) for i, v in enumerate(lane.tolist())]
        _introselect(queue, k - 1, before)
        _introsort(queue, 0, k - 1, before)
    return [place for _, place in queue[:k]]


Before = Callable[[tuple, tuple], bool]


def _introselect(q: list, nth: int, before: Before) -> None:
    first, last = 0, len(q)
    depth = 2 * (last.bit_length() - 1)
    while last - first > 3:
        if depth == 0:
            _heap_select(q, first, nth + 1, last, before)
            q[first], q[nth] = q[nth], q[first]
            return
        depth -= 1
        cut = _partition(q, first, last, before)
        if cut <= nth:
            first = cut
        else:
            last = cut
    _insertion_sort(q, first, last, before)


def _introsort(q: list, first: int, last: int, before: Before) -> None:
    stack = [(first, last, 2 * max((last - first).bit_length() - 1, 0))]
    while stack:
        low, high, depth = stack.pop()
        while high - low > 16:
            if depth == 0:
                _heap_select(q, low, high, high, before)
                _sort_heap(q, low, high, before)
                break
            depth -= 1
            cut = _partition(q, low, high, before)
            stack.append((cut, high, depth))
            high = cut
    _insertion_sort(q, first, last, before)


def _partition(q: list, first: int, last: int, before: Before) -> int:
    """Partition around the median of the second, the middle and the last element."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    if before(q[a], q[b]):
        median = b if before(q[b], q[c]) else (c if before(q[a], q[c]) else a)
    else:
        median = a if before(q[a], q[c]) else (c if before(q[b], q[c]) else b)
    q[first], q[median] = q[median], q[first]
    pivot, low, high = q[first], first + 1, last
    while True:
        while before(q[low], pivot):
            low += 1
        high -= 1
        while before(pivot, q[high]):
            high -= 1
        if low >= high:
            return low
        q[low], q[high] = q[high], q[low]
        low += 1


def _insertion_sort(q: list, first: int, last: int, before: Before) -> None:
    for i in range(first + 1, last):
        item, j = q[i], i
        if before(item, q[first]):
            q[first + 1 : i + 1] = q[first:i]
            q[first] = item
            continue
        while before(item, q[j - 1]):
            q[j] = q[j - 1]
            j -= 1
        q[j] = item


def _heap_of(lane: Any, k: int, largest: bool, before: Before) -> list:
    """What `_heap_select` leaves in the first k places. An element that is not before the top of
    the heap never will be, as the top only sinks: each block passes over those at once."""
    q = [(v, i) for i, v in enumerate(lane[:k].tolist())]
    _make_heap(q, 0, k, before)
    start = k
    while start < len(lane):
        block = lane[start : 2 * start]
        top = lane[q[0][1]]
        if largest:
            enters = (block > top) | ((block != block) & (top == top))
        else:
            enters = (block < top) | ((block == block) & (top != top))
        for i in (np.flatnonzero(enters) + start).tolist():
            item = (lane[i].item(), i)
            if before(item, q[0]):
                _sift(q, 0, 0, k, item, before)
        start += len(block)
    return q


def _make_heap(q: list, first: int, n: int, before: Before) -> None:
    for parent in range((n - 2) // 2, -1, -1):
        _sift(q, first, parent, n, q[first + parent], before)


def _heap_select(q: list, first: int, middle: int, last: int, before: Before) -> None:
    n = middle - first
    _make_heap(q, first, n, before)
    for i in range(middle, last):
        if before(q[i], q[first]):
            item, q[i] = q[i], q[first]
            _sift(q, first, 0, n, item, before)


def _sort_heap(q: list, first: int, last: int, before: Before) -> None:
    for end in range(last - 1, first, -1):
        item, q[end] = q[end], q[first]
        _sift(q, first, 0, end - first, item, before)


def _sift(q: list, first: int, hole: int, n: int, item: tuple, before: Before) -> None:
    """Let the hole sink to the bottom along the later children, then the item rise from there."""
    top = hole
    child = hole
    while child < (n - 1) // 2:
        child = 2 * (child + 1)
        if before(q[first + child], q[first + child - 1]):
            child -= 1
        q[first + hole] = q[first + child]
        hole = child
    if n % 2 == 0 and child == (n - 2) // 2:
        child = 2 * child + 1
        q[first + hole] = q[first + child]
        hole = child
    while hole > top:
        parent = (hole - 1) // 2
        if not before(q[first + parent], item):
            break
        q[first + hole] = q[first + parent]
        hole = parent
    q[first + hole] = item


FEWEST = 4096  # elements: above it a partition is quicker than an order


@kernel
def median_index(x: Array, axis: int, ignore_nan: bool) -> Any:
    """The index of the lower median along `axis`, kept as an axis of size 1.

    nan sorts last: unless it is ignored, one nan makes the median nan.
    """
    if x.size > FEWEST and x.shape[axis] and not has_nan(x):
        lanes = np.moveaxis(x, axis, -1)
        return np.moveaxis(place_of_rank(lanes, (x.shape[axis] - 1) // 2), -1, axis)
    order = np.argsort(x, axis=axis, kind="stable")
    shape = list(x.shape)
    shape[axis] = 1
    if x.dtype.kind != "f":
        middle = np.full(shape, (x.shape[axis] - 1) // 2)
        return np.take_along_axis(order, middle, axis)
    n_nan = np.isnan(x).sum(axis, keepdims=True)
    known = x.shape[axis] - n_nan
    middle = np.maximum(known - 1, 0) // 2
    if not ignore_nan:
        middle = np.where(n_nan > 0, known, middle)  # the first nan
    return np.take_along_axis(order, middle, axis)


@kernel
def put_along(x: Array, indices: Array, shape: tuple[int, ...], axis: int) -> Any:
    """Zeros of `shape` with `x` at `indices` along `axis`."""
    out = np.zeros(shape, x.dtype)
    np.put_along_axis(out, indices, x, axis)
    return out


@kernel
def mode_index(x: Array, axis: int) -> Any:
    """The index of the last occurrence of the most frequent element (the smallest of several)."""
    rows = np.moveaxis(x, axis, -1)
    order = np.argsort(rows, axis=-1, kind="stable")
    ranked = np.take_along_axis(rows, order, -1)
    n = ranked.shape[-1]
    position = np.arange(n)
    fresh = np.concatenate(
        [np.ones((*ranked.shape[:-1], 1), bool), ranked[..., 1:] != ranked[..., :-1]], -1
    )
    start = np.maximum.accumulate(np.where(fresh, position, 0), -1)
    run = position - start + 1  # how often the element has occurred so far
    best = np.argmax(run, -1, keepdims=True)  # the first longest run: of the smallest element
    return np.moveaxis(np.take_along_axis(order, best, -1), -1, axis)
