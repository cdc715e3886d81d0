"""Statements that read, and where asked write, other memory."""

from tapegrad.compiler.c_backend.ir import (
    Access,
    Call,
    Check,
    Pointwise,
    Product,
    PythonCall,
    Reduction,
    Statement,
)
from tapegrad.core.annotations import Callable


def replaced(each: Statement, instead: Callable, writes: bool = False) -> Statement:
    """The statement itself, each access `x` of it exchanged for `instead(x)`."""
    if isinstance(each, Pointwise):
        each.args = [instead(x) for x in each.args]
        each.out = instead(each.out) if writes else each.out
        each.refresh()
    elif isinstance(each, Reduction):
        each.arg = instead(each.arg)
        each.out = instead(each.out) if writes else each.out
        each.refresh()
    elif isinstance(each, Product):
        each.x, each.y = instead(each.x), instead(each.y)
        each.out = instead(each.out) if writes else each.out
        each.reads, each.writes = [each.x, each.y], [each.out]
    elif isinstance(each, Check):
        each.numbers = [instead(x) for x in each.numbers]
        each.reads = [x for x in each.numbers if isinstance(x, Access)]
    elif isinstance(each, PythonCall):
        each.places = {k: instead(x) for k, x in each.places.items()}
        each.reads = [instead(x) for x in each.reads]
        if writes:
            each.effects = [instead(x) for x in each.effects]
            each.writes = each.effects + each.made
    elif isinstance(each, Call):
        each.arguments = [instead(x) for x in each.arguments]
        each.reads = [x for x in each.arguments if isinstance(x, Access)]
        if each.failing is not None:
            instruction, places = each.failing
            each.failing = instruction, {k: instead(x) for k, x in places.items()}
            each.reads += list(each.failing[1].values())
        if writes:
            each.results = [instead(x) for x in each.results]
            each.writes = list(each.results)
    return each
