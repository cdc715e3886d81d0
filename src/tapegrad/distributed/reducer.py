"""`Reducer`: gradients of a model, bucket by bucket, become their mean over all ranks."""

from enum import IntEnum

import numpy as np

from tapegrad.core.annotations import Any, Callable, Sequence, Tensor
from tapegrad.core.errors import advised, runtime_error
from tapegrad.distributed.reduce_op import AllreduceOptions

_FIRST_BUCKET_BYTES = 1024 * 1024  # small, so that the first reduction begins early


class BuiltinCommHookType(IntEnum):
    """Hooks that PyTorch has in C++."""

    ALLREDUCE = 1
    FP16_COMPRESS = 2


class GradBucket:
    """Gradients of some parameters, one after another in a flat tensor, as hooks see them."""

    def __init__(
        self, index: int, is_last: bool, parameters: Sequence[Tensor], buffer: Tensor
    ) -> None:
        self._index, self._is_last = index, is_last
        self._parameters, self._buffer = list(parameters), buffer

    def index(self) -> int:
        """The number of the bucket; those of the last layers come first."""
        return self._index

    def is_last(self) -> bool:
        """Whether it is the last of this backward pass."""
        return self._is_last

    def buffer(self) -> Tensor:
        """The flat tensor."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Put another in its place, for what comes after in the hook."""
        self._buffer = buffer

    def gradients(self) -> list:
        """The gradients of the parameters, views of the flat tensor."""
        return _views(self._buffer, self._parameters)

    def parameters(self) -> list:
        """The parameters."""
        return list(self._parameters)


def _views(flat: Tensor, parameters: Sequence[Tensor]) -> list:
    pieces = flat.split([p.numel() for p in parameters])
    return [x.view(p.shape) for x, p in zip(pieces, parameters, strict=True)]


class _Bucket:
    """Parameters, by number, whose gradients are copied to one flat tensor and reduced there."""

    def __init__(self, numbers: Sequence[int], parameters: Sequence[Tensor]) -> None:
        from tapegrad import empty

        self.numbers = numbers
        self.parameters = [parameters[i] for i in numbers]
        self.flat = empty(sum(p.numel() for p in self.parameters), dtype=self.parameters[0].dtype)
        self.views = dict(zip(numbers, _views(self.flat, self.parameters), strict=True))
        self.n_missing = len(numbers)

    def take(self, i: int, gradient: Tensor | None, scale: float) -> None:
        """Copy the gradient of parameter `i`, times a number; None is zero."""
        view: Any = self.views[i]
        x: Any = gradient
        if x is None:
            view.zero_()
        elif x.dtype is view.dtype and view._array.dtype.char in "fd":
            np.multiply(x._array, scale, out=view._array)
        else:
            view.copy_(x).mul_(scale)
        self.n_missing -= 1

    def give(self, i: int, parameter: Tensor, as_view: bool) -> None:
        """Let the gradient of parameter `i` be what the bucket has."""
        view: Any = self.views[i]
        if as_view:
            parameter.grad = view
        elif parameter.grad is None:
            parameter.grad = view.clone()
        else:
            parameter.grad.data.copy_(view)


def bucket_assignment(
    parameters: Sequence[Tensor], cap_bytes: int, order: Sequence[int] | None = None
) -> list[list[int]]:
    """Which parameters share a bucket, by number: of one dtype, in an order, the first small.

    The order is that in which gradients are expected: the last parameters' first.
    """
    buckets: list[list[int]] = []
    n_bytes: list[int] = []
    open_ones: dict[Any, int] = {}
    for i in reversed(range(len(parameters))) if order is None else order:
        p = parameters[i]
        at = open_ones.get(p.dtype)
        if at is None:
            at = open_ones[p.dtype] = len(buckets)
            buckets.append([])
            n_bytes.append(0)
        buckets[at].append(i)
        n_bytes[at] += p.numel() * p.element_size()
        if n_bytes[at] >= (_FIRST_BUCKET_BYTES if at == 0 else cap_bytes):
            del open_ones[p.dtype]
    return buckets


