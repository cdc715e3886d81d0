"""Hooks that reduce a bucket as it is, or in 16 bits."""

from tapegrad.core.annotations import Any, Callable
from tapegrad.distributed.collectives import all_reduce
from tapegrad.distributed.groups import _resolved

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
    "noop_hook",
]


def _mean(group: Any, x: Any) -> Any:
    """A future of the mean of a tensor over a group."""
    found = _resolved(group)
    work = all_reduce(x.div_(found.size()), group=found, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: Any, bucket: Any) -> Any:
    """The mean over all ranks, which is what happens without a hook."""
    return _mean(process_group, bucket.buffer())


def noop_hook(_: Any, bucket: Any) -> Any:
    """The numbers of this rank."""
    from tapegrad.jit._async import Future

    future: Future = Future()
    future.set_result(bucket.buffer())
    return future


def _compressed(name: str, wrapped: Callable, state: Any, bucket: Any) -> Any:
    """What a hook gives for a bucket in a 16-bit dtype, in the bucket's own again."""
    import tapegrad

    buffer = bucket.buffer()
    bucket.set_buffer(buffer.to(getattr(tapegrad, name)))

    def restored(future: Any) -> Any:
        found = future.value()
        return buffer.copy_(found[0] if isinstance(found, list) else found)

    return wrapped(state, bucket).then(restored)


def fp16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """The mean over all ranks, computed in float16."""
    return _compressed("float16", allreduce_hook, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """The mean over all ranks, computed in bfloat16; of NCCL alone, as in PyTorch."""
    return _compressed("bfloat16", allreduce_hook, process_group, bucket)


def fp16_compress_wrapper(hook: Callable) -> Callable:
    """A hook that sees the bucket in float16."""
    return lambda state, bucket: _compressed("float16", hook, state, bucket)


def bf16_compress_wrapper(hook: Callable) -> Callable:
    """A hook that sees the bucket in bfloat16."""
    return lambda state, bucket: _compressed("bfloat16", hook, state, bucket)
