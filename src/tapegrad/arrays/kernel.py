"""Kernels: what array namespaces have beyond the array standard, registered where they are defined.

A kernel of NumPy arrays, its batching rule and the operator that computes it on tensors carry one
name; rules find all three as `xp.<name>`. Their files are imported when one of their names is first
asked for: `python -m tools.name_tables` reads the decorators and writes the tables of names.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable)


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(
    *, elementwise: bool = False, trailing: bool = False, optional: bool = False
) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, **batched: bool) -> Any:
    """Register a function of NumPy arrays under its own name.

    Args:
        elementwise: a batch is computed at once, with its dimension before all others.
        trailing: it acts on the last dimensions alone, so that a batch is computed at once.
        optional: operators do without it on batches: what they do instead is quicker.

    A kernel of another kind runs once for each member of a batch, unless it has a batching rule.
    """
    return function if function is not None else lambda function: function


def batching_rule(function: Function) -> Function:
    """Register what the kernel or standard function of this name is on batches."""
    return function


def meta_rule(function: Function) -> Function:
    """Register what the kernel of this name gives of arrays without elements."""
    return function


def tensor_kernel(function: Any) -> Any:
    """Register an operator, or a module of them, as what the kernel of this name is on tensors."""
    return function


FALLBACKS: dict[str, Callable] = {}


def fallback(name: str) -> Callable[[Function], Function]:
    """Register what the kernel `name` does by the array standard, for namespaces that lack it.

    The function is given the namespace, then what the kernel is given.
    """

    def register(function: Function) -> Function:
        FALLBACKS[name] = function
        return function

    return register


def kernel_of(xp: Any, name: str) -> Callable:
    """The kernel of a namespace, or its fallback where the namespace has none."""
    found = getattr(xp, name, None)
    return partial(FALLBACKS[name], xp) if found is None else found
