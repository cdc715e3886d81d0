"""`backward`: cotangents, roots, inputs, accumulation, what is kept and what is freed."""

import pytest

import tapegrad as torch
from tests.messages import raises

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)


def leaf(*values):
    return torch.tensor(values if len(values) != 1 else values[0], requires_grad=True)


# --- cotangents ---


def test_a_scalar_needs_no_cotangent():
    x = leaf(3.0)
    (x * x).backward()
    assert x.grad.item() == 6.0


def test_one_element_of_any_shape_needs_no_cotangent():
    x = leaf(3.0)
    (x * x).reshape(1, 1, 1).backward()
    assert x.grad.item() == 6.0


def test_a_cotangent_multiplies_the_jacobian():
    x = leaf(1.0, 2.0)
    (x * x).backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]


def test_the_cotangent_goes_by_the_name_of_gradient():
    x = leaf(1.0, 2.0)
    (x * x).backward(gradient=torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]


def test_a_cotangent_is_brought_to_the_dtype_of_its_output():
    x = leaf(1.0, 2.0)
    (x * x).backward(torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2.0, 40.0]


def test_an_integer_cotangent_is_brought_to_the_dtype_of_its_output():
    x = leaf(1.0, 2.0)
    (x * x).backward(torch.tensor([1, 10]))
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2.0, 40.0]


def test_a_cotangent_that_requires_grad_is_differentiated_with_create_graph():
    x, v = leaf(1.0, 2.0), leaf(1.0, 10.0)
    (g,) = torch.autograd.grad(x * x, x, v, create_graph=True)
    g.sum().backward()
    assert v.grad.tolist() == [2.0, 4.0] and x.grad.tolist() == [2.0, 20.0]


def test_a_gradient_has_no_history_without_create_graph():
    x, v = leaf(1.0, 2.0), leaf(1.0, 10.0)
    (x * x).backward(v)
    assert not x.grad.requires_grad and v.grad is None


def test_complex_outputs_take_complex_cotangents():
    z = torch.tensor([1 + 2j], requires_grad=True)
    (z * z).backward(torch.tensor([1 + 0j]))
    assert z.grad.tolist() == [2 - 4j]


# --- accumulation ---


def test_gradients_add_up_over_calls():
    x = leaf(3.0)
    for total in (6.0, 12.0, 18.0):
        (x * x).backward()
        assert x.grad.item() == total


def test_a_gradient_is_added_to_in_place():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    seen = x.grad
    (x * x).sum().backward()
    assert x.grad is seen and seen.tolist() == [4.0, 8.0]


def test_with_create_graph_the_old_gradient_stays_as_it_is():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    seen = x.grad
    (x * x).sum().backward(inputs=[x])
    assert x.grad is seen
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    assert seen.tolist() == [4.0, 8.0] and g.requires_grad


def test_a_view_of_a_gradient_sees_what_is_added():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad[0]
    (x * x).sum().backward()
    assert first.item() == 4.0


def test_a_gradient_set_to_none_starts_anew():
    x = leaf(3.0)
    (x * x).backward()
    old = x.grad
    x.grad = None
    (x * x).backward()
    assert x.grad is not old and x.grad.item() == 6.0


def test_a_gradient_set_by_hand_is_added_to():
    x = leaf(3.0)
    mine = torch.tensor(100.0)
    x.grad = mine
    (x * x).backward()
    assert x.grad is mine and mine.item() == 106.0


def test_writing_to_a_gradient_counts_as_a_write():
    x = leaf(3.0)
    (x * x).backward()
    before = x.grad._version
    (x * x).backward()
    assert x.grad._version == before + 1


