"""Recording a few lines for the tests of the backend."""

from tapegrad.arrays.traced.array import Traced
from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.numpy_backend import build


def compiled(function, *inputs, **options):
    """A program of `function`, built: arrays and floats are its inputs, arrays its results."""
    with Program() as program:
        given = [program.number(x) if type(x) is float else program.input(x) for x in inputs]
        found = function(*given)
    found = found if isinstance(found, tuple) else (found,)
    assert all(isinstance(x, Traced) for x in found)
    return build(program, [x.place for x in found], **options)


def lines(run):
    """The lines of a program, without its comments."""
    body = run.source.partition("    def program(")[2].splitlines()[1:]
    return [x.strip() for x in body if x.strip() and not x.strip().startswith("#")]
