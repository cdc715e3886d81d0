"""The vocabulary of annotations: what public functions accept, and what kernels compute with."""

from __future__ import annotations

from collections.abc import Callable as Callable
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NewType, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from tapegrad.core.device import device
    from tapegrad.core.dtype import dtype
    from tapegrad.core.generator import Generator
    from tapegrad.core.memory_format import layout, memory_format
    from tapegrad.tensors.tensor import Tensor as Tensor
else:
    Tensor = "tapegrad.Tensor"
    """A tensor, or an instance of a subclass; anything else is refused with PyTorch's TypeError."""

# --- arguments of public functions ---------------------------------------------------------------

Number: TypeAlias = "bool | int | float | complex | np.generic"
"""A single number of Python's or NumPy's."""

Scalar: TypeAlias = "Tensor | bool | int | float | complex | np.generic"
"""An operand: a tensor, or a number that stands for one."""

Dim: TypeAlias = "int | Sequence[int] | None"
"""One dimension, several, or None for all; negative ones count from the last."""

Shape: TypeAlias = "int | Sequence[int]"
"""A size for each dimension; one number where there is one."""

DTypeLike: TypeAlias = "dtype | None"
"""A `torch.dtype`; None leaves the choice to the function."""

DeviceLike: TypeAlias = "device | str | int | None"
"""A device or its name; None is the default one."""

LayoutLike: TypeAlias = "layout | None"
"""A layout, of which there is one: `torch.strided`."""

MemoryFormat: TypeAlias = "memory_format | None"
"""The order of dimensions in memory."""

OneOrMore: TypeAlias = "Tensor | Sequence[Tensor]"
"""A tensor, or several."""

Out: TypeAlias = "Tensor | None"
"""Where to put a result, of its shape and dtype; None makes a new tensor."""

Outs: TypeAlias = "Sequence[Tensor] | None"
"""The same for several results."""

Source: TypeAlias = "Generator | None"
"""Where random numbers come from; None is the default generator."""

# --- values of kernels and rules -----------------------------------------------------------------

Array: TypeAlias = Any
"""What a namespace computes with: a NumPy array, a batched array, a tensor. They share no class."""

Namespace: TypeAlias = Any
"""A module or object with the names of the array standard and our kernels."""

NativeDType: TypeAlias = Any
"""What an array library calls a dtype."""

# --- what the graph is made of: lower floors cannot import the classes ---------------------------

OperatorLike: TypeAlias = Any
"""A declared operator, a `dispatch.op.Op`."""

PlanLike: TypeAlias = Any
"""What the nodes of an operator save and how they run, an `autograd.plan.Plan`."""

NodeLike: TypeAlias = Any
"""A node of the graph: of an operator, of a custom function, of a leaf."""

EdgeLike: TypeAlias = Any
"""Where a gradient goes: a node, one output of a node (`Port`), or None."""

ModeLike: TypeAlias = Any
"""What calls run under: True or False for recording, or a `Mode`."""

LevelLike: TypeAlias = Any
"""One mapping or one differentiation among several: a level of `vmap` or of forward mode."""

ModuleLike: TypeAlias = Any
"""A layer, an `nn.Module`."""

OptimizerLike: TypeAlias = Any
"""An optimizer, an `optim.Optimizer`."""

if not TYPE_CHECKING:  # evaluated, a word that is text above is a type of its own
    for _name, _meaning in list(globals().items()):
        if type(_meaning) is str and _name[0].isupper():
            globals()[_name] = NewType(_name, object)
            globals()[_name].__module__ = "typing"  # help() then shows the word alone
