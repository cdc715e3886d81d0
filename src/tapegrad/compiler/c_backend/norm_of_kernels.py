"""Convolutions with the batch norm behind them, in evaluation: a part of their kernels and bias.

The norm of a channel is a number times the channel plus another one, both known without it. So
kernels and bias are scaled, of which there are few, and the norm's own pass is left out.
"""

from collections import Counter
from math import prod

from tapegrad.compiler.c_backend.ir import (
    Access,
    Buffer,
    Call,
    Statement,
    dense,
    reads_of,
    writes_of,
)
from tapegrad.compiler.c_backend.templates import conv
from tapegrad.core.annotations import Any


def with_norms(statements: list[Statement], kept: set[int]) -> list[Statement]:
    """The statements, less norms of convolutions that nobody else reads; `kept`: ids of outputs."""
    n_writes, n_reads = writes_of(statements), reads_of(statements)
    calls: dict[int, Call] = {}  # id of a buffer -> the convolution that alone writes it
    found: list[Statement] = []
    for each in statements:
        call = calls.get(id(each.reads[0].buffer)) if _is_norm(each) else None
        if call is not None and _is_all(call, each, n_reads, n_writes):
            found.insert(found.index(call), _kernels_of(call, each))
            call.results = call.writes = list(each.writes)
            call.reads = [x for x in call.arguments if isinstance(x, Access)]
            continue
        found.append(each)
        if isinstance(each, Call) and conv.has_kernels_by_channel(each.function, each.arguments):
            buffer = id(each.results[0].buffer)
            if n_writes[buffer] == 1 and buffer not in kept:
                calls[buffer] = each
    return found


def _is_norm(each: Statement) -> bool:
    """Whether a statement is a norm of channels, not of groups of them."""
    if not isinstance(each, Call) or not each.function.startswith("tg_channel_norm_f"):
        return False
    return each.arguments[10] == 0


def _is_all(call: Call, norm: Any, n_reads: Counter, n_writes: Counter) -> bool:
    """Whether a norm is all that reads a convolution, and what else it reads never changes."""
    x, *others = norm.reads
    given, out = call.results[0], norm.results[0]
    mine = id(given.buffer)
    n_mine = sum(id(y.buffer) == mine for y in norm.reads)
    known = [y for y in others if id(y.buffer) != mine]
    is_known = all(n_writes[id(y.buffer)] == 0 for y in known) and n_writes[id(out.buffer)] == 1
    is_here = out.buffer.kind == "memory" and x.key == given.key
    return is_here and is_known and n_mine == n_reads[mine] and len(known) >= 2


def _kernels_of(call: Call, norm: Any) -> Call:
    """What makes the kernels and the bias with which a convolution gives its norm.

    They become the convolution's arguments.
    """
    given, w, bias, ends = call.results[0], *call.arguments[1 : conv.ENDS + 1]
    _, mean, variance, weight, shift, has_weight, has_shift = norm.arguments[:7]
    name, out = given.buffer.name, w.shape[0]
    kernels = _memory(f"{name}_kernels", w.shape, w.dtype)
    center = _memory(f"{name}_bias", (out,), w.dtype)
    weight, shift = (mean if x.buffer is given.buffer else x for x in (weight, shift))
    arguments = [w, bias, mean, variance, weight, shift, ends, has_weight, has_shift]
    arguments += [out, prod(w.shape[1:]), norm.arguments[-1]]
    call.arguments[1 : conv.ENDS + 1] = [kernels, center, 1]
    function = norm.function.replace("channel_norm", "norm_of_kernels")
    found = Call(function, arguments, [kernels, center], 0, None, norm.line)
    found.origin = norm.origin
    return found


def _memory(name: str, shape: tuple[int, ...], dtype: Any) -> Access:
    """New memory that belongs to no value."""
    return Access(Buffer("memory", name, dtype), 0, shape, dense(shape, dtype.itemsize), dtype)