def test_a_gradient_kept_by_a_graph_and_then_added_to_is_found_out():
    x, w = leaf(3.0, 4.0), leaf(1.0, 2.0)
    (x * x).sum().backward()
    y = (x.grad * w).sum()
    (x * x).sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_gradient_whose_elements_share_memory_is_not_added_to():
    x = leaf(3.0, 4.0)
    x.grad = torch.ones(()).expand(2)
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        (x * x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_leaf_is_its_own_root():
    x = leaf(3.0)
    x.backward()
    assert x.grad.item() == 1.0
    x.backward(torch.tensor(5.0))
    assert x.grad.item() == 6.0


# --- no gradient shares memory with anything else ---


def test_gradients_of_two_leaves_share_no_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    x.grad[0] = 100.0
    assert y.grad.tolist() == [1.0, 1.0]


def test_gradients_do_not_alias_the_cotangent():
    x, v = leaf(1.0, 2.0), torch.tensor([1.0, 10.0])
    (x + 0).backward(v)
    x.grad.zero_()
    assert v.tolist() == [1.0, 10.0]


def test_the_gradient_of_a_leaf_that_is_the_root_does_not_alias_the_cotangent():
    x, v = leaf(1.0, 2.0), torch.tensor([1.0, 10.0])
    x.backward(v)
    x.grad.zero_()
    assert v.tolist() == [1.0, 10.0]
    x.backward(v)
    assert v.tolist() == [1.0, 10.0]


def test_gradients_do_not_alias_the_tensors_of_the_forward_pass():
    x, w = leaf(1.0, 2.0), torch.tensor([3.0, 4.0])
    (x * w).sum().backward()
    x.grad.add_(1)
    assert w.tolist() == [3.0, 4.0]
    y = leaf(1.0, 2.0)
    z = y.exp()
    z.sum().backward()
    y.grad.zero_()
    assert z[0].item() > 2.7


def test_gradients_do_not_alias_each_other_through_views():
    x, y = leaf(1.0, 2.0, 3.0, 4.0), leaf(1.0, 2.0, 3.0, 4.0)
    (x.view(2, 2) * 1 + y.view(2, 2) * 1).backward(torch.ones(2, 2))
    x.grad.zero_()
    assert y.grad.tolist() == [1.0] * 4


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")
def test_gradients_with_a_graph_share_no_memory():
    x, y, v = leaf(1.0, 2.0), leaf(3.0, 4.0), torch.ones(2)
    (x + y).backward(v, create_graph=True)
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0] and v.tolist() == [1.0, 1.0]


def test_gradients_returned_by_grad_do_not_alias_dot_grad():
    x = leaf(1.0, 2.0)
    x.sum().backward()
    (g,) = torch.autograd.grad(x.sum(), x)
    x.grad.zero_()
    assert g.tolist() == [1.0, 1.0]


def test_an_expanded_gradient_has_memory_of_its_own():
    x = leaf(1.0, 2.0, 3.0)
    x.sum().backward()
    x.grad[0] = 5.0
    assert x.grad.tolist() == [5.0, 1.0, 1.0]


def test_a_retained_gradient_and_a_leafs_share_no_memory():
    x = leaf(1.0, 2.0)
    y = x + 0
    y.retain_grad()
    y.sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0]


def test_one_cotangent_for_two_roots_is_left_alone():
    x, y, v = leaf(1.0, 2.0), leaf(1.0, 2.0), torch.ones(2)
    torch.autograd.backward([x + 0, y + 0, x + 0], [v, v, v])
    assert v.tolist() == [1.0, 1.0]
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0] and v.tolist() == [1.0, 1.0]


# --- graphs of any shape ---


def test_a_shared_subexpression_gets_the_sum():
    x = leaf(2.0)
    y = x * x
    (y * y + y).backward()
    assert x.grad.item() == 36.0


def test_both_sides_of_a_diamond_meet():
    x = leaf(2.0)
    a = x * 3
    (a.exp().log() + a * a).backward()
    assert x.grad.item() == pytest.approx(3 + 36, rel=1e-6)


def test_a_tensor_on_both_sides_of_an_operator_counts_twice():
    x = leaf(3.0)
    (x + x).backward()
    assert x.grad.item() == 2.0
    x.grad = None
    (x * x).backward()
    assert x.grad.item() == 6.0


def test_paths_of_different_length_are_all_counted():
    x = leaf(1.0)
    y = x
    for _ in range(5):
        y = y + x
    y.backward()
    assert x.grad.item() == 6.0


def test_a_loop_with_doubling_has_exponentially_many_paths():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**60


def test_recursion_builds_a_graph():
    def power(x, n):
        return 1 if n == 0 else x * power(x, n - 1)

    x = leaf(2.0)
    power(x, 5).backward()
    assert x.grad.item() == 80.0


def test_data_decides_the_shape_of_the_graph():
    x = leaf(1.5)
    y, n = x, 0
    while y.item() < 100:
        y, n = y * x, n + 1
    y.backward()
    assert x.grad.item() == pytest.approx((n + 1) * 1.5**n, rel=1e-5)


def test_only_the_branch_that_was_taken_is_differentiated():
    x = leaf(2.0)
    (x * 5 if x > 1 else x * 7).backward()
    assert x.grad.item() == 5.0


def test_a_part_of_a_graph_that_leads_nowhere_is_no_matter():
    x = leaf(2.0)
    y = x * 3
    _ = y.exp()
    y.backward()
    assert x.grad.item() == 3.0


def test_outputs_that_are_not_used_count_as_zero():
    x = leaf(1.0, 2.0, 3.0)
    a, _, c = x.unbind()
    (a * 2 + c * 5).backward()
    assert x.grad.tolist() == [2.0, 0.0, 5.0]