class Reducer:
    """Watches the gradients of parameters arrive, and reduces each bucket that is full.

    Every rank begins the reductions in the order of the buckets, and each gradient that arrives
    lets those under way go on. After the first pass the buckets are those of the order in which
    rank 0's gradients arrived. With one rank and no hook there is nothing to move, and the
    gradients stay as they are.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        group: Any,
        cap_bytes: int,
        find_unused: bool,
        as_views: bool = False,
    ) -> None:
        self.parameters = list(parameters)
        self._as_views = as_views  # gradients stay in the buckets
        self.group, self.find_unused = group, find_unused
        self.n_ranks = group.size()  # by which sums of gradients are divided
        self._cap_bytes = cap_bytes
        self._arrived: list[int] | None = []  # in which order, in the first pass; then None
        self._buckets: list[_Bucket] = []
        self._bucket_of: dict[int, _Bucket] = {}
        self._hook: Callable | None = None
        self._hook_state: Any = None
        self._expecting = self._started = self._looks = False
        self._ready: set[int] = set()
        self._unused: set[int] = set()
        self._futures: list = []  # of the buckets that are begun
        self._n_done = 0  # so many of them, at least, have been reduced
        for i, p in enumerate(self.parameters):
            p.register_post_accumulate_grad_hook(self._arrival(i))

    def _arrival(self, i):
        def arrived(parameter: Tensor) -> None:
            if self._expecting and parameter.grad is not None:
                self._mark(i)

        return arrived

    def register_hook(self, state: Any, hook: Callable) -> None:
        """Have `hook(state, bucket)` give a future of each bucket's flat tensor."""
        if self._hook is not None:
            raise runtime_error(
                "register_comm_hook or register_builtin_comm_hook can only be called once.",
                "Make another DistributedDataParallel.",
            )
        self._hook, self._hook_state = hook, state

    def prepare_for_forward(self) -> None:
        """Check that the pass before was finished, and learn from the first one."""
        if not self._started:
            if self._arrived and self._moves():
                self._take_order(self._arrived)
            return
        missing = [i for i in range(len(self.parameters)) if i not in self._ready]
        indices = "".join(f" {i}" for i in missing)
        last = (
            "If you already have done the above, then the distributed data parallel module wasn't "
            "able to locate the output tensors in the return value of your module's `forward` "
            "function. Please include the loss function and the structure of the return value of "
            "`forward` of your module when reporting this issue (e.g. list, dict, iterable)."
        )
        turn_on = (
            "You can enable unused parameter detection by passing the keyword argument "
            "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by "
        )
        message = (
            "Expected to have finished reduction in the prior iteration before starting a new one. "
            "This error indicates that your module has parameters that were not used in producing "
            f"loss. {'' if self.find_unused else turn_on}\n"
            "making sure all `forward` function outputs participate in calculating loss. \n"
            f"{last}\n"
            f"Parameter indices which did not receive grad for rank {self.group.rank()}:{indices}"
        )
        raise advised(RuntimeError(message), "Their order is that of model.parameters().")

    def _take_order(self, order):
        from tapegrad import int64, tensor
        from tapegrad.distributed.collectives import broadcast

        numbers = tensor(order, dtype=int64)
        broadcast(numbers, group=self.group, group_src=0)
        self._share_out(numbers.tolist())
        self._arrived = None

    def _share_out(self, order=None):
        """Make the buckets, of parameters in an order."""
        numbers = bucket_assignment(self.parameters, self._cap_bytes, order)
        self._buckets = [_Bucket(each, self.parameters) for each in numbers]
        self._bucket_of = {i: bucket for bucket in self._buckets for i in bucket.numbers}

    def prepare_for_backward(self, outputs: Sequence[Tensor] | None) -> None:
        """Expect gradients; of outputs, only for what they depend on."""
        self._expecting = True
        self._ready.clear()
        self._open_buckets()
        if self._arrived is not None:
            self._arrived = []
        self._looks = outputs is not None
        self._unused = set() if outputs is None else self._not_below(outputs)
        if self._looks:
            self._arrived = None  # unused ones come first: that is no order
        for i in sorted(self._unused, reverse=True):
            self._mark(i)

    def _not_below(self, outputs):
        """The parameters on which no output depends."""
        seen: set[int] = set()
        found: set[int] = set()
        waiting = [x.grad_fn for x in outputs if x.grad_fn is not None]
        found.update(id(x) for x in outputs if x.requires_grad and x.grad_fn is None)
        keep = []
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            keep.append(node)  # an id is that of a living node
            if hasattr(node, "variable"):
                found.add(id(node.variable))
            waiting.extend(next_node for next_node, _ in node.next_functions)
        return {i for i, p in enumerate(self.parameters) if id(p) not in found}

    def _mark(self, i):
        if i in self._ready:
            raise runtime_error(
                "Expected to mark a variable ready only once. This error is caused by one of the "
                "following reasons: 1) Use of a module parameter outside the `forward` function. "
                "2) Reused parameters in multiple reentrant backward passes.",
                f"It is parameter number {i} of model.parameters().",
            )
        self._started = True
        self._ready.add(i)
        if self._moves():
            if self._arrived is not None:
                self._arrived.append(i)
            self._poke()
            scale = 1.0 if self._hook is not None else 1 / self.n_ranks
            self._bucket_of[i].take(i, self.parameters[i].grad, scale)
            while (n := len(self._futures)) < len(self._buckets) and not self._buckets[n].n_missing:
                self._begin(n)
        if len(self._ready) == len(self.parameters):
            self._finish()

    def _moves(self) -> bool:
        return self._hook is not None or self.group.size() > 1

    def _open_buckets(self):
        """Make ready for a pass."""
        if self._moves() and not self._buckets:
            self._share_out()
        for bucket in self._buckets:
            bucket.n_missing = len(bucket.numbers)
        self._futures, self._n_done = [], 0

    def _poke(self):
        """Let the reductions under way go on, which no thread does.

        What follows them by `then` waits for the end of the pass: it may reduce something itself,
        and all ranks have to begin their reductions in the same order.
        """
        while self._n_done < len(self._futures):
            poke = getattr(self._futures[self._n_done], "poke", None)
            if poke is not None and not poke():
                break
            self._n_done += 1

    def _begin(self, index):
        from tapegrad import no_grad

        bucket = self._buckets[index]
        with no_grad():
            if self._hook is None:
                future = self.group.allreduce([bucket.flat], AllreduceOptions()).get_future()
            else:
                is_last = index == len(self._buckets) - 1
                seen = GradBucket(index, is_last, bucket.parameters, bucket.flat)
                future = self._hook(self._hook_state, seen)
        self._futures.append(future)

    def _finish(self):
        from tapegrad import no_grad

        self._expecting = self._started = False
        with no_grad():
            untouched = self._unused_by_all()
            for bucket, future in zip(self._buckets, self._futures, strict=False):
                found = future.wait()
                found = found[0] if isinstance(found, (list, tuple)) else found
                if found is not bucket.flat:
                    bucket.flat.copy_(found)
                for i, parameter in zip(bucket.numbers, bucket.parameters, strict=True):
                    if i not in untouched:
                        bucket.give(i, parameter, self._as_views)
        self._futures = []

    def take_part(self, looks: bool) -> None:
        """Reduce the gradients of a pass that only other ranks make, to which this adds none."""
        from tapegrad import no_grad

        self._open_buckets()
        for index, bucket in enumerate(self._buckets):
            bucket.flat.zero_()
            self._begin(index)
        self._looks, self._unused = looks, set(range(len(self.parameters)))
        with no_grad():
            self._unused_by_all()
            for future in self._futures:
                future.wait()
        self._futures = []
        if looks:
            self._arrived = None
        elif self._arrived == []:
            self._arrived = [i for bucket in self._buckets for i in bucket.numbers]

    def _unused_by_all(self):
        """The parameters that no rank has used."""
        if not self._looks or self.group.size() == 1:
            return self._unused
        from tapegrad import int32, ones

        used = ones(len(self.parameters), dtype=int32)
        for i in self._unused:
            used[i] = 0
        self.group.allreduce([used], AllreduceOptions()).wait()
        return {i for i, n in enumerate(used.tolist()) if n == 0}
