"""`torch.fx.experimental.symbolic_shapes`: the sizes of tapegrad's tensors are numbers."""

from typing import Any

from tapegrad.compat.refusal import refusing as _refusing


def guard_or_false(a: Any) -> bool:
    """Whether `a` holds, which is known of numbers.

    >>> from tapegrad.compat.torch.fx.experimental.symbolic_shapes import guard_or_false
    >>> guard_or_false(torch.ones(2).shape[0] == 2)
    True
    """
    return bool(a)


guard_or_true = guard_size_oblivious = statically_known_true = guard_or_false


def free_symbols(val: Any) -> set:
    """The unknown sizes in `val`: none.

    >>> from tapegrad.compat.torch.fx.experimental.symbolic_shapes import free_symbols
    >>> free_symbols(torch.ones(2))
    set()
    """
    return set()


free_unbacked_symbols = free_symbols


class GuardOnDataDependentSymNode(RuntimeError):
    """What PyTorch's compiler raises where a size decides that is not known yet: never here."""


__getattr__ = _refusing(
    __name__, "Sizes are numbers: there is nothing to solve for.", classes="ShapeEnv DimDynamic"
)
