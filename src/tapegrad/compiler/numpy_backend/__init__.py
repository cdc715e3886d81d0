"""Programs as NumPy source: the same kernels on the same numbers in the same order, less around it.

`block` holds a program while `fold`, `common`, `identity`, `expand`, `dead`, `checks`, `stack` and
`sooner` rewrite it; `layout` says where its values live, `forms` how instructions write into memory
that is there, `chains` which of them run in blocks; `source` writes it down and `runner` runs it.
Results have the bits that the recorded computation had.
"""

from tapegrad.arrays.traced.program import Program, Value
from tapegrad.core.annotations import Any, Sequence


def build(program: Program, outputs: Sequence[Value], **options: Any) -> Any:
    """A function of the inputs of a program that gives its outputs as a tuple of arrays.

    Where its results are large, and little work tells whether the numbers that were read are the
    same again, the function has `check(*inputs)`, which raises Changed where they are not: whoever
    has its last results may let go of them before it runs. It is None otherwise.

    Args:
        program: recorded; it is not changed
        outputs: those of its values that are given out
        options: `names`, a name for the number of a value, makes the source more readable;
            `is_timed`: the function notes in its list `ends` when each instruction, or chain of
            them, has ended, in nanoseconds

    >>> import numpy as np
    >>> from tapegrad.arrays.traced.program import Program
    >>> from tapegrad.compiler.numpy_backend import build
    >>> with Program() as program:
    ...     x = program.input(np.array([1.0, 2.0]))
    ...     y = x * x * 1.0 + 1.0
    >>> run = build(program, [y.place])
    >>> run(np.array([3.0, 4.0]))
    (array([10., 17.]),)
    """
    from tapegrad.compiler.numpy_backend.only_checks import only_checks  # which take long to import
    from tapegrad.compiler.numpy_backend.passes import rewritten
    from tapegrad.compiler.numpy_backend.runner import runner_of
    from tapegrad.compiler.numpy_backend.source import source_of

    block = rewritten(program, outputs, options.get("passes"))
    run = runner_of(*source_of(block, options.get("names"), options.get("is_timed", False)))
    asked = only_checks(program, outputs)
    run.check = None if asked is None else runner_of(*source_of(rewritten(asked, ()), None))
    return run
