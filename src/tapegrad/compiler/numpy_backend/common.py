"""Common subexpressions: what was computed already is not computed again."""

from tapegrad.arrays.traced.program import Constant, Instruction, Scalar, Value
from tapegrad.compiler.numpy_backend.block import Block, substituted, values_in
from tapegrad.compiler.numpy_backend.effects import is_pure, written
from tapegrad.compiler.numpy_backend.fold import own_roots, written_roots
from tapegrad.core.annotations import Any


def share(block: Block) -> None:
    """Replace the results of pure instructions by those of equal ones before them.

    Equal are text and arguments, with no write to the arguments in between. What is written to or
    given out keeps memory of its own.
    """
    roots, changed = own_roots(block), written_roots(block)
    writes: dict[Value, int] = {}  # to each root so far
    seen: dict[Any, Any] = {}
    table: dict[Any, Any] = {}
    rest = []
    for each in block.instructions:
        each.args = substituted(each.args, table)
        each.kwargs = {k: substituted(x, table) for k, x in each.kwargs.items()}
        for x in written(each):
            root = block.root(x)
            writes[root] = writes.get(root, 0) + 1
        if isinstance(each.result, Scalar) and is_pure(each):
            before = seen.setdefault(_key(block, each, writes), each.result)
            if before is each.result:
                rest.append(each)
            else:
                table[each.result] = before
            continue
        results = list(values_in(each.result))
        own = not any(block.root(x) in roots for x in results)
        if not is_pure(each) or not results or any(block.root(x) in changed for x in results):
            rest.append(each)
            continue
        key = _key(block, each, writes)
        before = seen.setdefault(key, each.result)
        if before is each.result or not own:
            rest.append(each)
            continue
        for x, other in zip(results, values_in(before), strict=True):
            table[x] = other
            if x.root is x:
                block.move(x, other)
    block.instructions = rest
    block.outputs = [substituted(x, table) for x in block.outputs]


def _key(block: Block, instruction: Instruction, writes: dict[Value, int]) -> Any:
    def key(x: Any) -> Any:
        if isinstance(x, Value):
            return x, writes.get(block.root(x), 0)
        if isinstance(x, Constant):
            return Constant, x.number
        if isinstance(x, Scalar):
            return Scalar, x.number
        if type(x) is tuple or type(x) is list:
            return tuple([key(each) for each in x])
        if type(x) is slice:
            return slice, key(x.start), key(x.stop), key(x.step)
        return type(x), repr(x)

    kwargs = tuple(sorted([(k, key(x)) for k, x in instruction.kwargs.items()], key=repr))
    return instruction.text, key(instruction.args), kwargs
