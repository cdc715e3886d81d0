"""Writes in place: values, versions, histories, gradients, and what PyTorch forbids."""

import gc
import weakref

import pytest

import tapegrad as torch
from tapegrad.autograd import grad
from tests.messages import raises


@pytest.fixture
def leaf():
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


@pytest.fixture
def x(leaf):
    return leaf * 1


@pytest.fixture
def w():
    return torch.tensor(3.0, requires_grad=True)


@pytest.fixture
def v():
    return torch.ones(3, requires_grad=True)


def names(node):
    """The names along the first edges of a graph."""
    found = []
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def error_of(call, *args):
    with pytest.raises(RuntimeError) as caught:
        call(*args)
    return caught.value


# --- values and histories ---


def test_an_in_place_operator_takes_the_node_of_the_operator(x, leaf, w):
    assert x.mul_(w) is x
    assert names(x.grad_fn) == ["MulBackward0", "MulBackward0", "AccumulateGrad"]
    x.sum().backward()
    assert leaf.grad.tolist() == [[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]
    assert w.grad.item() == 21.0


def test_integers_written_in_place_wrap_around_and_stay_integers():
    x = torch.tensor([1, 2**62])
    x.mul_(4).add_(2**63 - 1).sub_(1)
    assert x.tolist() == [-(2**63) + 2, 2**63 - 2]
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        x.add_(0.5)
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        x.div_(2)
    assert x._version == 3


def test_augmented_assignment_chains(x, leaf, w, v):
    x += 1
    x *= 2
    x /= w
    x -= v
    assert x._version == 4
    x.sum().backward()
    assert leaf.grad[0, 0].item() == pytest.approx(2 / 3)
    assert w.grad.item() == pytest.approx(-6.0)
    assert v.grad.tolist() == [-2.0, -2.0, -2.0]


def test_an_operator_that_keeps_its_output_keeps_what_was_written(x, leaf):
    x.sigmoid_()
    x.sum().backward()
    assert leaf.grad[0].tolist() == pytest.approx([0.19661193, 0.10499358, 0.04517666])


def test_relu_in_place_lets_the_gradient_of_positive_numbers_pass(leaf):
    y = leaf - 3
    y.relu_()
    y.sum().backward()
    assert leaf.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_a_write_through_a_view_makes_copy_slices(x, leaf):
    y = x[0]
    y.mul_(2)
    assert type(x.grad_fn).__name__ == "CopySlices"
    assert x.grad_fn.name() == "torch::autograd::CopySlices"
    assert names(y.grad_fn)[:2] == ["AsStridedBackward0", "CopySlices"]
    x.sum().backward()
    assert leaf.grad.tolist() == [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]]


def test_a_tensor_without_gradient_gets_one_through_a_view(v):
    n = torch.zeros(2)
    n[0] = v[0] ** 2
    assert n.requires_grad and not n.is_leaf
    n.sum().backward()
    assert v.grad.tolist() == [2.0, 0.0, 0.0]


def test_rows_built_from_each_other(v):
    z = torch.zeros(2, 3)
    z[0] = v
    z[1] = z[0] * 2
    assert z._version == 2
    z.sum().backward()
    assert v.grad.tolist() == [3.0, 3.0, 3.0]


def test_assigning_in_a_loop_adds_up(w):
    a = torch.zeros(3)
    for i in range(3):
        a[i] = w * i
    a.sum().backward()
    assert w.grad.item() == 3.0


def test_a_number_assigned_cuts_the_gradient(x, leaf):
    x[0] = 7
    x.sum().backward()
    assert leaf.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_zero_fill_and_copy_let_no_gradient_through(leaf, w):
    for write in (lambda x: x.zero_(), lambda x: x.fill_(w), lambda x: x.copy_(torch.ones(3))):
        leaf.grad = None
        x = leaf * 1
        write(x)
        x.sum().backward()
        assert leaf.grad.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert w.grad.item() == 6.0


