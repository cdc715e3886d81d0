"""What instructions of a recorded program read, give and write, and which of them are needed."""

from tapegrad.arrays.traced.program import Instruction, Scalar, Value
from tapegrad.arrays.traced.record import Read
from tapegrad.core.annotations import Any, Sequence


def places(x: Any) -> list:
    """The values and scalars in an argument or result."""
    if isinstance(x, (Value, Scalar)):
        return [x]
    if isinstance(x, (tuple, list)):
        return [v for each in x for v in places(each)]
    if isinstance(x, slice):
        return places((x.start, x.stop, x.step))
    return []


def read(instruction: Instruction) -> list:
    """What an instruction reads or writes to."""
    return [*places(instruction.args), *places(tuple(instruction.kwargs.values()))]


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


def has_effects(instruction: Instruction) -> bool:
    """Whether an instruction does more than give its results."""
    return instruction.text.startswith("draw.") or writes(instruction) or reads_numbers(instruction)


def needed(instructions: Sequence[Instruction], outputs: Sequence) -> list[Instruction]:
    """The instructions less those whose results nobody reads."""
    wanted = {id(v) for v in outputs}
    found = []
    for each in reversed(instructions):
        if has_effects(each) or any(id(v) in wanted for v in made(each)):
            wanted.update(id(v) for v in read(each))
            found.append(each)
    return found[::-1]


def read_by(instructions: Sequence[Instruction]) -> set[int]:
    """The identities of all that instructions read."""
    return {id(v) for each in instructions for v in read(each)}


def names_of(recording: Any, tensors: Sequence[Value]) -> dict[int, str]:
    """What parameters are called, by the numbers of their values."""
    found: dict[int, str] = {}
    names = recording.found.names
    for x, value in zip(recording.tensors, tensors, strict=True):
        if id(x) in names:
            found[value.number] = names[id(x)]
    return found
