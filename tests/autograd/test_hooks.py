"""Hooks: on tensors, on nodes, after accumulation; retained gradients."""

import copy
import io
import pickle
import warnings
from collections import OrderedDict

import pytest

import tapegrad as torch
from tests.messages import raises


def leaf(*values):
    return torch.tensor(values if len(values) != 1 else values[0], requires_grad=True)


def numbers(gradients):
    return tuple(None if g is None else g.item() for g in gradients)


# --- on tensors ---


def test_a_hook_sees_the_gradient_of_its_tensor():
    x, seen = leaf(1.0, 2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(("y", g.tolist())))
    x.register_hook(lambda g: seen.append(("x", g.tolist())))
    (y * y).sum().backward()
    assert seen == [("y", [6.0, 12.0]), ("x", [18.0, 36.0])]


def test_what_a_hook_returns_replaces_the_gradient():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert x.grad.tolist() == [31.0, 31.0]


def test_hooks_run_in_the_order_they_were_registered_each_on_what_the_one_before_gave():
    x = leaf(1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 1).backward()
    assert x.grad.item() == 20.0


def test_a_hook_sees_the_sum_of_all_that_arrives():
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    y = x * 2
    y.register_hook(lambda g: seen.append(g.item()))
    (y + y * 3 + x * 5 + x).backward()
    assert seen == [4.0, 14.0]


def test_a_hook_sees_one_passs_gradient_and_not_what_is_in_dot_grad():
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    for _ in range(2):
        (x * 3).backward()
    assert seen == [3.0, 3.0] and x.grad.item() == 6.0


def test_a_hook_that_is_removed_is_not_called():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 10)
    (x * 1).backward()
    handle.remove()
    handle.remove()
    (x * 1).backward()
    assert x.grad.item() == 11.0


def test_the_same_function_may_be_registered_twice():
    x = leaf(1.0)

    def increase(g):
        return g + 1

    first, _ = x.register_hook(increase), x.register_hook(increase)
    (x * 1).backward()
    assert x.grad.item() == 3.0
    first.remove()
    (x * 1).backward()
    assert x.grad.item() == 5.0


def test_a_handle_is_a_context_manager():
    x = leaf(1.0)
    with x.register_hook(lambda g: g * 10):
        (x * 1).backward()
    (x * 1).backward()
    assert x.grad.item() == 11.0


def test_a_handle_outlives_its_tensor():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g)
    del x
    handle.remove()


def test_hooks_may_change_while_they_run():
    x, seen = leaf(1.0), []
    y = x * 2

    def once(g):
        seen.append("once")
        handle.remove()
        y.register_hook(lambda g: seen.append("later"))

    handle = y.register_hook(once)
    y.backward(retain_graph=True)
    y.backward()
    assert seen == ["once", "later"]


def test_a_hook_on_one_of_several_outputs():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    b.register_hook(lambda g: g * 100)
    (a + b).backward()
    assert x.grad.tolist() == [1.0, 100.0]


def test_hooks_of_outputs_that_no_gradient_reached_get_none():
    x, seen = leaf(1.0, 2.0), []
    a, b = x.unbind()
    b.register_hook(seen.append)
    a.backward()
    assert seen == [None]


def test_hooks_run_without_recording_unless_a_graph_is_made():
    x, seen = leaf(1.0, 2.0), []
    x.register_hook(lambda g: seen.append((torch.is_grad_enabled(), g.requires_grad)))
    (x * x).sum().backward()
    torch.autograd.grad((x * x).sum(), x, create_graph=True)
    assert seen == [(False, False), (True, True)]


def test_what_a_hook_returns_is_part_of_the_graph_that_is_made():
    x = leaf(2.0)
    x.register_hook(lambda g: g * g)
    (g,) = torch.autograd.grad(x**2, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert g.item() == 16.0 and h.item() == 256.0  # the hook squares again: (8 x)^2 at x = 2


def test_a_hook_keeps_what_it_saw():
    x, seen = leaf(1.0, 2.0), []
    x.register_hook(seen.append)
    for _ in range(2):
        (x * 3).sum().backward()
    x.grad.zero_()
    assert [g.tolist() for g in seen] == [[3.0, 3.0], [3.0, 3.0]]


def test_what_a_hook_returned_stays_as_it_is():
    x, mine = leaf(1.0, 2.0), torch.tensor([5.0, 6.0])
    x.register_hook(lambda g: mine)
    for _ in range(2):
        (x * 3).sum().backward()
    assert mine.tolist() == [5.0, 6.0] and x.grad.tolist() == [10.0, 12.0]


def test_hooks_of_a_leaf_survive_its_freezing():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 10)
    x.requires_grad_(False).requires_grad_(True)
    (x * 1).backward()
    assert x.grad.item() == 10.0


