"""PowerSGD: gradients of matrices sent as products `P Q^T` of two thin ones.

Source: Vogels, Karimireddy and Jaggi, PowerSGD: Practical Low-Rank Gradient Compression for
Distributed Optimization, 2019, algorithm 1. A step of power iteration on the sum of all ranks'
gradients M, which no rank ever has:

    P = sum of M Q over all ranks, its columns made orthonormal
    Q = mean of M^T P over all ranks
    M is replaced by P Q^T, and what that lacks is added to the next gradient

Hyperparameters, statistics and random numbers are PyTorch's.
"""

import logging
import math
from collections import defaultdict

from tapegrad.core.annotations import Any, Sequence, Tensor
from tapegrad.core.errors import value_error
from tapegrad.distributed.algorithms.ddp_comm_hooks.default_hooks import _mean
from tapegrad.distributed.collectives import all_reduce
from tapegrad.distributed.groups import _get_default_group, _resolved

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

logger = logging.getLogger(__name__)


class PowerSGDState:
    """What PowerSGD is told, and what it remembers of each bucket.

    Args:
        process_group: The ranks; the default group if None.
        matrix_approximation_rank: How many columns P and Q have at most.
        start_powerSGD_iter: From which iteration on gradients are compressed.
        min_compression_rate: Matrices that get smaller by less are sent as they are.
        use_error_feedback: Add to each gradient what was lost of the one before.
        warm_start: Begin with the Q of the iteration before, not with random numbers.
        orthogonalization_epsilon: Added to norms of columns; those of zeros give nan without.
        random_seed: Of the first Q, the same on all ranks.
        batch_tensors_with_same_shape: Multiply matrices of one shape in one call.

    Raises:
        ValueError: It starts in the first two iterations, with a memory of buckets that change.

    >>> from tapegrad.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState
    >>> PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=10).iter
    0
    """

    __slots__ = (
        "batch_tensors_with_same_shape",
        "compression_stats_logging_frequency",
        "error_dict",
        "iter",
        "matrix_approximation_rank",
        "min_compression_rate",
        "next_stats_report",
        "orthogonalization_epsilon",
        "p_memory_dict",
        "process_group",
        "q_memory_dict",
        "rng",
        "start_powerSGD_iter",
        "total_numel_after_compression",
        "total_numel_before_compression",
        "use_error_feedback",
        "warm_start",
    )

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        import numpy as np

        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise value_error(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is "
                "enabled, because PowerSGD can only be applied after the first two iterations in "
                "DDP.",
                "Buckets are made anew after the first one.",
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)  # PyTorch's numbers
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict:
        """Everything but the group."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "process_group"}

    def __setstate__(self, state: dict) -> None:
        self.process_group = _get_default_group()
        for name, value in state.items():
            setattr(self, name, value)

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count the iteration that ends with this bucket, if it is the last one."""
        self.iter += bucket.is_last()
        if self.iter == self.start_powerSGD_iter:
            logger.info("Start to apply PowerSGD after %s iterations.", self.iter)

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times fewer numbers were sent, how many there were, how many were sent."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return before / after if after else 0, before, after

    def _report(self, bucket: Any) -> None:
        if bucket.is_last() and self.iter >= self.next_stats_report:
            rate, before, after = self.compression_stats()
            logger.info(
                "Compression stats: iter %s, total before compression %s, total after compression "
                "%s, rate %s",
                self.iter,
                before,
                after,
                rate,
            )
            self.next_stats_report = self.iter + self.compression_stats_logging_frequency


def _orthogonalize(matrices: Tensor, epsilon: float = 0) -> None:
    """Make the columns of each matrix of a (batch, n, r) tensor orthonormal, in place."""
    from tapegrad import bfloat16, float16, linalg

    r = matrices.shape[2]
    if r > 2 and matrices.dtype not in (float16, bfloat16):
        matrices.copy_(linalg.qr(matrices).Q)
        return
    for i in range(r):  # Gram-Schmidt, which is quicker for few columns
        column, rest = matrices[:, :, i : i + 1], matrices[:, :, i + 1 :]
        column.div_(column.norm(dim=1, keepdim=True) + epsilon)
        rest.sub_((column * rest).sum(1, keepdim=True) * column)


