"""The graph as a user sees it: leaves, nodes, their names and what they point at."""

import gc

import pytest

import tapegrad as torch


def leaf(*values):
    return torch.tensor(values if len(values) != 1 else values[0], requires_grad=True)


def names(node):
    """The names of what a node points at, None for what has no gradient."""
    return [
        None if each is None else (each.name().rpartition("::")[2], index)
        for each, index in node.next_functions
    ]


# --- leaves ---


def test_a_tensor_that_nothing_made_is_a_leaf():
    x = torch.ones(2)
    assert x.is_leaf and not x.requires_grad and x.grad_fn is None and x.output_nr == 0
    x.requires_grad = True
    assert x.is_leaf and x.requires_grad and x.grad_fn is None and x.output_nr == 0


def test_what_is_computed_from_a_leaf_that_requires_grad_is_no_leaf():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert not y.is_leaf and y.requires_grad and y.grad_fn is not None


def test_what_is_computed_from_leaves_without_grad_is_a_leaf():
    y = torch.ones(2) * 2
    assert y.is_leaf and not y.requires_grad


def test_one_input_that_requires_grad_is_enough():
    assert (torch.ones(2) + leaf(1.0, 2.0)).requires_grad
    assert (leaf(1.0, 2.0) + torch.ones(2)).requires_grad


def test_integers_computed_from_floats_have_no_gradient():
    x = leaf(1.0, 2.0)
    for y in (x > 1, x.argmax(), x.long(), x.int(), x == x, x.bool()):
        assert not y.requires_grad and y.is_leaf and y.grad_fn is None


def test_casts_between_floats_have_a_gradient():
    x = leaf(1.0, 2.0)
    assert x.double().grad_fn.name() == "ToCopyBackward0"
    assert x.half().requires_grad
    assert x.float() is x


def test_requires_grad_is_switched_off_on_a_leaf():
    x = leaf(1.0, 2.0)
    y = x * 2
    x.requires_grad_(False)
    assert not x.requires_grad and y.requires_grad
    assert not (x * 3).requires_grad


def test_requires_grad_underscore_returns_the_tensor():
    x = torch.ones(2)
    assert x.requires_grad_() is x
    assert x.requires_grad_(False) is x and not x.requires_grad


def test_requires_grad_true_on_a_non_leaf_changes_nothing():
    y = leaf(1.0, 2.0) * 2
    node = y.grad_fn
    y.requires_grad_()
    assert y.grad_fn is node and not y.is_leaf


def test_complex_leaves_may_require_grad():
    z = torch.tensor([1 + 2j], requires_grad=True)
    assert z.requires_grad and (z * z).grad_fn.name() == "MulBackward0"


def test_detached_tensors_are_leaves_that_share_memory():
    x = leaf(1.0, 2.0)
    y = (x * 2).detach()
    assert y.is_leaf and not y.requires_grad
    z = x.detach()
    z[0] = 7.0
    assert x.tolist() == [7.0, 2.0]


def test_a_clone_is_no_leaf():
    assert leaf(1.0).clone().grad_fn.name() == "CloneBackward0"


def test_data_has_no_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert y.data.is_leaf and not y.data.requires_grad and y.data.grad_fn is None