def test_hooks_stay_with_the_value_that_a_write_replaced():
    x, seen = leaf(1.0, 2.0), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1.0, 1.0]), ("before", [3.0, 3.0])]


def test_hooks_are_registered_under_no_grad_too():
    x = leaf(1.0)
    with torch.no_grad():
        x.register_hook(lambda g: g * 10)
    (x * 1).backward()
    assert x.grad.item() == 10.0


def test_autograd_grad_applies_the_hooks_of_its_inputs():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 10)
    assert torch.autograd.grad(x * 1, x)[0].item() == 10.0
    assert x.grad is None


# --- the order of everything ---


def test_hooks_of_all_kinds_run_in_pytorchs_order():
    log = []
    x = leaf(2.0)
    y = x * 3
    z = y * y
    x.register_hook(lambda g: log.append(("x", g.item())))
    y.register_hook(lambda g: log.append(("y first", g.item())))
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda i, o: log.append(("y post", numbers(i), numbers(o))))
    y.grad_fn.register_prehook(lambda o: log.append(("y pre", numbers(o))))
    z.grad_fn.register_hook(lambda i, o: log.append(("z post", numbers(i), numbers(o))))
    z.grad_fn.register_prehook(lambda o: log.append(("z pre", numbers(o))))
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda i, o: log.append(("leaf post", numbers(i), numbers(o))))
    node.register_prehook(lambda o: log.append(("leaf pre", numbers(o))))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad.item())))
    z.backward()
    assert log == [
        ("z pre", (1.0,)),
        ("z post", (6.0, 6.0), (1.0,)),
        ("y first", 12.0),
        ("y pre", (24.0,)),
        ("y post", (72.0, None), (24.0,)),
        ("x", 72.0),
        ("leaf pre", (72.0,)),
        ("accumulated", 72.0),
        ("leaf post", (), (72.0,)),
    ]
    assert y.grad.item() == 24.0


def test_a_leaf_is_done_as_soon_as_all_has_arrived():
    log = []
    x, w = leaf(1.0), leaf(2.0)
    a = x * 3
    b = a * w
    w.register_post_accumulate_grad_hook(lambda t: log.append("w"))
    a.register_hook(lambda g: log.append("a"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("x"))
    b.backward()
    assert log == ["w", "a", "x"]


# --- on nodes ---


def test_a_hook_on_a_node_replaces_the_gradients_of_its_inputs():
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    y.backward()
    assert x.grad.item() == 50.0 and w.grad is None


def test_a_prehook_on_a_node_replaces_the_gradient_of_its_output():
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    handle = y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    y.backward(retain_graph=True)
    assert (x.grad.item(), w.grad.item()) == (50.0, 20.0)
    handle.remove()
    y.backward()
    assert (x.grad.item(), w.grad.item()) == (55.0, 22.0)


def test_a_prehook_may_take_the_gradient_away():
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    y.grad_fn.register_prehook(lambda outputs: (None,))
    (y + w).backward()
    assert x.grad is None and w.grad.item() == 1.0


def test_hooks_on_a_node_of_several_outputs_see_none_where_nothing_arrived():
    x, seen = leaf(1.0, 2.0, 3.0), []
    a, _, c = x.unbind()
    a.grad_fn.register_prehook(lambda outputs: seen.append(numbers(outputs)))
    a.grad_fn.register_hook(
        lambda inputs, outputs: seen.append((inputs[0].tolist(), numbers(outputs)))
    )
    (a * c).backward()
    assert seen == [(3.0, None, 1.0), ([3.0, 0.0, 1.0], (3.0, None, 1.0))]


def test_nodes_that_do_not_run_call_no_hooks():
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_hook(lambda inputs, outputs: pytest.fail("it ran"))
    y.grad_fn.register_prehook(lambda outputs: pytest.fail("it ran"))
    assert torch.autograd.grad(y * 2, y)[0].item() == 2.0


def test_hooks_on_the_node_of_a_leaf_see_this_passs_gradient():
    x, seen = leaf(3.0), []
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda inputs, outputs: seen.append((inputs, numbers(outputs))))
    y.backward()
    (x * 5).backward()
    assert seen == [((), (2.0,)), ((), (5.0,))] and x.grad.item() == 7.0


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ([1, 2], TypeError, "expected tuple, but hook returned 'list'"),
        (3, TypeError, "expected tuple, but hook returned 'int'"),
        ((1, 2), TypeError, "expected Variable, but hook returned 'int'"),
        (
            (None,),
            RuntimeError,
            "hook 'wrong' has returned an incorrect number of values (got 1, but expected 2)",
        ),
        (
            (),
            RuntimeError,
            "hook 'wrong' has returned an incorrect number of values (got 0, but expected 2)",
        ),
    ],
)
def test_what_a_hook_on_a_node_returns_is_checked(returned, error, message):
    def wrong(inputs, outputs):
        return returned

    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    y.grad_fn.register_hook(wrong)
    with raises(error, message):
        y.backward()
    assert x.grad is None and w.grad is None


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ([None], TypeError, "expected tuple, but hook returned 'list'"),
        ((1,), TypeError, "expected Variable, but hook returned 'int'"),
        (
            (None, None),
            RuntimeError,
            "hook 'wrong' has returned an incorrect number of values (got 2, but expected 1)",
        ),
    ],
)
def test_what_a_prehook_on_a_node_returns_is_checked(returned, error, message):
    def wrong(outputs):
        return returned

    x = leaf(2.0)
    y = x * x
    y.grad_fn.register_prehook(wrong)
    with raises(error, message):
        y.backward()
    assert x.grad is None