def test_broadcast_inputs_get_sums():
    x, y = torch.ones(3, 1, requires_grad=True), torch.ones(2, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.tolist() == [[2.0], [2.0], [2.0]] and y.grad.tolist() == [3.0, 3.0]


def test_a_detached_tensor_stops_the_gradient():
    x = leaf(3.0)
    (x * x.detach()).backward()
    assert x.grad.item() == 3.0


def test_gradients_of_casts_have_the_dtype_of_the_input():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype is torch.float64 and y.grad.dtype is torch.float32


# --- a second time ---


def test_a_graph_is_freed_by_its_backward_pass():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with raises(RuntimeError, FREED):
        y.backward()
    assert x.grad.item() == 4.0


def test_a_retained_graph_is_walked_again():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0


def test_a_graph_that_keeps_nothing_may_be_walked_again():
    x = leaf(2.0)
    y = x + x
    y.backward()
    y.backward()
    assert x.grad.item() == 4.0


def test_a_part_that_was_freed_stops_what_lies_above_it():
    x = leaf(2.0)
    shared = x.exp()
    a, b = shared * 2, shared * 3
    a.backward()
    with raises(RuntimeError, FREED):
        b.backward()
    assert x.grad.item() == pytest.approx(2 * shared.item())


def test_create_graph_retains_the_graph():
    x = leaf(2.0)
    y = x * x
    torch.autograd.grad(y, x, create_graph=True)
    y.backward()
    assert x.grad.item() == 4.0


# --- several roots ---


def test_several_roots_are_summed():
    x = leaf(3.0)
    torch.autograd.backward([x * x, x * 2])
    assert x.grad.item() == 8.0


def test_several_roots_have_a_cotangent_each():
    x = leaf(1.0, 2.0)
    torch.autograd.backward([x * x, x.sum()], [torch.tensor([1.0, 10.0]), None])
    assert x.grad.tolist() == [3.0, 41.0]


def test_roots_may_share_their_graph():
    x = leaf(2.0)
    y = x * x
    torch.autograd.backward([y, y * y, y])
    assert x.grad.item() == 40.0


def test_a_root_may_lie_behind_another():
    x = leaf(2.0)
    y = x.exp()
    z = y * y
    torch.autograd.backward((z, y))
    e = y.item()
    assert x.grad.item() == pytest.approx(2 * e * e + e, rel=1e-6)


# --- inputs ---


def test_inputs_restrict_what_gets_a_gradient():
    x, y = leaf(2.0), leaf(3.0)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 3.0 and y.grad is None


def test_one_input_needs_no_list():
    x, y = leaf(2.0), leaf(3.0)
    (x * y).backward(inputs=x)
    assert x.grad.item() == 3.0 and y.grad is None


def test_a_non_leaf_input_gets_a_gradient_and_the_leaves_behind_it_do_not():
    x = leaf(2.0)
    y = x * 3
    (y * y).backward(inputs=[y])
    assert y.grad.item() == 12.0 and x.grad is None


def test_a_non_leaf_input_and_a_leaf_behind_it_both_get_theirs():
    x = leaf(2.0)
    y = x * 3
    (y * y).backward(inputs=[x, y])
    assert y.grad.item() == 12.0 and x.grad.item() == 36.0


def test_gradients_of_inputs_accumulate():
    x = leaf(2.0)
    for total in (4.0, 8.0):
        (x * x).backward(inputs=[x])
        assert x.grad.item() == total


def test_an_input_that_is_the_root_gets_the_cotangent():
    y = leaf(2.0) * 3
    y.backward(inputs=[y])
    assert y.grad.item() == 1.0


def test_nodes_that_lead_to_no_input_do_not_run():
    x, w = leaf(2.0), leaf(3.0)
    side = w * w
    ran = []
    side.grad_fn.register_hook(lambda *_: ran.append("side"))
    (x * side).backward(inputs=[x])
    assert ran == [] and x.grad.item() == 9.0


# --- create_graph ---


def test_backward_with_create_graph_gives_a_gradient_with_history():
    x = leaf(2.0)
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (x**3).backward(create_graph=True)
    assert type(x.grad.grad_fn).__name__ == "CopyBackwards" and x.grad.item() == 12.0
    (g,) = torch.autograd.grad(x.grad, x)
    assert g.item() == 12.0


# --- what backward leaves alone ---


def test_the_grad_mode_does_not_matter_to_backward():
    x = leaf(2.0)
    y = x * x
    with torch.no_grad():
        y.backward()
    assert x.grad.item() == 4.0 and torch.is_grad_enabled()


def test_backward_returns_nothing():
    assert (leaf(2.0) * 2).backward() is None
