"""Views: their base, their history after writes, and the views PyTorch lets nobody write."""

import pytest

import tapegrad as torch


@pytest.fixture
def leaf():
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


@pytest.fixture
def x(leaf):
    return leaf * 1


@pytest.fixture
def w():
    return torch.tensor(3.0, requires_grad=True)


def error_of(call, *args):
    with pytest.raises(RuntimeError) as caught:
        call(*args)
    return str(caught.value)


def name(tensor):
    return type(tensor.grad_fn).__name__


# --- base and memory ---


def test_the_base_of_a_view_of_a_view_is_the_first_tensor(x):
    y = x.view(-1)[2:4][None]
    assert y._is_view() and y._base is x
    assert x._base is None and not x._is_view()


@pytest.mark.parametrize(
    "view, node",
    [
        (lambda x: x.view(3, 2), "ViewBackward0"),
        (lambda x: x.reshape(6), "ViewBackward0"),
        (lambda x: x.flatten(), "ViewBackward0"),
        (lambda x: x.t(), "TBackward0"),
        (lambda x: x.T, "PermuteBackward0"),
        (lambda x: x.mT, "TransposeBackward0"),
        (lambda x: x.permute(1, 0), "PermuteBackward0"),
        (lambda x: x.unsqueeze(0), "UnsqueezeBackward0"),
        (lambda x: x.squeeze(), "SqueezeBackward0"),
        (lambda x: x.squeeze(0), "SqueezeBackward1"),
        (lambda x: x.squeeze((0, 1)), "SqueezeBackward2"),
        (lambda x: x.expand(2, 2, 3), "ExpandBackward0"),
        (lambda x: x[0], "SelectBackward0"),
        (lambda x: x[:1], "SliceBackward0"),
        (lambda x: x[...], "AliasBackward0"),
        (lambda x: x[None], "UnsqueezeBackward0"),
        (lambda x: x.diagonal(), "DiagonalBackward0"),
        (lambda x: x.unfold(1, 2, 1), "UnfoldBackward0"),
        (lambda x: x.as_strided((2,), (2,)), "AsStridedBackward0"),
        (lambda x: x.unbind()[0], "UnbindBackward0"),
        (lambda x: x.split(1)[0], "SplitBackward0"),
        (lambda x: x.split([1, 1])[0], "SplitWithSizesBackward0"),
        (lambda x: x.tensor_split(2)[0], "SliceBackward0"),
    ],
)
def test_view_operators_share_memory_and_are_named_as_in_pytorch(x, view, node):
    y = view(x)
    assert y._is_view() and y._base is x and name(y) == node
    x.detach().fill_(9)
    assert set(y.detach().flatten().tolist()) == {9.0}


def test_reshape_copies_where_the_memory_does_not_allow_a_view(x):
    y = x.t().reshape(-1)
    assert not y._is_view() and name(y) == "UnsafeViewBackward0"
    assert error_of(x.t().view, -1) == (
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead."
    )


def test_views_share_the_version_of_their_base(x):
    y = x[0]
    y.add_(1)
    assert x._version == y._version == 1
    x.mul_(2)
    assert y._version == 2


def test_a_detached_tensor_shares_memory_and_version_but_is_no_view(x):
    d = x.detach()
    d.mul_(2)
    assert d._version == x._version == 1
    assert not d._is_view() and d[0]._base is d
    assert x[0].tolist() == [2.0, 4.0, 6.0]


# --- history after writes ---