# --- after accumulation ---


def test_a_hook_after_accumulation_sees_the_leaf_with_its_gradient():
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.item())))
    (x * 3 + x).backward()
    (x * 3).backward()
    assert seen == [(True, 4.0), (True, 7.0)]


def test_a_hook_after_accumulation_may_step_and_drop_the_gradient():
    x = leaf(2.0)

    def step(p):
        p.data.sub_(p.grad)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.item() == -1.0 and x.grad is None


def test_hooks_after_accumulation_run_in_order_and_can_be_removed():
    x, seen = leaf(2.0), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append("first"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("second"))
    (x * 3).backward()
    handle.remove()
    (x * 3).backward()
    assert seen == ["first", "second", "second"]


def test_hooks_after_accumulation_are_not_for_autograd_grad():
    x = leaf(2.0)
    x.register_post_accumulate_grad_hook(lambda t: pytest.fail("nothing was accumulated"))
    torch.autograd.grad(x * 3, x)


def test_hooks_after_accumulation_are_for_leaves():
    with raises(
        RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors"
    ):
        (leaf(2.0) * 2).register_post_accumulate_grad_hook(lambda t: None)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda g: torch.ones(3), "hook '<lambda>' has changed the size of value"),
        (lambda g: g.double(), r"\(was torch.FloatTensor got torch.DoubleTensor\)"),
        (lambda g: g.to(torch.complex64), r"\(was torch.FloatTensor got CPUComplexFloatType\)"),
        (lambda g: g.to(torch.bfloat16), r"\(was torch.FloatTensor got CPUBFloat16Type\)"),
        (lambda g: 3, "expected Variable, but hook returned 'int'"),
        (lambda g: g.clone(), "Tensor post accumulate grad hooks should return None."),
    ],
)
def test_hooks_after_accumulation_return_nothing(answer, message):
    x = leaf(2.0, 3.0)
    x.register_post_accumulate_grad_hook(answer)
    with pytest.raises((RuntimeError, TypeError), match=message):
        x.sum().backward()


# --- errors ---


@pytest.mark.parametrize("method", ["register_hook", "register_post_accumulate_grad_hook"])
def test_a_tensor_without_gradient_takes_no_hook(method):
    with raises(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient"):
        getattr(torch.ones(2), method)(lambda g: g)


@pytest.mark.parametrize("on_leaf", [True, False])
@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (1, TypeError, "expected Variable, but hook returned 'int'"),
        ((torch.ones(2),), TypeError, "expected Variable, but hook returned 'tuple'"),
        (torch.ones(3), RuntimeError, "hook 'wrong' has changed the size of value"),
        (torch.ones(2, 1), RuntimeError, "hook 'wrong' has changed the size of value"),
        (torch.ones(()), RuntimeError, "hook 'wrong' has changed the size of value"),
        (
            torch.ones(2, dtype=torch.float64),
            RuntimeError,
            "hook 'wrong' has changed the type of value (was torch.FloatTensor got "
            "torch.DoubleTensor)",
        ),
    ],
)
def test_what_a_hook_returns_is_checked(on_leaf, returned, error, message):
    def wrong(g):
        return returned

    x = leaf(2.0, 3.0)
    y = x * 3
    (x if on_leaf else y).register_hook(wrong)
    with raises(error, message):
        y.sum().backward()
    assert x.grad is None


