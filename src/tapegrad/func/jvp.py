"""Forward-mode derivatives of functions: `jvp`."""

from tapegrad import operators
from tapegrad.autograd.captured import Refusing
from tapegrad.autograd.forward.mode import Forward, Level, entered, innermost
from tapegrad.autograd.forward_ad import dual
from tapegrad.autograd.mode import MODE, InTransform, Under, outside_inference
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Tensor
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_function import IN_USE, overrides, undisturbed
from tapegrad.func.grad import check_aux, with_aux
from tapegrad.func.vjp import require_tensors
from tapegrad.func.vmap_mode import lifted_everywhere
from tapegrad.operators.shape.as_strided import alias
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten
from tapegrad.utils._pytree.treespec import TreeSpec


def jvp(
    func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """The value of a function and its derivative along tangents: `f(x), f'(x) t`.

    One pass: it costs about as much again as the function, however many outputs there are.

    Args:
        func: a function of tensors, or of trees of them, that gives a tensor or a tree of them.
        primals: a tuple of its arguments.
        tangents: of the same structure and shapes.
        strict: raise if an output does not depend on the primals, instead of giving zeros.
        has_aux: `func` gives `(output, aux)`; `aux` is not differentiated, and handed on.

    Returns:
        `(output, tangent of the output)`, and `aux` with `has_aux`.

    >>> from tapegrad.func import jvp
    >>> jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(1.0),))
    (tensor(0.), tensor(1.))
    >>> cube = lambda x: x**3
    >>> slope = lambda x: jvp(cube, (x,), (torch.tensor(1.0),))[1]
    >>> jvp(slope, (torch.tensor(2.0),), (torch.tensor(1.0),))
    (tensor(12.), tensor(12.))
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise errors.runtime_error(
            f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
            "Write (x,) for one argument.",
        )
    xs, structure = flatten(primals)
    ts, other = flatten(tangents)
    if structure != other:
        raise errors.runtime_error(
            f"{name}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals "
            f"with structure {structure} and tangents with structure {other}",
            "Give one tangent for each primal.",
        )
    _require_tensors(f"{name}: Expected primals to", xs)
    _require_tensors(f"{name}: Expected tangents to", ts)
    return _pushed(func, xs, ts, structure, strict, has_aux, True, primals)


def jvp_with_aux(func: Callable, xs: list, ts: list, has_aux: bool, given: Any) -> tuple[Any, Any]:
    """The tangents of `func(*xs)` alone, and what it hands on; it may write to what is `given`."""
    structure = flatten(tuple(xs))[1]
    _require_tensors("jvp(f, primals, tangents): Expected primals to", xs)
    found = _pushed(func, xs, ts, structure, False, has_aux, False, given)
    return found[1], found[2] if has_aux else None


@outside_inference
def _pushed(
    func: Callable,
    xs: list,
    ts: list,
    structure: TreeSpec,
    strict: bool,
    has_aux: bool,
    with_values: bool,
    given: Any,
) -> tuple:
    name = "jvp(f, primals, tangents)"
    level = Level()
    try:
        with Refusing(given), InTransform(entered(MODE.get(), level), level):
            mode = innermost()
            if type(mode.under) is not bool:  # a tangent is of no level that its primal is not of
                xs = [lifted_everywhere(x, mode.under) for x in xs]
                ts = [lifted_everywhere(t, mode.under) for t in ts]
            if IN_USE:  # of tangents nobody is asked
                ts = [undisturbed(alias, t) if overrides(t) else t for t in ts]
            duals = [undisturbed(_dual, mode, x, t) for x, t in zip(xs, ts, strict=True)]
            result = func(*unflatten(duals, structure))
            aux = None
            if has_aux:
                result, aux = with_aux(result, name)
            outs, out_structure = flatten(result)
            require_tensors(name, outs)
            values = [_value(mode, y) for y in outs] if with_values else outs
            tangents = [_tangent(mode, y, strict) for y in outs]
            found = unflatten(values, out_structure), unflatten(tangents, out_structure)
            return (*found, _without_tangents(mode, aux)) if has_aux else found
    finally:
        level.clear()


def _dual(mode: Forward, x: Tensor, t: Array) -> Any:
    for name, each in (("primal", x), ("tangent", t)):
        if not (each.dtype.is_floating_point or each.dtype.is_complex):
            raise errors.value_error(
                f"Expected {name} to be floating point or complex, but got: {each.dtype}",
                "Convert it first, for example with .float().",
            )
    if t.dtype.is_complex and not x.dtype.is_complex:
        raise NotImplementedError("jvp along a complex tangent of a real primal")
    return dual(mode, x, t)


def _value(mode: Forward, y: Array) -> Any:
    """A result without the tangent it has in the level of `mode`."""
    with Under(mode.under):
        return alias(y)


def _tangent(mode: Forward, y: Array, strict: bool) -> Any:
    t = mode.tangent(y)
    if t is not None:
        return t
    if strict:
        raise errors.runtime_error(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
            "inputs. This is not allowed with strict=True.",
            "Leave strict= away: the tangent is zero then.",
        )
    return operators.zeros_like(y)


def _without_tangents(mode: Forward, aux: Any) -> Any:
    leaves, structure = flatten(aux)
    check_aux(leaves)
    return unflatten([_value(mode, leaf) for leaf in leaves], structure)


def _require_tensors(start: str, leaves: list) -> None:
    if not leaves:
        raise errors.runtime_error(
            f"{start} contain at least one Tensor.", "There is nothing to move along."
        )
    for leaf in leaves:
        if not isinstance(leaf, TensorBase):
            raise errors.runtime_error(
                f"{start} only contain Tensors, got {type(leaf)}",
                "Bind other arguments with a lambda or functools.partial.",
            )
