"""Tracing: the code and the graph are PyTorch's, and the traced module computes the same."""

import collections
import copy
import dataclasses
import operator

import pytest

import tapegrad as torch
from tapegrad import fx, nn
from tests.command import run_code


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("off", torch.zeros(2))

    def forward(self, x, flag: bool = True, *, k=2.5):
        y = self.net(x) * self.scale + self.off
        y = nn.functional.relu(operator.add(y, torch.add(y, 1)), inplace=False)
        return {"out": y.view(y.size(0), -1)[0, 1:], "sum": torch.sum(y, dim=-1), "k": k}


CODE = """


def forward(self, x, flag : bool = True, k = 2.5):
    net_0 = getattr(self.net, "0")(x);  x = None
    net_1 = getattr(self.net, "1")(net_0);  net_0 = None
    net_2 = getattr(self.net, "2")(net_1);  net_1 = None
    scale = self.scale
    mul = net_2 * scale;  net_2 = scale = None
    off = self.off
    add = mul + off;  mul = off = None
    add_1 = torch.add(add, 1)
    add_2 = add + add_1;  add = add_1 = None
    relu = torch.nn.functional.relu(add_2, inplace = False);  add_2 = None
    size = relu.size(0)
    view = relu.view(size, -1);  size = None
    getitem = view[(0, slice(1, None, None))];  view = None
    sum_1 = torch.sum(relu, dim = -1);  relu = None
    return {'out': getitem, 'sum': sum_1, 'k': k}
    """


def test_the_code_is_pytorchs_and_computes_the_same():
    net, x = Net(), torch.randn(3, 3)
    traced = fx.symbolic_trace(net)
    assert traced.code == CODE
    for name in ("out", "sum"):
        assert torch.equal(traced(x)[name], net(x)[name])


def test_a_graph_prints_as_pytorchs():
    traced = fx.symbolic_trace(lambda x: torch.cat([x, x.T], dim=1).shape[0])
    assert str(traced.graph) == (
        "graph():\n"
        "    %x : [num_users=2] = placeholder[target=x]\n"
        "    %getattr_1 : [num_users=1] = call_function[target=builtins.getattr]"
        "(args = (%x, T), kwargs = {})\n"
        "    %cat : [num_users=1] = call_function[target=torch.cat]"
        "(args = ([%x, %getattr_1],), kwargs = {dim: 1})\n"
        "    %getattr_2 : [num_users=1] = call_function[target=builtins.getattr]"
        "(args = (%cat, shape), kwargs = {})\n"
        "    %getitem : [num_users=1] = call_function[target=operator.getitem]"
        "(args = (%getattr_2, 0), kwargs = {})\n"
        "    return getitem"
    )


def branches(x):
    return x if x.sum() > 0 else -x


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (branches, fx.proxy.TraceError, "symbolically traced variables cannot be used as inputs"),
        (lambda x: [a for a in x], fx.proxy.TraceError, "Proxy object cannot be iterated"),
        (lambda x: len(x), RuntimeError, "'len' is not supported in symbolic tracing by default"),
        (lambda x: x + object(), NotImplementedError, "argument of type: <class 'object'>"),
        (lambda x: x.f({x: 3}), RuntimeError, "Keys for dictionaries used as an argument cannot"),
    ],
)
def test_what_cannot_be_traced_raises(function, error, message):
    with pytest.raises(error, match=message):
        fx.symbolic_trace(function)


def unpacks(x):
    a, b = x.chunk(2)
    return a - b


def test_unpacking_is_recorded_as_items():
    traced = fx.symbolic_trace(unpacks)
    assert [node.name for node in traced.graph.nodes][2:4] == ["getitem", "getitem_1"]
    assert traced(torch.tensor([3.0, 1.0])).tolist() == [2.0]


def test_concrete_arguments_are_fixed_and_checked():
    traced = fx.symbolic_trace(lambda x, y: x + y, concrete_args={"y": 3})
    assert traced(1, 3) == 4
    with pytest.raises(AssertionError, match="y has been specialized to have value 3 but got"):
        traced(1, 4)


def test_arguments_in_dictionaries_are_unpacked():
    given = {"y": {"a": fx.PH, "b": [fx.PH]}}
    traced = fx.symbolic_trace(lambda x, y: x + y["a"] * y["b"][0], concrete_args=given)
    assert traced(1, {"a": 2, "b": [3]}) == 7


def test_wrapped_functions_are_recorded_as_calls():
    code = """
import math
import tapegrad as torch
from tapegrad import fx

def helper(x):
    return x if x.sum() > 0 else -x

fx.wrap("helper")
print(fx.symbolic_trace(lambda x: helper(x) + math.sqrt(x)).code)
"""
    shown = run_code(code)
    assert 'torch.fx._symbolic_trace.wrap("__main___helper")' in shown
    assert 'torch.fx._symbolic_trace.wrap("math_sqrt")' in shown


def test_importing_tapegrad_does_not_load_it():
    run_code("import sys, tapegrad; assert 'tapegrad.fx' not in sys.modules")


def test_a_tracer_of_its_own_patches_modules_by_what_the_file_has():
    from tapegrad.fx import _symbolic_trace as parts

    seen = []

    @parts.functools.wraps(parts._orig_module_call)
    def call(module, *args, **kwargs):
        seen.append(type(module).__name__)
        return parts._orig_module_call(module, *args, **kwargs)

    layer = torch.nn.Linear(2, 2)
    with parts._Patcher() as patcher:
        patcher.patch_method(torch.nn.Module, "__call__", call, deduplicate=False)
        patcher.patch_method(torch.nn.Module, "__call__", call, deduplicate=False)
        layer(torch.ones(2))
    layer(torch.ones(2))
    assert seen == ["Linear"]
    assert not isinstance(layer, parts.ScriptObject)
    assert parts.compatibility(is_backward_compatible=True)(call) is call


@dataclasses.dataclass
class Result:
    """What a program may return."""

    value: torch.Tensor
    count: int


def test_a_dataclass_is_made_by_a_call():
    traced = fx.symbolic_trace(lambda x: Result(x + 1, 2))
    assert traced(torch.ones(1)) == Result(torch.tensor([2.0]), 2)
    assert [node.target for node in traced.graph.nodes if node.op == "call_function"][1] is Result


def test_a_tracer_may_refuse_what_writes():
    class Functional(fx.Tracer):
        check_mutable_operations = True

    text = r"mutable operation aten::sigmoid.out\(Tensor self, \*, Tensor\(a!\) out\) -> Tensor"
    with pytest.raises(RuntimeError, match=text):
        Functional().trace(lambda x: torch.sigmoid(x, out=x))


def test_a_tracer_is_copied_with_its_graph():
    tracer = fx.Tracer()
    tracer.trace(lambda x: x.relu().sin())
    again = copy.deepcopy(tracer)
    assert str(again.graph) == str(tracer.graph) and again.graph is not tracer.graph


def test_named_tuples_are_printed_as_such():
    Pair = collections.namedtuple("Pair", "x y")
    node = fx.Graph().placeholder("inp")
    assert fx.node._format_arg(Pair(node, 1.2)) == "Pair(x=%inp, y=1.2)"
