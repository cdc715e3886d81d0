"""Dead code: what nobody reads is not computed."""

from tapegrad.arrays.traced.program import Scalar, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.effects import is_check, is_opaque, is_pure, may_raise, written
from tapegrad.core.annotations import Any


def remove_dead(block: Block) -> None:
    """Remove instructions that no output, written input, check or error depends on."""
    wanted: set[Any] = set(values_in(tuple(block.outputs)))
    roots = {block.root(x) for x in wanted}
    roots |= {block.root(x) for x in block.inputs if isinstance(x, Value)}
    kept = []
    for each in reversed(block.instructions):
        needed = is_opaque(each) or is_check(each) or may_raise(each, block.functions)
        needed = needed or not (is_pure(each) or written(each))
        needed = needed or any(block.root(x) in roots for x in written(each))
        needed = needed or any(x in wanted for x in _results(each.result))
        if needed:
            kept.append(each)
            values = arguments(each)
            wanted.update(values, scalars_in(each.args))
            roots.update([block.root(x) for x in values])
    block.instructions = kept[::-1]


def _results(result: Any) -> list[Any]:
    return [*values_in(result), *scalars_in(result)]


def scalars_in(x: Any) -> list[Scalar]:
    """The Python numbers of the program in an argument or a result."""
    if isinstance(x, Scalar):
        return [x]
    if type(x) is tuple or type(x) is list:
        return [found for each in x for found in scalars_in(each)]
    return []