def test_a_write_to_the_base_is_seen_through_its_views(x, leaf):
    y = x[0]
    x.mul_(2)
    assert y.tolist() == [2.0, 4.0, 6.0] and name(y) == "AsStridedBackward0"
    y.sum().backward()
    assert leaf.grad.tolist() == [[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]


def test_a_write_through_one_view_is_seen_through_another(x, leaf, w):
    y = x[:, 1:][0]
    u = x.view(-1)[2:4]
    y.mul_(2)
    u.add_(w)
    assert (y.tolist(), u.tolist()) == ([4.0, 9.0], [9.0, 7.0])
    (y.sum() * u.sum()).backward()
    assert leaf.grad.tolist() == [[0.0, 32.0, 58.0], [13.0, 0.0, 0.0]]
    assert w.grad.item() == 42.0


def test_views_of_views_are_written_through(x, leaf, w):
    y = x.view(3, 2)[1:].t()[0]
    y.mul_(w)
    assert x.tolist() == [[1.0, 2.0, 9.0], [4.0, 15.0, 6.0]]
    (x**2).sum().backward()
    assert leaf.grad.tolist() == [[2.0, 4.0, 54.0], [8.0, 90.0, 12.0]]
    assert w.grad.item() == 204.0


def test_a_view_made_before_the_base_got_a_gradient_gets_it_too(w):
    z = torch.zeros(2, 3)
    y = z[0]
    z.add_(w)
    assert y.requires_grad and name(y) == "AsStridedBackward0"
    y.sum().backward()
    assert w.grad.item() == 3.0


def test_overlapping_windows_are_written_through(x, leaf):
    y = x.unfold(1, 2, 1)
    y[0, 0] = torch.ones(2)
    x.sum().backward()
    assert leaf.grad.tolist() == [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]


def test_a_pattern_over_the_memory_is_written_through(x, leaf):
    x.as_strided((2,), (2,)).mul_(5)
    assert x.tolist() == [[5.0, 2.0, 15.0], [4.0, 5.0, 6.0]]
    x.sum().backward()
    assert leaf.grad.tolist() == [[5.0, 1.0, 5.0], [1.0, 1.0, 1.0]]


def test_a_pattern_beyond_the_view_it_was_asked_of_leads_to_the_base(x, leaf):
    row = x[-1:]
    first = row.as_strided((2,), (1,), 0)  # elements that `row` does not show
    row.mul_(1.0)  # from here on views are followed from the base
    (first * torch.tensor([3.0, 4.0])).sum().backward()
    assert leaf.grad.tolist() == [[3, 4, 0], [0, 0, 0]]


def test_a_diagonal_is_written_through(x, leaf):
    x.diagonal().fill_(3.0)
    x.sum().backward()
    assert leaf.grad.tolist() == [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]


def test_a_write_without_recording_leaves_the_history_alone(x, leaf):
    y = x[0]
    with torch.no_grad():
        y.mul_(2)
    assert name(x) == "MulBackward0" and x[0].tolist() == [2.0, 4.0, 6.0]
    x.sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_a_deep_chain_of_views_is_written_through(x, leaf):
    y = x
    for _ in range(50):
        y = y[None]
    y.mul_(2)
    x.sum().backward()
    assert leaf.grad.tolist() == [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]


# --- shapes changed in place ---


def test_a_tensor_transposed_in_place_keeps_its_memory(leaf):
    x = leaf * 1
    assert x.t_() is x and x.shape == (3, 2) and name(x) == "TBackward1"
    assert x._version == 1
    (x * torch.tensor([1.0, 2.0])).sum().backward()
    assert leaf.grad.tolist() == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]


@pytest.mark.parametrize(
    "change, shape, node",
    [
        (lambda x: x.transpose_(0, 1), (3, 2), "TransposeBackward1"),
        (lambda x: x.unsqueeze_(0), (1, 2, 3), "UnsqueezeBackward1"),
        (lambda x: x.squeeze_(), (2, 3), "SqueezeBackward3"),
    ],
)
def test_in_place_views_are_named_as_in_pytorch(x, change, shape, node):
    change(x)
    assert x.shape == shape and name(x) == node


def test_a_view_transposed_in_place_is_still_written_through(x, leaf):
    y = x.view(3, 2)
    y.t_()
    y[0].mul_(2)
    assert x.tolist() == [[2.0, 2.0, 6.0], [4.0, 10.0, 6.0]]
    x.sum().backward()
    assert leaf.grad.tolist() == [[2.0, 1.0, 2.0], [1.0, 2.0, 1.0]]


def test_a_view_whose_base_was_transposed_in_place_is_not_written_wrongly(x, w):
    y, z = x[0], torch.zeros(2, 3)
    row = z[0]
    x.t_()
    z.t_()
    y.mul_(2)
    row.add_(w)
    assert x.tolist() == [[2.0, 4.0], [4.0, 5.0], [6.0, 6.0]]
    assert z.tolist() == [[3.0, 0.0], [3.0, 0.0], [3.0, 0.0]]
    assert x[0].mul_(2).tolist() == [4.0, 8.0] and y.tolist() == [4.0, 4.0, 6.0]
    assert name(y) == "AsStridedBackward0"


