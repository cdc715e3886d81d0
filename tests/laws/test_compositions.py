"""Transforms on top of each other, over the table of operators, equal loops and differences."""

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tapegrad as torch
from tapegrad.core.errors import LinAlgError
from tapegrad.dispatch.op import REGISTRY
from tests.laws.compositions import TRANSFORMS, Comparison, Operator, cases
from tests.tiers import rounds

CASES = cases()
PAIRS = list(itertools.product(TRANSFORMS, repeat=2))
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:There is a performance")


def check(names, case):
    found = Comparison(list(names), Operator(*case))
    assert found.error() < 1e-5, (found.got, found.want)


def test_the_cases_are_of_all_operators_that_have_a_derivative():
    bare = {name for name in REGISTRY if REGISTRY[name].kind != "constant"}
    assert len({name for name, _, _ in CASES}) > 0.9 * len(bare)


@settings(max_examples=rounds(250, 10_000), deadline=None)
@given(
    case=st.sampled_from(CASES),
    names=st.lists(st.sampled_from(sorted(TRANSFORMS)), min_size=3, max_size=3),
)
def test_three_deep(case, names):
    try:
        check(names, case)
    except LinAlgError:  # the third derivative of a determinant asks for an inverse that is not
        assume(case[0] == "determinant")


@pytest.mark.parametrize("name", sorted({name for name, _, _ in CASES}))
def test_each_operator_two_deep(name):
    of_name = [case for case in CASES if case[0] == name]
    shift = sorted({case[0] for case in CASES}).index(name)  # another pair for each operator
    for i, case in enumerate(of_name[:3]):
        check(PAIRS[(5 * i + shift) % len(PAIRS)], case)


class Doubled(torch.autograd.Function):
    """A sine with wrong derivatives."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0].cos()

    @staticmethod
    def jvp(ctx, t):
        return 2 * t * ctx.saved_tensors[0].cos()


SINE = next(case for case in CASES if case[0] == "sin")


@pytest.mark.parametrize("outer", ["grad", "jvp", "vjp"])
def test_the_comparison_sees_a_wrong_rule(outer, monkeypatch):
    monkeypatch.setattr(Operator, "__call__", lambda self, x: Doubled.apply(x))
    assert Comparison([outer], Operator(*SINE)).error() > 0.1
    assert Comparison(["vmap", outer], Operator(*SINE)).error() > 0.1


@pytest.mark.parametrize("outer", sorted(TRANSFORMS))
def test_the_comparison_sees_a_wrong_transform(outer, monkeypatch):
    right = TRANSFORMS[outer]
    monkeypatch.setitem(TRANSFORMS, outer, lambda g: lambda x: right(g)(x) * 1.001)
    assert Comparison(["jvp", outer], Operator(*SINE)).error() > 1e-4
