"""What instructions of a recorded program read, give and write, and which of them are needed."""

import re

from tapegrad.arrays.traced.program import Instruction, Program, Scalar, Value
from tapegrad.arrays.traced.record import Read
from tapegrad.compiler.numpy_backend.effects import may_raise, written
from tapegrad.core.annotations import Any, Sequence


def places(x: Any) -> list:
    """The values and scalars in an argument or result."""
    found: list = []
    _collect(x, found)
    return found


def _collect(x: Any, found: list) -> None:
    kind = type(x)
    if kind is Value or kind is Scalar:
        found.append(x)
    elif isinstance(x, (tuple, list)):
        for each in x:
            if type(each) not in _WITHOUT:
                _collect(each, found)
    elif kind is slice:
        _collect((x.start, x.stop, x.step), found)


_WITHOUT = frozenset([int, float, bool, str, type(None)])


def read(instruction: Instruction) -> list:
    """What an instruction reads or writes to."""
    found = places(instruction.args)
    if instruction.kwargs:
        _collect(tuple(instruction.kwargs.values()), found)
    return found


def made(instruction: Instruction) -> list:
    """What an instruction gives."""
    return places(instruction.result)


def writes(instruction: Instruction) -> bool:
    """Whether an instruction writes to memory that was there before."""
    if instruction.text == "expect":
        return False
    found = made(instruction)
    if not found:
        return True
    given = {id(v) for v in read(instruction)}
    return any(id(v) in given for v in found)


def reads_numbers(instruction: Instruction) -> bool:
    """Whether Python has read a number of it, which has to be the same again."""
    result = instruction.result
    several = result if isinstance(result, tuple) else (result,)
    return instruction.text == "expect" or any(isinstance(x, Read) for x in several)


def written_inputs(program: Program, n: int) -> list[int]:
    """The numbers of those among the first `n` inputs of a program whose memory it writes to."""
    inputs = {id(v.root): i for i, v in enumerate(program.inputs[:n])}
    found = {
        inputs[id(v.root)]
        for each in program.instructions
        for v in written(each)
        if id(v.root) in inputs
    }
    roots = [v.root for v in program.inputs[:n]]
    return [i for i, root in enumerate(roots) if inputs[id(root)] in found]


def fails_late(program: Program) -> bool:
    """Whether an instruction may raise an error after an input was written."""
    roots = {id(v.root) for v in program.inputs if isinstance(v, Value)}
    wrote = False
    for each in program.instructions:
        if wrote and each.text != "expect" and may_raise(each, program.functions):
            return True
        wrote = wrote or any(id(v.root) in roots for v in written(each))
    return False


def has_effects(instruction: Instruction) -> bool:
    """Whether an instruction does more than give its results."""
    return instruction.text.startswith("draw.") or writes(instruction) or reads_numbers(instruction)


def needed(instructions: Sequence[Instruction], outputs: Sequence) -> list[Instruction]:
    """The instructions less those whose results nobody reads."""
    wanted = {id(v) for v in outputs}
    found = []
    for each in reversed(instructions):
        if any(id(v) in wanted for v in made(each)) or has_effects(each):
            wanted.update(id(v) for v in read(each))
            found.append(each)
    return found[::-1]


def roots_behind(instructions: Sequence[Instruction], outputs: Sequence) -> set[int]:
    """The identities of all memory that outputs are computed from, in place or not."""
    found = {id(_root(v)) for v in outputs}
    for each in reversed(instructions):
        if any(id(_root(v)) in found for v in (*made(each), *written(each))):
            found.update(id(_root(v)) for v in read(each))
    return found


def _root(v: Any) -> Any:
    return getattr(v, "root", v)


def read_by(instructions: Sequence[Instruction]) -> set[int]:
    """The identities of all that instructions read."""
    return {id(v) for each in instructions for v in read(each)}


def names_of(recording: Any, tensors: Sequence[Value], arguments: dict[int, str]) -> dict[int, str]:
    """What inputs are called, by the numbers of their values: as modules and functions do."""
    found: dict[int, str] = {}
    taken: set[str] = set()
    names = {**recording.found.names, **arguments}
    for x, value in zip(recording.tensors, tensors, strict=True):
        name = names.get(id(x))
        if name is not None:
            name = _identifier(name, taken)
            found[value.number] = name
            taken.add(name)
    return found


_RESERVED = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while and as assert async await class def del elif except "
    "finally from global import in is lambda nonlocal not or pass raise try with yield None True "
    "False np xp order draw make operator expect inf nan main exp log abs sqrt".split()
)


def _identifier(name: str, taken: set[str]) -> str:
    """A name that Python and C take, and that nothing else has."""
    name = re.sub(r"\W", "_", name)
    if name[0].isdigit() or name[0] == "_":
        name = f"model_{name.lstrip('_')}"
    if name in _RESERVED or re.fullmatch(r"[a-z]{1,2}\d*|[a-z]+\d+", name):
        name += "_"
    while name in taken:
        name += "_"
    return name