@pytest.mark.parametrize(
    "reshape",
    [
        lambda x: x.t_(),
        lambda x: x.transpose_(0, 1),
        lambda x: x.unsqueeze_(1),
        lambda x: x.unsqueeze_(0).squeeze_(),
        lambda x: x.t_().unsqueeze_(2).transpose_(0, 1).squeeze_(),
    ],
)
@pytest.mark.parametrize("write", ["view", "base", "part"])
def test_a_view_outlives_the_shape_of_its_base(leaf, reshape, write):
    x = leaf * 1
    flat, row = x.view(-1), x[1]
    reshape(x)
    part = row[1:]
    {"view": flat, "base": x, "part": part}[write].mul_(2)
    assert flat.shape == (6,) and row.shape == (3,) and part.shape == (2,)
    loss = (flat * torch.arange(1.0, 7.0)).sum() + (row * 10).sum() + (part * 100).sum()
    (g,) = torch.autograd.grad(loss, leaf, create_graph=True)
    factors = {"view": [2.0] * 6, "base": [2.0] * 6, "part": [1.0] * 4 + [2.0] * 2}[write]
    slopes = [1.0, 2.0, 3.0, 14.0, 115.0, 116.0]
    assert g.flatten().tolist() == [a * b for a, b in zip(factors, slopes, strict=True)]
    loss.backward()
    assert leaf.grad.tolist() == g.tolist()


def test_a_base_that_as_strided_gave_another_shape_is_not_followed(x):
    y = x[0]
    x.as_strided_((3,), (2,))
    text = "the base of this view was given another shape in place"
    assert error_of(y.mul_, 2).startswith(text)
    assert y.tolist() == [1.0, 2.0, 3.0]


# --- views that may not be written ---

MULTI = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by "
    "an out-of-place one."
)


def test_one_of_several_views_may_not_be_written(x):
    assert (
        error_of(x.unbind()[0].mul_, 2)
        == f"Output 0 of Unbind is a view and is being modified inplace. {MULTI}"
    )
    assert (
        error_of(x.chunk(2)[1].mul_, 2)
        == f"Output 1 of Split is a view and is being modified inplace. {MULTI}"
    )
    assert (
        error_of(x.split(1)[0][0].mul_, 2)
        == f"Output 0 of Select is a view and is being modified inplace. {MULTI}"
    )
    assert x._version == 0


def test_iterating_gives_views_that_may_not_be_written(x):
    for row in x:
        assert error_of(row.mul_, 2).startswith("Output 0 of Unbind is a view")
        break


def test_one_of_several_views_may_be_written_without_a_gradient(w):
    z = torch.zeros(2, 3)
    z.unbind()[0].add_(1)
    assert z.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert error_of(z.unbind()[0].add_, w) == (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
        + MULTI
    )
    assert z._version == 1 and not z.requires_grad


def test_one_of_several_views_has_no_history_once_its_base_was_written(x):
    y, _ = x.unbind()
    x.mul_(2)
    assert error_of(lambda: y.grad_fn) == (
        "Output 0 of Unbind is a view and its base or another view of its base has been modified "
        f"inplace. {MULTI}"
    )
    assert "grad_fn=<Invalid>" in repr(y)


NO_GRAD = (
    "modified inplace with grad mode enabled. Given that this use case is ambiguous and "
    "error-prone, it is forbidden. You can clarify your code by moving both the view and the "
    "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) "
    "or both outside (if you want the inplace to be tracked)."
)


def test_a_view_made_without_recording_may_not_be_written_with_it(x, leaf):
    with torch.no_grad():
        y, of_leaf = x[0], leaf[0]
    for view in (y, of_leaf):
        assert (
            error_of(view.mul_, 2) == f"A view was created in no_grad mode and is being {NO_GRAD}"
        )
    assert x._version == 0


def test_a_view_made_without_recording_has_no_history_once_its_base_was_written(x):
    with torch.no_grad():
        y = x[0]
    x.mul_(2)
    assert error_of(lambda: y.grad_fn) == (
        "A view was created in no_grad mode and its base or another view of its base has been "
        + NO_GRAD
    )


def test_a_view_made_without_recording_may_be_written_without_it(x):
    with torch.no_grad():
        y = x[0]
        y.mul_(2)
    assert x[0].tolist() == [2.0, 4.0, 6.0] and name(x) == "MulBackward0"


def test_a_view_made_in_inference_mode_may_not_be_written_outside(x):
    with torch.inference_mode():
        y = x[0]
    assert not y.is_inference()
    assert error_of(y.add_, 1).startswith(
        "A view was created in inference mode and is being modified inplace in normal mode."
    )


