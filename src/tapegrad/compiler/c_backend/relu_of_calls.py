"""Convolutions that end with ReLU, where nobody but that reads what they give."""

from tapegrad.compiler.c_backend.expressions import TEMPLATES
from tapegrad.compiler.c_backend.ir import (
    Access,
    Call,
    Literal,
    Pointwise,
    Statement,
    reads_of,
    writes_of,
)
from tapegrad.compiler.c_backend.templates import conv


def with_relu(statements: list[Statement], kept: set[int]) -> list[Statement]:
    """The statements with `maximum(convolution, 0)` as one call; `kept` are ids of outputs."""
    n_writes, n_reads = writes_of(statements), reads_of(statements)
    calls: dict[int, Call] = {}  # id of a buffer -> the call that alone writes it
    found: list[Statement] = []
    for each in statements:
        call = calls.get(id(each.reads[0].buffer)) if _is_relu(each) else None
        if call is not None and _may_end(call, each) and n_writes[id(each.writes[0].buffer)] == 1:
            call.arguments[conv.ENDS] += conv.RELU
            call.results = call.writes = list(each.writes)
            continue
        found.append(each)
        if isinstance(each, Call) and conv.has_ends(each.function):
            buffer = id(each.results[0].buffer)
            if n_writes[buffer] == n_reads[buffer] == 1 and buffer not in kept:
                calls[buffer] = each
    return found


def _is_relu(each: Statement) -> bool:
    """Whether a statement is `maximum(x, 0)` of one floating dtype."""
    if not isinstance(each, Pointwise) or each.expression != TEMPLATES["maximum"]["f"]:
        return False
    x, low = each.args
    is_zero = isinstance(low, Literal) and low.value == 0
    return isinstance(x, Access) and is_zero and x.dtype == each.result == each.out.dtype


def _may_end(call: Call, each: Statement) -> bool:
    """Whether a call may write what a statement makes of its result."""
    (given,), (x,), (out,) = call.results, each.reads, each.writes
    is_same = x.key == given.key and out.shape == given.shape
    return is_same and out.is_dense and out.buffer.kind == "memory"
