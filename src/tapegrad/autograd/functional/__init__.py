"""Derivatives of functions of tensors: jacobian, hessian, vjp, jvp, vhp, hvp.

Inputs are copied as leaves of their own, so nothing here touches `.grad`. Results carry a graph
only with `create_graph=True`. With `strict=True` an input that does not matter is an error instead
of zeros.
"""

from collections.abc import Callable
from typing import Any

from tapegrad import operators
from tapegrad.autograd.functional import arguments
from tapegrad.autograd.functional.jacobian_hessian import hessian, jacobian
from tapegrad.autograd.mode import enable_grad
from tapegrad.core.annotations import OneOrMore

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(
    func: Callable,
    inputs: OneOrMore,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """The outputs of `func` and the product of `v` with its Jacobian, a pair.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors
        inputs: a tensor or a tuple of tensors
        v: as the outputs; may be left away where `func` returns a number
        create_graph: whether the results can be differentiated themselves
        strict: whether an input that does not matter is an error; zeros otherwise

    Raises:
        TypeError: something is neither a tensor nor a tuple of tensors.
        RuntimeError: `v` does not fit; in strict mode, an input does not matter.

    >>> from tapegrad.autograd.functional import vjp
    >>> vjp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        several, xs = arguments.as_tuple(inputs, "inputs", "vjp")
        xs = arguments.prepare(xs, create_graph)
        several_outs, outs = arguments.as_tuple(func(*xs), arguments.OUTPUTS, "vjp")
        arguments.require_outputs(outs, strict)
        vectors = arguments.directions(v, outs, "vjp", arguments.OF_OUTPUTS)
        found = arguments.pull(outs, xs, vectors, create_graph)
        product = arguments.filled(found, xs, strict, create_graph, "back")
    outputs = arguments.released(outs, several_outs, create_graph)
    return outputs, arguments.released(product, several, create_graph)


def jvp(
    func: Callable,
    inputs: OneOrMore,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """The outputs of `func` and the product of its Jacobian with `v`, a pair.

    The product is the derivative of u' J with respect to u (the double backward trick): forward
    mode, `torch.func.jvp`, costs less.

    Args:
        v: as the inputs; may be left away where the input is a number
        func, inputs, create_graph, strict: as for `vjp`

    >>> from tapegrad.autograd.functional import jvp
    >>> jvp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        _, xs = arguments.as_tuple(inputs, "inputs", "jvp")
        xs = arguments.prepare(xs, create_graph)
        vectors = arguments.directions(v, xs, "jvp", arguments.OF_INPUTS)
        several_outs, outs = arguments.as_tuple(func(*xs), arguments.OUTPUTS, "jvp")
        arguments.require_outputs(outs, strict)
        probes = tuple(operators.zeros_like(out, requires_grad=True) for out in outs)
        pulled = arguments.pull(outs, xs, probes, True)
        arguments.require_graph(pulled, strict, "grad_inputs")
        found = _along(pulled, xs, probes, vectors, create_graph)
        product = arguments.filled(found, outs, strict, create_graph, "back_trick")
    outputs = arguments.released(outs, several_outs, create_graph)
    return outputs, arguments.released(product, several_outs, create_graph)


def _along(
    pulled: tuple, xs: tuple, probes: tuple, vectors: tuple | None, create_graph: bool
) -> tuple:
    """The derivative of `pulled`, linear in `probes`, along `vectors` with respect to these."""
    return arguments.pull(
        arguments.filled(pulled, xs, False, False, "back"), probes, vectors, create_graph
    )


def _first(
    func: Callable, inputs: OneOrMore, v: Any, create_graph: bool, strict: bool, name: str
) -> Any:
    """What vhp and hvp share: inputs, vectors, the output and its gradient with a graph."""
    several, xs = arguments.as_tuple(inputs, "inputs", name)
    xs = arguments.prepare(xs, create_graph)
    vectors = arguments.directions(v, xs, name, arguments.OF_INPUTS)
    several_outs, outs = arguments.as_tuple(func(*xs), arguments.OUTPUTS, name)
    arguments.require_outputs(outs, strict)
    arguments.number(outs, several_outs, name)
    slopes = arguments.pull(outs, xs, None, True)
    arguments.require_graph(slopes, strict, "jacobian")
    return several, xs, vectors, outs, arguments.filled(slopes, xs, False, False, "back")


def vhp(
    func: Callable,
    inputs: OneOrMore,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """The number `func` gives and the product of `v` with its Hessian, a pair.

    Args:
        func: takes the inputs, returns a tensor of one element
        v: as the inputs; may be left away where the input is a number
        inputs, create_graph, strict: as for `vjp`

    >>> from tapegrad.autograd.functional import vhp
    >>> vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, xs, vectors, outs, slopes = _first(func, inputs, v, create_graph, strict, "vhp")
        found = arguments.pull(slopes, xs, vectors, create_graph)
        product = arguments.filled(found, xs, strict, create_graph, "double_back")
    outputs = arguments.released(outs, False, create_graph)
    return outputs, arguments.released(product, several, create_graph)


def hvp(
    func: Callable,
    inputs: OneOrMore,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """The number `func` gives and the product of its Hessian with `v`, a pair.

    `vhp` costs less and gives the same wherever the Hessian is symmetric.

    Args:
        func, inputs, v, create_graph, strict: as for `vhp`

    >>> from tapegrad.autograd.functional import hvp
    >>> hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, xs, vectors, outs, slopes = _first(func, inputs, v, create_graph, strict, "hvp")
        probes = tuple(arguments.leaf_like(operators.zeros_like(x)) for x in xs)
        pulled = arguments.pull(slopes, xs, probes, True)
        found = _along(pulled, xs, probes, vectors, create_graph)
        product = arguments.filled(found, xs, strict, create_graph, "double_back_trick")
    outputs = arguments.released(outs, False, create_graph)
    return outputs, arguments.released(product, several, create_graph)
