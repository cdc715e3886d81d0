"""The parts of a compiled program as it runs: loops, products and calls, in their order.

A program is written down anew to find them: its backend says what became of the recorded
instructions, and which lines of the source run them. Nothing of it is kept while programs run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.costs import flops_of_instruction, limits
from tapegrad.core.annotations import Any

_NAMED = 3  # operators in the name of a part


@dataclass(eq=False)
class Use:
    """Memory that a part reads or writes.

    Attributes:
        key: whose memory it is; what lies in the same memory has the same one
        span: its first byte there, and the one behind its last
        name: what the source calls it
        n_bytes: of its elements; what is read repeatedly counts once
        is_constant: it is the same in each call
    """

    key: Any
    span: tuple[int, int]
    name: str
    shape: tuple
    dtype: str
    n_bytes: int
    is_constant: bool = False


@dataclass(eq=False)
class Part:
    """One step of a program.

    Attributes:
        kind: "loop", "product", "call" (of a function that C or NumPy has), "python" (of one that
            Python calls between two pieces of C) or "check" (of a number that Python has read)
        operators: what was fused in it, in the order in which it is computed
        shape, dtype: of what it goes through, or gives
        line: the line of Python that it comes from
        lines: those of the source that run it, and `functions`, which they call
        flops: floating-point operations, as `costs` counts them
    """

    kind: str
    operators: list[str]
    shape: tuple
    dtype: str
    line: tuple[str, int] | None
    reads: list[Use]
    writes: list[Use]
    lines: list[str]
    functions: list[str] = field(default_factory=list)
    flops: int = 0

    @property
    def name(self) -> str:
        """Its operators, the first of many."""
        names = counted(self.operators)
        rest = len(names) - _NAMED
        return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")

    @property
    def n_bytes(self) -> int:
        """What it reads and writes in memory."""
        return sum(x.n_bytes for x in (*self.reads, *self.writes))

    @property
    def limit(self) -> str:
        """What it would wait for on this machine: "memory" or "arithmetic"."""
        flops, n_bytes = limits()
        return "arithmetic" if self.flops / flops > self.n_bytes / n_bytes else "memory"

    @property
    def seconds(self) -> float:
        """As long as it takes at least, by what this machine's memory and arithmetic allow."""
        flops, n_bytes = limits()
        return max(self.flops / flops, self.n_bytes / n_bytes)


@dataclass(eq=False)
class Parts:
    """All parts of a program.

    Attributes:
        backend: "C" or "NumPy source"
        inputs: by the number of each value or scalar that is an input
        outputs: what it gives, in their order
    """

    backend: str
    parts: list[Part]
    inputs: dict[int, Use]
    outputs: list[Use]


def parts_of(owner: Any) -> list[Parts]:
    """The parts of the program of an `Entry`, and of its backward program where it has one.

    >>> from tapegrad.compiler.parts import parts_of
    >>> f = torch.compile(lambda x: (x * 2 + 1).sum(), backend="numpy")
    >>> for _ in range(2):
    ...     y = f(torch.ones(4))
    >>> [part.name for part in parts_of(f.entries[0])[0].parts]
    ['multiply', 'add', 'sum']
    """
    found = [_parts_of(owner.runner, owner.part, owner.outputs, owner.names)]
    if owner.joint is not None:
        joint = owner.joint
        found.append(_parts_of(joint.runner, joint.part, joint.gradients, owner.names))
    return found


def _parts_of(*given: Any) -> Parts:
    found = parts_as_they_run(*given)
    found.parts = _with_checks_joined(found.parts)
    return found


def parts_as_they_run(runner: Any, program: Any, outputs: list, names: dict[int, str]) -> Parts:
    """The parts of what a runner runs, each check for itself."""
    if is_c(runner):
        from tapegrad.compiler.c_backend.parts import parts_of
    else:
        from tapegrad.compiler.numpy_backend.parts import parts_of
    return parts_of(program, outputs, names)


def is_c(runner: Any) -> bool:
    """Whether what runs a program is C, not NumPy source."""
    return "#include" in runner.source


def _with_checks_joined(parts: list[Part]) -> list[Part]:
    """The parts, checks that follow one another as one."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if last is None or not part.kind == last.kind == "check" or part.line != last.line:
            found.append(part)
            continue
        made = {x.key for x in last.writes}
        last.reads += [x for x in part.reads if x.key not in made]
        last.writes += part.writes
        last.operators += part.operators
        last.lines += part.lines
        last.flops += part.flops
    return found


def counted(words: list[str]) -> list[str]:
    """Each word once, and how often it is there."""
    times = "\N{MULTIPLICATION SIGN}"
    return [f"{word} {times}{n}" if n > 1 else word for word, n in Counter(words).items()]


def name_of(instruction: Instruction) -> str:
    """What an instruction computes, in a word."""
    return instruction.text.rpartition(".")[2]


def add_flops(parts: list[tuple[Part, list[Instruction]]]) -> None:
    """Count the operations of each instruction in the first part that computes some of it."""
    counted: set[int] = set()
    for part, instructions in parts:
        for each in instructions:
            if id(each) not in counted:
                counted.add(id(each))
                part.flops += flops_of_instruction(each)