def test_views_cannot_be_detached_in_place(x):
    assert error_of(x[0].detach_).startswith("Can't detach views in-place. Use detach() instead.")


# --- gradients of views ---


def test_a_retained_gradient_of_a_view_follows_its_new_history(x):
    y = x[0]
    y.retain_grad()
    x.mul_(2)
    y.sum().backward()
    assert y.retains_grad and y.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_view_of_a_fresh_tensor_may_be_a_leaf():
    y = torch.zeros(2, 3)[0].requires_grad_()
    assert y.is_leaf
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2.0, 2.0, 2.0]
    assert error_of(y.mul_, 2) == (
        "a view of a leaf Variable that requires grad is being used in an in-place operation."
    )


def test_a_view_whose_base_was_detached_and_written_leads_nowhere(leaf, x):
    row = x[0]
    x.detach_()
    assert name(row) == "SelectBackward0"
    x.mul_(2)
    assert row.requires_grad and name(row) == "AsStridedBackward0"
    assert row.grad_fn.next_functions == ((None, 0),)


def test_a_view_that_is_a_leaf_stays_one():
    base = torch.zeros(2, 3)
    row = base[0].requires_grad_()
    base.add_(1)
    assert row.is_leaf and row.grad_fn is None
    row.sum().backward()
    assert row.grad.tolist() == [1, 1, 1]


def test_a_view_that_kept_its_graph_when_its_base_lost_it_may_not_be_written(leaf, x):
    rows = x[0], leaf[0]
    x.detach_()
    leaf.requires_grad_(False)
    text = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    for row in rows:
        assert error_of(row.relu_).startswith(text)


def test_shapes_in_place_are_not_remembered_where_no_view_needs_them():
    x = torch.zeros(2, 3)
    for _ in range(3):
        x.t_()
    assert not hasattr(x._counter, "reshaped")


def test_a_written_view_of_a_base_that_requires_grad_later_leads_to_it():
    base = torch.ones(2, 3)
    row, other = base[0], base[1]
    row.mul_(2)
    assert row.grad_fn is None and not row.requires_grad
    base.requires_grad_()
    assert name(row) == name(other) == "AsStridedBackward0"
    (row * other).sum().backward()
    assert base.grad.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_a_view_that_no_strides_express_keeps_its_node_when_its_base_is_written():
    def names(view):
        z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True) * 1
        v = view(z)
        z.mul_(2)
        return v.grad_fn.name(), v.grad_fn.next_functions[0][0].name()

    assert names(torch.view_as_real) == ("ViewAsRealBackward0", "MulBackward0")
    assert names(lambda z: torch.view_as_real(z)[0].t()) == (
        "AsStridedBackward0", "ViewAsRealBackward0",
    )  # fmt: skip
    assert names(lambda z: z.conj()[0]) == ("AsStridedBackward0", "ConjBackward0")
    assert names(lambda z: z[0].conj()) == ("ConjBackward0", "AsStridedBackward0")
    assert names(lambda z: torch.view_as_complex(torch.view_as_real(z)[:1])) == (
        "ViewAsComplexBackward0", "AsStridedBackward0",
    )  # fmt: skip


def test_gradients_go_through_views_that_no_strides_express():
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    z = x * 1
    v = torch.view_as_real(z).t()
    z.mul_(1 + 3j)
    (g,) = torch.autograd.grad((v**2 * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum(), x)
    assert g.tolist() == [80 + 60j, 216 - 8j]


def views_without_history():
    late = torch.ones(3)
    early = late[:2]
    late.requires_grad_()
    leaf = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        unrecorded = leaf[:2]
    return (late, early), (leaf, unrecorded)


def test_what_is_computed_from_a_view_without_history_requires_grad_and_has_none():
    for base, view in views_without_history():
        y = view * 2
        assert view.requires_grad and view.is_leaf and y.requires_grad
        assert y.grad_fn.name() == "MulBackward0" and y.grad_fn.next_functions[0] == (None, 0)
        y.sum().backward()
        assert base.grad is None and view.grad is None
        assert torch.autograd.grad((view + base[:2]).sum(), base)[0].tolist() == [1.0, 1.0, 0.0]
        assert torch.autograd.grad((view * 2).sum(), view, allow_unused=True) == (None,)