def _first_qs(state: PowerSGDState, index: int, matrices: Sequence[Tensor]) -> list:
    """Q for each (batch, n, m) tensor: parts of what `state` keeps, with orthonormal columns."""
    from tapegrad import empty, manual_seed, randn
    from tapegrad.random import fork_rng

    most = state.matrix_approximation_rank
    shapes = [(len(x), x.shape[2], min(*x.shape[1:], most)) for x in matrices]
    sizes = [math.prod(shape) for shape in shapes]
    is_new = not state.warm_start or index not in state.q_memory_dict
    if is_new:
        state.q_memory_dict[index] = empty(sum(sizes), dtype=matrices[0].dtype)
    parts = state.q_memory_dict[index].split(sizes)
    qs = [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
    with fork_rng():
        if is_new:
            manual_seed(state.rng.randint(1_000_000_000))
        for q in qs:
            if is_new:
                q.copy_(randn(q.shape, dtype=q.dtype))
            _orthogonalize(q, state.orthogonalization_epsilon)
    return qs


def _with_error(state: PowerSGDState, index: int, flat: Tensor) -> Tensor | None:
    """Add to a gradient what was lost of the one before; a copy of the sum."""
    if not state.use_error_feedback:
        return None
    if index in state.error_dict:
        flat.add_(state.error_dict[index])
    return flat.clone()


def _reduced(
    state: PowerSGDState,
    index: int,
    flat: Tensor,
    given: Tensor | None,
    matrices: Sequence[Tensor],
    vectors: Sequence[Tensor],
) -> Any:
    """A future of `flat`, when the mean over all ranks is in its matrices and vectors.

    The reduction of the P and of the vectors begins here; that of the Q, which depends on it, comes
    when somebody waits, so that all ranks make those of several buckets in the same order.
    """
    from tapegrad import bmm, empty

    group = _resolved(state.process_group)
    qs = _first_qs(state, index, matrices) if matrices else []
    shapes = [(len(x), x.shape[1], q.shape[2]) for x, q in zip(matrices, qs, strict=True)]
    sizes = [*map(math.prod, shapes), *(x.numel() for x in vectors)]
    sent = empty(sum(sizes), dtype=flat.dtype)
    parts = sent.split(sizes)
    ps = [part.view(shape) for part, shape in zip(parts, shapes, strict=False)]
    state.p_memory_dict[index] = sent[: sum(map(math.prod, shapes))]
    for x, q, p in zip(matrices, qs, ps, strict=True):
        p.copy_(bmm(x, q))
    places = list(zip(vectors, parts[len(ps) :], strict=True))
    for x, place in places:
        place.copy_(x)

    def finish(_: Any) -> Tensor:
        for x, place in places:
            x.copy_(place.div_(group.size()))
        for x, p, q in zip(matrices, ps, qs, strict=True):
            _orthogonalize(p, state.orthogonalization_epsilon)
            q.copy_(bmm(x.transpose(1, 2), p))
        if matrices:
            all_reduce(state.q_memory_dict[index], group=group)
            state.q_memory_dict[index].div_(group.size())
        for x, p, q in zip(matrices, ps, qs, strict=True):
            x.copy_(bmm(p, q.transpose(1, 2)))
        if not state.warm_start:
            state.p_memory_dict.clear()
            state.q_memory_dict.clear()
        if given is not None:
            state.error_dict[index] = given - flat
        return flat

    return all_reduce(sent, group=group, async_op=True).get_future().then(finish)


def powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """The mean over all ranks of a bucket whose matrices are compressed one by one.

    Vectors, and matrices that are not worth it, are sent as they are.
    """
    from tapegrad import stack

    flat = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return _mean(state.process_group, flat)
    given = _with_error(state, bucket.index(), flat)
    vectors, by_shape = [], defaultdict(list)
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.shape[0] if gradient.dim() else 1, -1)
        n, m = matrix.shape
        n_sent = (n + m) * min(n, m, state.matrix_approximation_rank)
        pays = n_sent * state.min_compression_rate < n * m
        by_shape[matrix.shape].append(matrix) if pays else vectors.append(gradient.view(-1))
        state.total_numel_before_compression += n * m
        state.total_numel_after_compression += n_sent if pays else n * m
    state._report(bucket)
    stacks = list(by_shape.values())
    if not state.batch_tensors_with_same_shape:
        stacks = [[x] for each in stacks for x in each]
    matrices = [stack(each) if len(each) > 1 else each[0].unsqueeze(0) for each in stacks]

    def finish(future: Any) -> Tensor:
        for each, found in zip(stacks, matrices, strict=True):
            for x, y in zip(each, found, strict=True):
                x.copy_(y)
        state.maybe_increase_iter(bucket)
        return future.value()

    return _reduced(state, bucket.index(), flat, given, matrices, vectors).then(finish)


def batched_powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """The mean over all ranks of a bucket that is compressed as one square matrix.

    Quicker than `powerSGD_hook` and less exact, unless one column is enough.
    """
    from tapegrad import zeros

    flat = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return _mean(state.process_group, flat)
    n = flat.numel()
    side = math.isqrt(n - 1) + 1
    state.total_numel_before_compression += n
    state.total_numel_after_compression += 2 * side * state.matrix_approximation_rank
    state._report(bucket)
    padded = zeros(side * side, dtype=flat.dtype)
    padded[:n].copy_(flat)
    given = _with_error(state, bucket.index(), padded)

    def finish(future: Any) -> Tensor:
        flat.copy_(future.value()[:n])
        state.maybe_increase_iter(bucket)
        return flat

    matrix = padded.view(1, side, side)
    return _reduced(state, bucket.index(), padded, given, [matrix], []).then(finish)
