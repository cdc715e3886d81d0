"""Conjugate and negative views: each operator gives of them what it gives of a copy."""

import numpy as np
import pytest

import tapegrad
from tapegrad.dispatch.op import REGISTRY
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import groups_of
from tests.samples import samples_of

NAMES = sorted(REGISTRY)
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance")


def view_of(x):
    """A view of the numbers of `x`, with the other sign, so that the sign in memory is another."""
    return x.conj() if x.dtype.is_complex else x._neg_view()


def resolved(x):
    return x.resolve_conj().resolve_neg()


def leaves_of(sample):
    """The inputs of a sample; those that are differentiated as leaves of what a view reads."""
    found = []
    for i, x in enumerate(sample.inputs):
        if not isinstance(x, np.ndarray):
            found.append(x)
            continue
        memory = x.conj() if x.dtype.kind == "c" else -x if x.dtype.kind == "f" else x
        leaf = tapegrad.from_numpy(np.array(memory, order="K"))
        found.append(leaf.requires_grad_() if i in sample.differentiable() else leaf)
    return found


def inputs_of(sample, leaves, copied):
    """What the operator is called with: views of the leaves, or copies of such views."""
    found = []
    for x in leaves:
        if isinstance(x, tapegrad.Tensor) and (x.dtype.is_floating_point or x.dtype.is_complex):
            x = view_of(x * 1 if x.requires_grad else x)
            assert x.is_conj() or x.is_neg()
            x = resolved(x) if copied else x
        found.append(x)
    return found


def outs_of(result):
    outs = result if isinstance(result, (tuple, list)) else (result,)
    return [y for y in outs if isinstance(y, tapegrad.Tensor)]


def equal(a, b, what=""):
    assert (a is None) == (b is None), what
    if a is not None:
        assert a.dtype is b.dtype and a.shape == b.shape, what
        tolerance = 1e-5 if a.dtype in (tapegrad.float32, tapegrad.complex64) else 1e-12
        x, y = a.numpy(force=True), b.numpy(force=True)
        np.testing.assert_allclose(x, y, tolerance, 1e-14, err_msg=what)


def pulled_back(outs, leaves, create_graph=False):
    outs = [y for y in outs if y is not None and y.requires_grad]
    leaves = [x for x in leaves if isinstance(x, tapegrad.Tensor) and x.requires_grad]
    if not outs or not leaves:
        return []
    cotangents = [tapegrad.full_like(y, 0.75) for y in outs]
    return tapegrad.autograd.grad(outs, leaves, cotangents, True, create_graph, allow_unused=True)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_a_copy(name):
    op = REGISTRY[name]
    for sample in samples_of(name):
        leaves = leaves_of(sample)
        found, expected = (
            outs_of(op.call(*inputs_of(sample, leaves, copied), **sample.params))
            for copied in (False, True)
        )
        for y, z in zip(found, expected, strict=True):
            equal(y, z, f"{name} {sample}")
        for g, h in zip(pulled_back(found, leaves), pulled_back(expected, leaves), strict=True):
            equal(g, h, f"gradient of {name} {sample}")


@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives_are_those_of_a_copy(name):
    op = REGISTRY[name]
    for sample in samples_of(name)[:2]:
        leaves = leaves_of(sample)
        found, expected = (
            pulled_back(
                pulled_back(
                    outs_of(op.call(*inputs_of(sample, leaves, copied), **sample.params)),
                    leaves,
                    create_graph=True,
                ),
                leaves,
            )
            for copied in (False, True)
        )
        for g, h in zip(found, expected, strict=True):
            equal(g, h, f"{name} {sample}")


def function_of(op, sample, leaves, copied):
    """The operator as a function of the memory of its differentiable inputs."""
    wanted = sample.differentiable()

    def function(*primals):
        given = list(leaves)
        for i, x in zip(wanted, primals, strict=True):
            given[i] = x
        return tuple(outs_of(op.call(*inputs_of(sample, given, copied), **sample.params)))

    return function


@pytest.mark.parametrize("name", NAMES)
def test_tangents_are_those_of_a_copy(name):
    op = REGISTRY[name]
    for sample in samples_of(name)[:3]:
        leaves = leaves_of(sample)
        primals = tuple(leaves[i].detach() for i in sample.differentiable())
        if not primals or not (op.vjps or op.kind == "constant"):
            continue
        tangents = tuple(tapegrad.full_like(x, 0.5) for x in primals)
        (ys, ts), (zs, us) = (
            tapegrad.func.jvp(function_of(op, sample, leaves, copied), primals, tangents)
            for copied in (False, True)
        )
        for y, z in zip(ys + ts, zs + us, strict=True):
            equal(y, z, f"{name} {sample}")


