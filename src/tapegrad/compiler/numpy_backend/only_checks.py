"""The part of a program that asks whether it holds, where that is little work."""

from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.numpy_backend.block import arguments, values_in
from tapegrad.compiler.numpy_backend.dead import scalars_in
from tapegrad.compiler.numpy_backend.effects import is_check, is_opaque, written
from tapegrad.compiler.numpy_backend.geometry import n_bytes
from tapegrad.core.annotations import Any, Sequence

_LARGE = 1 << 20  # bytes of results, for whose memory one asks first
_LITTLE = 1 << 18  # bytes that are read and made to know


def only_checks(program: Program, outputs: Sequence[Value]) -> Program | None:
    """The checks of a program and what they depend on; None where there are none.

    So it is, too, where its results are small, where checks come after much work, or after what
    they depend on was written or drawn.
    """
    if sum([n_bytes(x) for x in outputs]) < _LARGE:
        return None
    inputs = {x.root for x in program.inputs if isinstance(x, Value)}
    wanted: set[Any] = set()  # roots, and Python's numbers
    found, size = [], 0
    for each in reversed(program.instructions):
        results = list(values_in(each.result))
        changed = {x.root for x in (arguments(each) if is_opaque(each) else written(each))}
        touched = {*changed, *[x.root for x in results], *scalars_in(each.result)}
        if not is_check(each) and not touched & wanted:
            continue
        if is_opaque(each) or changed & inputs:
            return None
        if any(x.root is x for x in results):
            size += sum([n_bytes(x) for x in (*arguments(each), *results)])
        found.append(each)
        wanted |= {*[x.root for x in arguments(each)], *scalars_in(each.args)}
    if not found or size > _LITTLE:
        return None
    return program.part(program.inputs, found[::-1])
