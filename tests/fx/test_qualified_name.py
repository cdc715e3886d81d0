"""Operators of `torch.ops` in graphs."""

import pytest

import tapegrad as torch
from tapegrad import fx


@pytest.fixture
def scaled():
    library = torch.library.Library("fxtest", "FRAGMENT")
    library.define("scaled(Tensor x, int by=2) -> Tensor")
    library.impl("scaled", lambda x, by=2: x * by, "CompositeImplicitAutograd")
    yield torch.ops.fxtest.scaled
    library._destroy()


def test_a_custom_operator_and_its_overload_are_recorded_by_name(scaled):
    traced = fx.symbolic_trace(lambda x: scaled(x, 3) + scaled.default(x))
    assert "    scaled = torch.ops.fxtest.scaled(x, 3)\n" in traced.code
    assert "    scaled_default = torch.ops.fxtest.scaled.default(x);  x = None\n" in traced.code
    assert traced(torch.ones(2)).tolist() == [5.0, 5.0]


def test_operators_of_aten_are_recorded_as_themselves():
    aten = torch.ops.aten
    traced = fx.symbolic_trace(lambda x: aten.sum.dim_IntList(aten.mul(x, 2), [0]))
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert targets == [aten.mul, aten.sum.dim_IntList]
    assert "sum_dim_int_list = torch.ops.aten.sum.dim_IntList(mul, [0]);  mul = None" in traced.code
    assert traced(torch.ones(2)).item() == 4.0
    assert (aten.mul.__module__, aten.mul.Tensor.__module__) == ("torch._ops.aten",) * 2


def test_what_overrides_is_asked_for_the_overload():
    seen = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(1).as_subclass(Logged)
    y = torch.ops.aten.add.Tensor(x, x)
    assert seen[0] is torch.ops.aten.add.Tensor
    assert type(y) is Logged