# --- nodes ---


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x + 1, "AddBackward0"),
        (lambda x: 1 + x, "AddBackward0"),
        (lambda x: x - 1, "SubBackward0"),
        (lambda x: 1 - x, "RsubBackward1"),
        (lambda x: x * 2, "MulBackward0"),
        (lambda x: x / 2, "DivBackward0"),
        (lambda x: 1 / x, "MulBackward0"),
        (lambda x: -x, "NegBackward0"),
        (lambda x: x**2, "PowBackward0"),
        (lambda x: 2**x, "PowBackward2"),
        (lambda x: x**x, "PowBackward1"),
        (lambda x: x @ x, "DotBackward0"),
        (lambda x: x.sum(), "SumBackward0"),
        (lambda x: x.sum(0), "SumBackward1"),
        (lambda x: x.mean(), "MeanBackward0"),
        (lambda x: x.mean(0), "MeanBackward1"),
        (lambda x: x.max(), "MaxBackward1"),
        (lambda x: x.max(0)[0], "MaxBackward0"),
        (lambda x: x.exp(), "ExpBackward0"),
        (lambda x: x.relu(), "ReluBackward0"),
        (lambda x: x[0], "SelectBackward0"),
        (lambda x: x[:1], "SliceBackward0"),
        (lambda x: x[None], "UnsqueezeBackward0"),
        (lambda x: x[[0, 1]], "IndexBackward0"),
        (lambda x: x.view(2, 1), "ViewBackward0"),
        (lambda x: x.reshape(2, 1), "ViewBackward0"),
        (lambda x: x.view(2, 1).t(), "TBackward0"),
        (lambda x: torch.stack([x, x]), "StackBackward0"),
        (lambda x: torch.cat([x, x]), "CatBackward0"),
        (lambda x: x.floor(), "FloorBackward0"),
        (lambda x: torch.where(x > 1, x, 0.0), "WhereBackward0"),
    ],
)
def test_nodes_are_named_as_in_pytorch(function, name):
    node = function(leaf(1.0, 2.0)).grad_fn
    assert node.name() == name
    assert type(node).__name__ == name
    assert repr(node).startswith(f"<{name} object at 0x")


def test_next_functions_are_pairs_in_the_order_of_the_inputs():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a, b = x * 2, y.exp()
    z = a * b
    assert type(z.grad_fn.next_functions) is tuple
    assert names(z.grad_fn) == [("MulBackward0", 0), ("ExpBackward0", 0)]
    assert z.grad_fn.next_functions[0][0] is a.grad_fn
    assert z.grad_fn.next_functions[1][0] is b.grad_fn


def test_inputs_without_gradient_have_none():
    x = leaf(1.0, 2.0)
    assert (x * torch.ones(2)).grad_fn.next_functions[1] == (None, 0)
    assert (x * 2).grad_fn.next_functions[1] == (None, 0)
    assert (torch.ones(2) * x).grad_fn.next_functions[0] == (None, 0)


def test_a_list_of_inputs_has_an_edge_for_each():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    assert names(torch.cat([x, y, x * 1]).grad_fn) == [
        ("AccumulateGrad", 0),
        ("AccumulateGrad", 0),
        ("MulBackward0", 0),
    ]


def test_the_root_of_a_tensor_is_always_the_same_node():
    y = leaf(1.0) * 2
    assert y.grad_fn is y.grad_fn


def test_metadata_is_a_dictionary_that_stays_with_the_node():
    y = leaf(1.0) * 2
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["layer"] = 3
    assert y.grad_fn.metadata == {"layer": 3}


def test_nodes_are_equal_to_themselves_alone():
    x = leaf(1.0)
    a, b = (x * 2).grad_fn, (x * 2).grad_fn
    assert a == a and a != b and len({a, b}) == 2


def test_nodes_know_when_they_were_made():
    x = leaf(1.0)
    a = x * 2
    b = a * 2
    assert a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr()


def test_a_node_has_the_same_class_in_every_call():
    x = leaf(1.0)
    assert type((x * 2).grad_fn) is type((x * x).grad_fn)
    assert type((x * 2).grad_fn) is not type((x + 2).grad_fn)


# --- several outputs ---


def test_outputs_of_one_node_are_numbered():
    x = leaf(1.0, 2.0, 3.0)
    parts = x.unbind()
    assert [p.output_nr for p in parts] == [0, 1, 2]
    assert parts[0].grad_fn is parts[2].grad_fn
    assert parts[1].grad_fn.name() == "UnbindBackward0"


def test_edges_say_which_output_they_come_from():
    x = leaf(1.0, 2.0, 3.0)
    _, b, c = x.unbind()
    assert (c * b).grad_fn.next_functions[0][1] == 2
    assert (c * b).grad_fn.next_functions[1][1] == 1


def test_indices_beside_values_have_no_gradient():
    x = leaf(1.0, 3.0, 2.0)
    values, indices = x.sort()
    assert values.requires_grad and not indices.requires_grad
    assert values.grad_fn.name() == "SortBackward0" and indices.grad_fn is None


def test_outputs_of_split_and_chunk_share_a_node():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = x.split(2)
    assert a.grad_fn is b.grad_fn and a.grad_fn.name() == "SplitBackward0"


# --- the nodes of leaves ---