def test_an_error_in_a_hook_comes_out_and_leaves_gradients_as_they_were():
    x, w = leaf(1.0), leaf(2.0)
    x.grad = torch.tensor(7.0)
    y = x * w

    def fail(g):
        raise KeyError("mine")

    handle = y.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        (y + w).backward()
    assert x.grad.item() == 7.0 and w.grad is None and torch.is_grad_enabled()
    handle.remove()
    y.backward()
    assert x.grad.item() == 9.0


# --- retained gradients ---


def test_a_tensor_that_is_no_leaf_retains_its_gradient_when_asked():
    x = leaf(2.0)
    y = x * 3
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    (y * y).backward()
    assert y.grad.item() == 12.0 and x.grad.item() == 36.0


def test_retained_gradients_add_up():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    for total in (2.0, 4.0):
        (y * 2).backward(retain_graph=True)
        assert y.grad.item() == total


def test_retaining_is_no_matter_for_leaves():
    x = leaf(2.0)
    x.retain_grad()
    assert not x.retains_grad


def test_a_tensor_without_gradient_has_none_to_retain():
    with raises(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()


def test_the_retained_gradient_is_what_hooks_made_of_it():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.backward()
    assert y.grad.item() == 10.0


def test_each_of_several_outputs_retains_its_own():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    b.retain_grad()
    assert b.retains_grad and not a.retains_grad
    (a * b).backward()
    assert b.grad.item() == 1.0


def test_an_output_that_no_gradient_reached_retains_none():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    b.retain_grad()
    a.backward()
    assert b.grad is None


def test_retaining_follows_a_tensor_through_writes():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * 5).sum().backward()
    assert y.grad.tolist() == [5.0, 5.0] and x.grad.tolist() == [30.0, 30.0]


def test_a_retained_gradient_has_history_with_create_graph():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    torch.autograd.grad(y * y, x, create_graph=True)
    assert y.grad.item() == 8.0 and y.grad.requires_grad


def test_a_tensor_that_has_gone_retains_nothing():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    z = y * y
    del y
    z.backward()
    assert x.grad.item() == 36.0


# --- return values and what else a tensor knows of its hooks ---


def test_no_gradient_is_replaced_by_none():
    message = "can't replace a None gradient with a non-None value"
    x = leaf(1.0, 2.0)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
    with raises(RuntimeError, message):
        y.sum().backward()
    a, b = x.unbind()
    b.register_hook(lambda g: torch.ones(()))
    with raises(RuntimeError, message):
        a.backward()


def test_a_hook_after_accumulation_returns_nothing():
    x = leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(lambda t: t)
    with raises(RuntimeError, "Tensor post accumulate grad hooks should return None."):
        x.sum().backward()
    handle.remove()
    x.register_post_accumulate_grad_hook(lambda t: 5)
    with raises(TypeError, "expected Variable, but hook returned 'int'"):
        x.sum().backward()


def test_hooks_are_listed():
    x = leaf(1.0)
    y = x * 2
    assert x._backward_hooks is None and x._post_accumulate_grad_hooks is None
    handle = y.register_hook(print)
    x.register_post_accumulate_grad_hook(print)
    assert list(y._backward_hooks.values()) == [print] and handle.id in y._backward_hooks
    assert list(x._post_accumulate_grad_hooks.values()) == [print]
    assert type(handle) is torch.utils.hooks.RemovableHandle


def test_a_hook_that_would_not_be_stored_is_told():
    y = leaf(1.0) * 2
    y.register_hook(torch.utils.hooks.unserializable_hook(lambda g: None))
    torch.utils.hooks.warn_if_has_hooks(y)
    y.register_hook(print)
    with pytest.warns(UserWarning, match="backward hook <built-in function print> on tensor will"):
        torch.utils.hooks.warn_if_has_hooks(y)