def over_a_batch(op, sample, leaves, copied):
    """What the operator gives of two members of its first differentiable input, from a view."""
    place = sample.differentiable()[0]
    given = inputs_of(sample, leaves, copied)
    whole = view_of(tapegrad.stack([leaves[place]] * 2))

    def function(x):
        given[place] = x
        return tuple(outs_of(op.call(*given, **sample.params)))

    return tapegrad.func.vmap(function)(resolved(whole) if copied else whole)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_views_is_one_of_copies(name):
    op = REGISTRY[name]
    for sample in samples_of(name)[:3]:
        leaves = [x.detach() if isinstance(x, tapegrad.Tensor) else x for x in leaves_of(sample)]
        if not sample.differentiable():
            continue
        outs = [over_a_batch(op, sample, leaves, copied) for copied in (False, True)]
        for y, z in zip(*outs, strict=True):
            equal(y, z, f"{name} {sample}")


IN_PLACE = [
    (method, name)
    for method in dir(tapegrad.Tensor)
    if (plain := getattr(getattr(tapegrad.Tensor, method, None), "out_of_place", None)) is not None
    and (name := getattr(getattr(plain, "op", None), "name", None)) in REGISTRY
]


def test_the_in_place_methods_are_found():
    assert len(IN_PLACE) > 40


@pytest.mark.parametrize(("method", "name"), IN_PLACE)
def test_a_write_to_a_view_is_read_through_its_base(method, name):
    op = REGISTRY[name]
    for sample in samples_of(name):
        x, *_ = leaves = leaves_of(sample)
        if not isinstance(x, tapegrad.Tensor) or not x.requires_grad:
            continue
        others = inputs_of(sample, leaves, False)[1:]
        expected = op.call(view_of(x * 1), *others, **sample.params)
        if expected.shape != x.shape or expected.dtype is not x.dtype:
            continue
        base = x * 1
        view = view_of(base)
        assert getattr(view, method)(*others, **sample.params) is view
        assert view.is_conj() or view.is_neg()
        equal(view, expected, f"{method} {sample}")
        equal(base, resolved(view_of(expected)), f"{method} {sample}")
        if not (expected.requires_grad and view.requires_grad):
            continue
        for y in (view, view_of(base)):
            for g, h in zip(
                pulled_back([y * 1], leaves), pulled_back([expected], leaves), strict=True
            ):
                equal(g, h, f"gradient of {method} {sample}")


APART_CALLS = {
    "torch.view_as_real(z)",  # refused: tests/operators/shape
    "torch.linalg.eig(a)",  # of a cotangent that depends on phases, which is refused
}
GROUPS = {g.name: g for g in groups_of(tensor_calls, matrix_calls, layer_calls)}
CALLS = [(g.name, x) for g in GROUPS.values() for x in g.calls if x not in APART_CALLS]


def called(group, call, leaves, copied):
    """The outputs of a call on views of the leaves, or on copies of such views."""
    names = {}
    for name, x in leaves.items():
        if x.dtype.is_floating_point or x.dtype.is_complex:
            x = view_of(x * 1)
            x = resolved(x) if copied else x
        names[name] = x
    tapegrad.manual_seed(0)
    scope = {"torch": tapegrad, "F": tapegrad.nn.functional, **names}
    return outs_of(eval(call, scope))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of old names
@pytest.mark.parametrize(
    ("group", "call"),
    [(g.name, call) for g in GROUPS.values() for call in g.calls if call not in APART_CALLS],
)
def test_public_functions_give_what_they_give_of_a_copy(group, call):
    leaves = GROUPS[group].tensors(tapegrad)
    for x in leaves.values():  # so that what a view reads is the input
        if x.dtype.is_floating_point or x.dtype.is_complex:
            with tapegrad.no_grad():
                x.copy_(resolved(view_of(x)))
    found, expected = (called(GROUPS[group], call, leaves, copied) for copied in (False, True))
    for y, z in zip(found, expected, strict=True):
        equal(y, z, call)
    gradients = (pulled_back(outs, leaves.values()) for outs in (found, expected))
    for g, h in zip(*gradients, strict=True):
        equal(g, h, f"gradient of {call}")
