"""The passes that rewrite a program, in their order."""

from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.numpy_backend.block import Block
from tapegrad.compiler.numpy_backend.checks import check_first
from tapegrad.compiler.numpy_backend.common import share
from tapegrad.compiler.numpy_backend.dead import remove_dead
from tapegrad.compiler.numpy_backend.expand import expand
from tapegrad.compiler.numpy_backend.fold import fold
from tapegrad.compiler.numpy_backend.identity import remove_identities
from tapegrad.compiler.numpy_backend.sooner import read_sooner
from tapegrad.compiler.numpy_backend.stack import stack
from tapegrad.core.annotations import Any, Sequence

PASSES = (
    fold,
    share,
    remove_identities,
    expand,
    share,
    remove_dead,
    check_first,
    stack,
    read_sooner,
)


def rewritten(program: Program, outputs: Sequence[Value], passes: Any = None) -> Block:
    """A program as these passes leave it; as all of them do for None."""
    block = Block(program, outputs)
    for each in PASSES if passes is None else passes:
        each(block)
    return block