@pytest.mark.parametrize(
    "store",
    [copy.copy, pickle.dumps, lambda x: torch.save(x, io.BytesIO())],
    ids=["copy", "pickle", "save"],
)
def test_hooks_that_are_not_stored_are_told_of(store):
    x, p = leaf(1.0, 2.0), torch.nn.Parameter(torch.ones(2))
    x.register_hook(len)
    p.register_hook(len)
    with pytest.warns(UserWarning, match="backward hook <built-in function len> on tensor will"):
        store(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store(p)  # as in PyTorch
        store(leaf(1.0))


def test_the_dict_of_hooks_is_there_to_be_read_and_set():
    x = torch.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    handle = x.register_hook(lambda g: g * 2)
    assert list(x._backward_hooks) == [handle.id]
    own = OrderedDict({0: lambda g: g * 10})
    x._backward_hooks = own
    assert x._backward_hooks is own
    added = x.register_hook(lambda g: g + 1)
    assert list(own) == [0, added.id]
    x.sum().backward()
    assert x.grad.tolist() == [11, 11]
    added.remove()
    assert list(own) == [0]
    x._backward_hooks = None
    assert x._backward_hooks is None
    with pytest.raises(TypeError, match="_backward_hooks is a dict of hooks, or None, not int"):
        x._backward_hooks = 3
    with pytest.raises(RuntimeError, match="Deletion of _backwards_hooks not allowed!"):
        del x._backward_hooks


def test_hooks_set_before_a_tensor_requires_grad_are_called():
    x = torch.ones(2)
    x._backward_hooks = OrderedDict({0: lambda g: g * 3})
    x.requires_grad_().sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_what_of_a_tensor_cannot_be_deleted():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        del x.requires_grad
    with pytest.raises(RuntimeError, match="Deletion of _grad_fn not allowed"):
        del x._grad_fn
    with pytest.raises(RuntimeError, match="_grad_fn can be only set to None"):
        x._grad_fn = 3
    assert x.exp()._grad_fn.name() == "ExpBackward0" and x._grad_fn is None
    x.sum().backward()
    del x.grad
    assert x.grad is None and x._cdata == x._cdata != torch.ones(2)._cdata


def test_a_hook_behind_a_leaf_sees_the_gradient_that_became_grad():
    x = torch.ones(3, requires_grad=True)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: g - 2)
    node.register_prehook(lambda g: (g[0] / 4,))
    seen = []

    @x.register_post_accumulate_grad_hook
    def add(x):
        x.grad.add_(0.5)

    node.register_hook(lambda _, g: seen.append(g[0].tolist()))
    x.sum().backward()
    assert seen == [[0.25] * 3]
    x.sum().backward()
    assert seen[1] == [-0.25] * 3


def test_a_pass_that_ends_at_a_tensor_runs_what_made_it():
    order = []
    x = torch.tensor(1.0, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: order.append("tensor"))
    y.grad_fn.register_prehook(lambda g: order.append("before"))
    y.grad_fn.register_hook(lambda gi, go: order.append("after"))
    torch.autograd.grad(y * 2, y)
    assert order == ["tensor"]
    order.clear()
    (y * 2).backward(inputs=(y,))
    assert order == ["tensor", "before", "after"]
    assert y.grad.item() == 2 and x.grad is None


def test_a_node_runs_the_hooks_of_a_dict_that_a_tensor_has():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    y._backward_hooks = OrderedDict()
    assert y.grad_fn._register_hook_dict(y) is None
    y._backward_hooks[0] = lambda g: g * 10
    y.sum().backward()
    assert x.grad.tolist() == [30, 30]
    with pytest.raises(TypeError, match="_register_hook_dict expected a variable"):
        y.grad_fn._register_hook_dict({})


def test_hooks_are_called_with_none_where_a_custom_function_gave_no_gradient():
    class Stop(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    def hooked():
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda g: seen.append(("leaf", g)))
        x.register_post_accumulate_grad_hook(lambda x: seen.append(("accumulated", x.grad)))
        y = x * 2
        y.register_hook(lambda g: seen.append(("tensor", g)))
        y.grad_fn.register_prehook(lambda go: seen.append(("pre", go)))
        y.grad_fn.register_hook(lambda gi, go: seen.append(("post", gi, go)))
        return x, Stop.apply(y.exp())

    seen = []
    x, z = hooked()
    assert torch.autograd.grad(z.sum(), x, allow_unused=True) == (None,)
    first = [("tensor", None), ("pre", (None,)), ("post", (None, None), (None,)), ("leaf", None)]
    assert seen == first
    seen.clear()
    x, z = hooked()
    z.sum().backward()
    assert seen == [*first, ("accumulated", None)] and x.grad is None

    y = x * 2
    y.register_hook(lambda g: torch.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        Stop.apply(y).sum().backward()
    y = x * 2
    gradients = []
    y.register_hook(gradients.append)
    (Stop.apply(y) + y).sum().backward()
    assert [g.tolist() for g in gradients] == [[1.0, 1.0]] and x.grad.tolist() == [2.0, 2.0]