def test_the_node_of_a_leaf_knows_its_leaf():
    x = leaf(1.0, 2.0)
    node = (x * 2).grad_fn.next_functions[0][0]
    assert type(node).__name__ == "AccumulateGrad"
    assert node.name().endswith("AccumulateGrad")
    assert node.variable is x
    assert node.next_functions == ()


def test_a_leaf_has_one_node_however_often_it_is_used():
    x = leaf(1.0, 2.0)
    a, b = x * 2, x.exp()
    assert a.grad_fn.next_functions[0][0] is b.grad_fn.next_functions[0][0]
    assert names((x * x).grad_fn) == [("AccumulateGrad", 0)] * 2


def test_the_node_of_a_leaf_brings_back_a_leaf_that_has_gone():
    x = leaf(1.0, 2.0)
    y = x * 2
    del x
    gc.collect()
    variable = y.grad_fn.next_functions[0][0].variable
    assert variable.tolist() == [1.0, 2.0] and variable.requires_grad and variable.is_leaf
    y.sum().backward()
    assert variable.grad.tolist() == [2.0, 2.0]
    assert y.grad_fn.next_functions[0][0].variable is variable


def test_a_leaf_that_has_gone_does_not_stop_the_backward_pass():
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    del x
    z.backward()
    assert y.grad.item() == 1.0


def test_a_graph_is_walked_along_next_functions():
    x, w, b = leaf(1.0), leaf(2.0), leaf(3.0)
    node = (x * w + b).relu().grad_fn
    seen = []
    while node is not None:
        seen.append(node.name().rpartition("::")[2])
        node = node.next_functions[0][0] if node.next_functions else None
    assert seen == ["ReluBackward0", "AddBackward0", "MulBackward0", "AccumulateGrad"]


def test_nodes_show_what_they_keep():
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    assert z.grad_fn._saved_self.item() == 2.0
    assert z.grad_fn._saved_other.item() == 3.0
    assert x.exp().grad_fn._saved_result.item() == x.exp().item()
    assert z.grad_fn._saved_self is x and x.exp().grad_fn._saved_result.requires_grad


def test_what_a_node_kept_is_gone_after_the_backward_pass():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_self


def test_a_node_has_no_other_attributes():
    with pytest.raises(AttributeError):
        _ = (leaf(1.0) * 2).grad_fn.unheard_of


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda x: x * x, "_raw_saved_other _raw_saved_self _saved_other _saved_self"),
        (lambda x: x**2, "_raw_saved_self _saved_exponent _saved_self"),
        (lambda x: x.exp(), "_raw_saved_result _saved_result"),
        (lambda x: x.softmax(0), "_raw_saved_result _saved_dim _saved_result"),
        (lambda x: torch.cat([x, x]), "_saved_dim"),
        (lambda x: x + x, ""),
    ],
)
def test_a_node_lists_what_it_keeps_and_has_what_it_lists(make, names):
    node = make(torch.ones(2, requires_grad=True)).grad_fn
    saved = [name for name in dir(node) if "saved_" in name]
    assert saved == sorted(names.split())
    for name in dir(node):
        getattr(node, name)
    assert {"metadata", "name", "next_functions", "register_hook"} <= set(dir(node))


def test_dir_of_a_node_has_no_names_but_pytorchs():
    node = (torch.ones(2, requires_grad=True) + 1).grad_fn
    shown = "_register_hook_dict _sequence_nr _set_sequence_nr metadata name next_functions "
    shown += "register_hook "
    shown += "register_prehook requires_grad __call__"
    assert set(dir(node)) - set(dir(object)) == set(shown.split())


def test_the_number_of_a_node_may_be_set_and_changes_no_order():
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    z = y * y
    assert z.grad_fn._set_sequence_nr(0) is None
    leaf = y.grad_fn.next_functions[0][0]
    leaf._set_sequence_nr(7)
    assert (z.grad_fn._sequence_nr(), leaf._sequence_nr()) == (0, 7)
    z.backward()
    assert x.grad.item() == 108.0


def test_nodes_of_leaves_and_of_custom_functions_list_what_they_have():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2
            return x * 2

    node = Double.apply(torch.ones(2, requires_grad=True)).grad_fn
    assert {"factor", "saved_tensors", "next_functions"} <= set(dir(node))
    assert "variable" in dir(node.next_functions[0][0])