def test_copy_casts_and_sends_the_gradient_back_in_the_dtype_of_the_source(v):
    z = torch.zeros(2, 3, dtype=torch.float64)
    z.copy_(v)
    assert z.dtype is torch.float64
    z.sum().backward()
    assert v.grad.dtype is torch.float32
    assert v.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_mask_assigned_sends_gradients_to_both_sides(x, leaf, w):
    x[x > 3] = w
    assert type(x.grad_fn).__name__ == "IndexPutBackward0"
    x.sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert w.grad.item() == 3.0


def test_a_masked_part_multiplied_in_place(x, leaf, w):
    x[x > 3] *= w
    x.sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]]
    assert w.grad.item() == 15.0


def test_index_put_accumulates_repeated_indices(x, v):
    x.index_put_((torch.tensor([0, 0]),), torch.stack([v, v]), accumulate=True)
    assert x[0].tolist() == [3.0, 4.0, 5.0]
    x.sum().backward()
    assert v.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_value_before_the_write_is_kept_where_a_rule_asks_for_it(x, leaf):
    x.pow_(3)
    x.sum().backward()
    assert leaf.grad[0].tolist() == [3.0, 12.0, 27.0]


# --- second order ---


def test_second_derivatives_through_copy_slices(x, leaf, w):
    y = x[0]
    y.mul_(w)
    (g,) = grad(x.sum() ** 2, w, create_graph=True)
    assert g.item() == 396.0
    again = grad(g, [w, leaf])
    assert again[0].item() == 72.0
    assert again[1].tolist() == [[102.0, 102.0, 102.0], [12.0, 12.0, 12.0]]


def test_second_derivatives_through_assignments(v, w):
    z = torch.zeros(2, 3)
    z[0] = v * w
    z[1] = v * v
    g = grad((z**3).sum(), [v, w], create_graph=True)
    assert (g[0].tolist(), g[1].item()) == ([87.0, 87.0, 87.0], 81.0)
    again = grad(g[0].sum() + g[1], [v, w])
    assert (again[0].tolist(), again[1].item()) == ([273.0, 273.0, 273.0], 297.0)


# --- versions ---


def test_each_kind_of_write_counts_once(x):
    z = torch.zeros(2, 3)
    writes = [
        lambda: z.add_(1),
        lambda: z[0].mul_(2),
        lambda: z.__setitem__(0, 5),
        lambda: z.__setitem__((slice(None), [0]), 5.0),
        lambda: z.__setitem__(z > 1, 0),
        lambda: z.copy_(torch.ones(3)),
        lambda: z.t_(),
        lambda: z.detach().zero_(),
    ]
    for count, write in enumerate(writes, 1):
        write()
        assert z._version == count


def test_writes_to_data_are_not_counted(x):
    x.data.mul_(2)
    assert x._version == 0
    assert x[0].tolist() == [2.0, 4.0, 6.0]


def test_a_changed_input_is_found_out(x, w):
    y = x * w
    x.add_(1)
    error = error_of(y.sum().backward)
    assert str(error) == (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.FloatTensor [2, 3]], which is output 0 of Add, is at version 1; "
        "expected version 0 instead. Hint: enable anomaly detection to find the operation that "
        "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
        "check_nan=False)."
    )
    assert "The last write was add_ at " in error.__notes__[0]
    assert "test_in_place.py:" in error.__notes__[0]


@pytest.mark.parametrize(
    "write, output",
    [
        (lambda x: x.__setitem__(0, 1), "torch::autograd::CopySlices"),
        (lambda x: x.detach().zero_(), "Mul"),
        (lambda x: x[0].mul_(2), "torch::autograd::CopySlices"),
    ],
)
def test_a_write_through_a_view_or_detached_tensor_is_found_out(x, write, output):
    y = x * x
    write(x)
    assert f"which is output 0 of {output}, is at version 1" in str(error_of(y.sum().backward))


def test_a_changed_tensor_is_told_by_the_number_of_its_node():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x**x
    z = y * y
    y.detach().add_(1)
    assert "which is output 0 of Pow1, is at" in str(error_of(z.sum().backward))


def test_a_changed_output_is_found_out(x):
    y = x.exp()
    y.mul_(2)
    assert "which is output 0 of Exp, is at version 1; expected version 0" in str(
        error_of(y.sum().backward)
    )


