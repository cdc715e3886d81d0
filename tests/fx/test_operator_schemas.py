"""Arguments of calls by their names."""

import operator

import pytest

import tapegrad as torch
from tapegrad.fx.operator_schemas import (
    check_for_mutable_operation,
    create_type_hint,
    get_signature_for_torch_op,
    normalize_function,
    normalize_module,
    type_matches,
)

F = torch.nn.functional
X = torch.ones(2, 2)


@pytest.mark.parametrize(
    ("target", "args", "kwargs", "named"),
    [
        (torch.relu, (X,), {}, {}),
        (torch.flatten, (X, 1), {}, {"end_dim": -1}),
        (torch.sum, (X, 1), {}, {"keepdim": False, "dtype": None}),
        (torch.mean, (X,), {"dim": 1}, {"dim": 1, "keepdim": False, "dtype": None}),
        (F.relu, (X,), {}, {"inplace": False}),
        (F.gelu, (X,), {}, {"approximate": "none"}),
        (F.dropout, (X,), {}, {"p": 0.5, "training": True, "inplace": False}),
        (torch.ops.aten.add.Tensor, (X, X), {}, {"alpha": 1}),
        (lambda a, b=2, *, c=3: 0, (1,), {}, {"b": 2, "c": 3}),
    ],
)
def test_defaults_are_filled_in_by_name(target, args, kwargs, named):
    found = normalize_function(target, args, kwargs)
    assert (found.args, found.kwargs) == (args, named)


def test_all_arguments_may_be_asked_for_by_name():
    found = normalize_function(torch.transpose, (X, 0, 1), normalize_to_only_use_kwargs=True)
    assert (found.args, found.kwargs) == ((), {"input": X, "dim0": 0, "dim1": 1})


def test_types_choose_among_operators():
    with pytest.raises(RuntimeError, match="but the schema match was ambiguous!"):
        normalize_function(torch.add, (X, X))
    tensors = (torch.Tensor, torch.Tensor)
    assert normalize_function(torch.add, (X, X), None, tensors).kwargs == {"alpha": 1}


@pytest.mark.parametrize("target", [operator.add, getattr, len, lambda *a: 0, torch.einsum])
def test_what_has_no_names_gives_none(target):
    assert normalize_function(target, (X, X)) is None


def test_nodes_of_a_graph():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x):
            return torch.relu(self.layer(x)).neg()

    module = torch.fx.symbolic_trace(Net())
    x, layer, relu, *rest = module.graph.nodes
    by_name = {"normalize_to_only_use_kwargs": True}
    assert layer.normalized_arguments(module, **by_name).kwargs == {"input": x}
    assert relu.normalized_arguments(module) == ((layer,), {})
    assert [each.normalized_arguments(module) for each in (x, *rest)] == [None] * 3
    with pytest.raises(RuntimeError, match="with target other but root did not have that target!"):
        normalize_module(module, "other", (x,))


def test_signatures_and_schemas():
    signatures, schemas = get_signature_for_torch_op(torch.relu, return_schemas=True)
    assert [list(each.parameters) for each in signatures] == [["input"], ["input", "out"]]
    assert str(schemas[0]) == "aten::relu(Tensor self) -> Tensor"
    assert get_signature_for_torch_op(lambda x: x) is None


@pytest.mark.parametrize(
    ("wanted", "given", "fits"),
    [
        (int, int, True),
        (int, float, False),
        (int | None, type(None), True),
        (list[int], int, True),
        (list[float], int, False),
        (list[int], tuple[int, int], True),
        (tuple[int, ...], list[int], False),
        (list[torch.Tensor], list[torch.nn.Parameter], True),
        (torch.Tensor, torch.nn.Parameter, True),
    ],
)
def test_types_match(wanted, given, fits):
    assert type_matches(wanted, given) is fits


def test_hints_of_lists():
    assert create_type_hint([int, bool]) == list[int]
    assert str(create_type_hint((int, str))) == "tuple[typing.Any, ...]"
    with pytest.warns(UserWarning, match="We were not able to successfully create type hint"):
        assert create_type_hint([1]) == [1]


def test_writes_are_refused():
    check_for_mutable_operation(torch.add, (X, X), {})
    with pytest.raises(RuntimeError, match="Tried to trace mutable operation aten::relu_"):
        check_for_mutable_operation(torch.relu_, (X,), {})