def test_a_changed_view_of_a_kept_tensor_is_found_out(x):
    a = x[0]
    b = a * a
    x[1] = 1
    assert "output 0 of AsStrided, is at version 1" in str(error_of(b.sum().backward))


@pytest.mark.parametrize("view", ["t", "view", "select", "slice"])
@pytest.mark.parametrize("write", ["base", "view", "detached"])
def test_a_view_whose_base_was_written_unseen_is_one_by_strides(x, view, write):
    arguments = {"view": (6,), "select": (0, 0)}
    y = x[1:] if view == "slice" else getattr(x, view)(*arguments.get(view, ()))
    z = y * y
    with torch.no_grad():
        {"base": x, "view": y, "detached": x.detach()}[write].mul_(2)
    assert "output 0 of AsStrided, is at version 1" in str(error_of(z.sum().backward))


@pytest.mark.parametrize(
    ("turn", "name"),
    [
        (lambda x: x.t_(), "T1"),
        (lambda x: x.unsqueeze_(0), "Unsqueeze1"),
        (lambda x: x.unsqueeze_(0).squeeze_(0), "Squeeze4"),
        (lambda x: x.as_strided_((2,), (1,)), "AsStrided1"),
    ],
)
def test_a_tensor_turned_in_place_is_no_view(x, turn, name):
    z = turn(x) * x
    with torch.no_grad():
        x.mul_(2)
    assert f"which is output 0 of {name}, is at version" in str(error_of(z.sum().backward))


def test_one_of_several_views_is_not_looked_through_after_its_base_was_written(x):
    y = x.unbind()[0]
    z = y * y
    x.mul_(2)
    text = "Output 0 of Unbind is a view and its base or another view of its base has been modified"
    assert str(error_of(z.sum().backward)).startswith(text)


def test_a_changed_index_is_found_out(leaf):
    index = torch.tensor([0, 1])
    y = leaf[index]
    index[0] = 1
    assert "[torch.LongTensor [2]] is at version 1" in str(error_of(y.sum().backward))


def test_a_write_after_use_does_not_matter_where_the_rule_does_not_ask(x, leaf):
    y = x + 1
    x.mul_(2)
    y.sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


# --- leaves ---


def test_a_leaf_that_requires_grad_may_not_be_written(leaf):
    text = "a leaf Variable that requires grad is being used in an in-place operation."
    assert str(error_of(leaf.add_, 1)) == text
    assert str(error_of(leaf.__setitem__, torch.tensor([0]), 1)) == text
    assert str(error_of(leaf.__setitem__, ..., 1)) == text
    assert leaf._version == 0 and leaf.is_leaf


def test_a_view_of_a_leaf_may_not_be_written(leaf, w):
    text = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    assert str(error_of(leaf.__setitem__, 0, 1)) == text
    assert str(error_of(leaf.view(-1).add_, w)) == text
    assert leaf.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_a_leaf_may_be_written_without_recording(leaf):
    with torch.no_grad():
        leaf -= 1
        leaf[0] = 0
    assert leaf.is_leaf and leaf.requires_grad and leaf._version == 2
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]


# --- what fails leaves everything as it was ---


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(torch.ones(4)),
        lambda x: x.add_(torch.ones(3, 2, 3)),
        lambda x: x.add_(1j),
        lambda x: x[0].copy_(torch.ones(7)),
        lambda x: x.__setitem__(0, torch.ones(2)),
        lambda x: x.__setitem__([0, 5], 1.0),
        lambda x: x.__setitem__([0], torch.ones(3, dtype=torch.int64)),
        lambda x: x.__setitem__(0, [1, 2, 3]),
        lambda x: x.index_add_(0, torch.tensor([5]), torch.ones(1, 3)),
        lambda x: x.unsqueeze_(7),
    ],
)
def test_a_failed_write_changes_nothing(x, leaf, write):
    node = x.grad_fn
    with pytest.raises((RuntimeError, IndexError, TypeError)):
        write(x)
    assert x._version == 0 and x.grad_fn is node and x.shape == (2, 3)
    x.sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_an_in_place_result_must_fit(x):
    assert str(error_of(x.add_, torch.ones(3, 2, 3))) == (
        "output with shape [2, 3] doesn't match the broadcast shape [3, 2, 3]"
    )
    assert str(error_of(torch.zeros(2, dtype=torch.int64).mul_, 1.5)) == (
        "result type Float can't be cast to the desired output type Long"
    )


def test_memory_that_elements_share_may_not_be_written(x):
    assert str(error_of(x.expand(2, 2, 3).add_, 1)) == (
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )


# --- hooks and kept gradients ---


def test_a_retained_gradient_follows_the_tensor(x):
    x.retain_grad()
    x.mul_(2)
    assert x.retains_grad
    x.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_a_hook_stays_with_the_node_it_was_put_on(leaf):
    seen = []
    y = leaf * 2
    y.register_hook(lambda g: seen.append(("before", g.sum().item())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.sum().item())))
    y.sum().backward()
    assert seen == [("after", 6.0), ("before", 18.0)]


# --- inference ---


def test_inference_tensors_are_written_in_inference_mode_only():
    with torch.inference_mode():
        j = torch.ones(2)
        j[0].add_(1)
    assert j.tolist() == [2.0, 1.0]
    assert str(error_of(j.add_, 1)).startswith(
        "Inplace update to inference tensor outside InferenceMode is not allowed."
    )


# --- out= ---


def test_out_is_written_and_never_part_of_a_graph(leaf):
    out = torch.zeros(2, 3)
    with torch.no_grad():
        assert torch.add(leaf, 1, out=out) is out
    assert out._version == 1 and not out.requires_grad
    assert str(error_of(lambda: torch.add(leaf, 1, out=out))) == (
        "add(): functions with out=... arguments don't support automatic differentiation, but one "
        "of the arguments requires grad."
    )


# --- depth ---


def test_thousands_of_writes_make_no_recursion(w):
    z = torch.zeros(2, 3)
    for k in range(3000):
        z[k % 2].add_(w)
    z.sum().backward()
    assert w.grad.item() == 9000.0


# --- memory ---


@pytest.mark.parametrize(
    "write",
    [
        lambda x, w: x.__setitem__(0, x[1] * w),
        lambda x, w: x[0].mul_(x[1]),
        lambda x, w: x[0].mul_(x[0] * w),
        lambda x, w: x.mul_(x),
        lambda x, w: x[0].exp_(),
        lambda x, w: x.__setitem__(x > 0, x[x > 0] ** 2),
        lambda x, w: x.retain_grad() or x.mul_(w),
    ],
)
def test_a_tensor_written_in_place_is_freed_by_reference_counting_alone(leaf, w, write):
    x = leaf * 1
    write(x, w)
    tensor, node = weakref.ref(x), weakref.ref(x.grad_fn)
    gc.disable()
    try:
        del x
        assert tensor() is None and node() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (3, [-0.096, 0.072, 3.0, 4.5, 0.53665631, -0.26832816]),
        (2, [-0.096, 0.072, 3.0, 4.5, 6.0, 7.5]),
    ],
)
def test_an_operator_made_of_several_has_its_gradient_in_place_and_through_a_view(rows, expected):
    x = torch.tensor([[3.0, 4.0], [0.3, 0.4], [1.0, 2.0]], requires_grad=True)
    y = x * 1.5
    y[:rows].renorm_(2, 0, 1.0)
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.flatten().tolist() == pytest.approx(expected, abs=1e-4)


def test_a_cast_that_cannot_be_comes_before_the_kernel():
    x = torch.tensor([True, False])
    with pytest.raises(RuntimeError, match=r"^result type ComplexFloat can't be cast to the"):
        x.bitwise_and_(torch.ones(2) + 1j)
    with pytest.raises(RuntimeError, match=r"^The size of tensor a \(2\) must match the si"):
        torch.ones(2).bitwise_or_(torch.ones(3))
    with pytest.raises(RuntimeError, match=r"^output with shape \[2\] doesn't match the broad"):
        torch.ones(2).bitwise_or_(torch.ones(3, 2))
    with pytest.raises(
        NotImplementedError, match="\"bitwise_or_cpu\" not implemented for 'Double'"
    ):
        torch.ones(2, dtype=torch.float64).bitwise_or_(1)
    assert x.tolist() == [True, False]


def test_elements_that_are_one_place_in_memory_may_all_be_given_the_same():
    x = torch.zeros(1)
    wide = x.expand(3)
    assert wide.fill_(2).tolist() == [2, 2, 2] and x.item() == 2
    assert wide.zero_().tolist() == [0, 0, 0] and x.item() == 0
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        wide[:] = 5
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        wide.fill_(torch.tensor(3.0))


LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(x.t()),
        lambda x: x.add_(torch.zeros(3)),
        lambda x: x.mul_(torch.zeros(2, 2, 2)),
        lambda x: x.mul_(torch.zeros(2, 2, dtype=torch.complex64)),
        lambda x: x.copy_(x.t()),
        lambda x: x.copy_(torch.zeros(2, 2, 2)),
        lambda x: x.copy_(torch.zeros(3)),
        lambda x: x.lerp_(torch.zeros(3), 0.5),
        lambda x: x.addcmul_(x.t(), x),
        lambda x: x.__setitem__(torch.tensor([0]), torch.zeros(2, dtype=torch.float64)),
        lambda x: x.__setitem__(slice(0, 2), torch.zeros(2, 2)),
        lambda x: torch.Tensor.abs_(x),
    ],
)
def test_that_a_leaf_is_written_is_said_before_what_is_wrong_else(write):
    with raises(RuntimeError, LEAF):
        write(torch.zeros(2, 2, requires_grad=True))


def test_one_of_several_views_is_refused_before_the_shapes_are_looked_at():
    part = torch.zeros(2, 3).unbind()[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        part.add_(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        part.add_(torch.ones(2))


def test_in_place_forms_that_have_words_of_their_own():
    with raises(RuntimeError, "t_() expects a tensor with <= 2 dimensions, but self is 3D"):
        torch.zeros(1, 2, 3).t_()
    with raises(RuntimeError, "In-place abs is not supported for complex tensors."):
        torch.zeros(2, dtype=torch.complex64).abs_()


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.index_add_(0, x, x.clone()),
        lambda x: x.index_add_(0, x.clone(), x),
        lambda x: x.index_copy_(0, x, x.clone()),
        lambda x: x.index_fill_(0, x, 3),
        lambda x: x.scatter_(0, x, x.clone()),
        lambda x: x.scatter_add_(0, x.clone(), x),
        lambda x: x.scatter_reduce_(0, x, x.clone(), "sum"),
        lambda x: x.put_(x, x.clone()),
        lambda x: x.view(3).put_(x, x.clone()),
        lambda x: x.index_put_((x,), x.clone()),
        lambda x: x.index_put_((x.clone(),), x),
        lambda x: x[1:].index_put_((torch.arange(2),), x[:2]),
    ],
)
def test_what_an_index_leads_to_is_not_the_index_or_the_source(write):
    x = torch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        write(x)
    assert x.tolist() == [2, 1, 0]


def test_a_tensor_of_another_shape_in_place_is_told_by_that():
    x = torch.zeros(2, 3, requires_grad=True)
    y = (x * 1).t_()
    z = y * y
    y.detach().add_(1)
    assert "which is output 0 of T1, is at version 2" in str(error_of(z.sum().backward))


def test_what_does_not_fit_is_refused_before_a_kernel_that_lacks_the_dtype():
    x, wide = torch.ones(2), torch.ones(3, 2)
    with raises(RuntimeError, "output with shape [2] doesn't match the broadcast shape [3, 2]"):
        x.ge_(wide * 1j)
    cast = "result type ComplexFloat can't be cast to the desired output type Float"
    for name in ("atan2_", "remainder_", "hypot_", "igamma_"):
        with raises(RuntimeError, cast):
            getattr(x, name)(x * 1j)
    with raises(NotImplementedError, "\"igamma_cpu\" not implemented for 'Long'"):
        x.long().igamma_(x.long())


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_small_integers_wrap_around_in_place(dtype):
    x = torch.tensor([127, 1]).to(getattr(torch, dtype))
    y = x.clone()
    y += 200  # beyond int8
    assert y.equal((x.long() + 200).to(x.dtype))
    y = x.clone()
    y += y
    assert y.equal((2 * x.long()).to(x.dtype)) and y._version == 1
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        y -= y[:1]
