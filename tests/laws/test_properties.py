"""Properties that hold for any shapes, indices and dtypes: NumPy says what they are."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tapegrad as torch

SHAPES = nps.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
FLOATS = st.floats(-8, 8, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3)


def numbers(shape, dtype="float64"):
    return nps.arrays(dtype, shape, elements=FLOATS)


@st.composite
def broadcastable(draw, n=2):
    """`n` arrays whose shapes broadcast."""
    shapes = draw(nps.mutually_broadcastable_shapes(num_shapes=n, max_dims=4, max_side=3))
    return [draw(numbers(shape)) for shape in shapes.input_shapes]


def assert_same(got, want):
    want = np.asarray(want)
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-9, atol=1e-9)


def leaf(array):
    return torch.tensor(array, requires_grad=True)


# --- broadcasting ---


@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (torch.add, np.add),
        (torch.sub, np.subtract),
        (torch.mul, np.multiply),
        (torch.maximum, np.maximum),
        (torch.atan2, np.arctan2),
        (torch.lt, np.less),
        (torch.eq, np.equal),
    ],
)
@given(pair=broadcastable())
def test_binary_operators_broadcast_as_numpys(ours, numpys, pair):
    a, b = pair
    assert_same(ours(torch.tensor(a), torch.tensor(b)), numpys(a, b))


@given(arrays=broadcastable(3))
def test_three_tensors_broadcast_together(arrays):
    a, b, c = arrays
    got = torch.where(torch.tensor(a > 0), torch.tensor(b), torch.tensor(c))
    assert_same(got, np.where(a > 0, b, c))


@given(pair=broadcastable())
def test_gradients_of_broadcast_inputs_are_sums(pair):
    a, b = (leaf(x) for x in pair)
    y = a * b
    y.backward(torch.ones(y.shape, dtype=y.dtype))
    for x, other in ((a, pair[1]), (b, pair[0])):
        full = np.broadcast_to(other, tuple(y.shape))
        extra = full.ndim - x.ndim
        axes = tuple(range(extra)) + tuple(
            extra + i for i, n in enumerate(x.shape) if n == 1 and full.shape[extra + i] != 1
        )
        assert_same(x.grad, full.sum(axes).reshape(tuple(x.shape)))


@given(pair=broadcastable())
def test_a_tensor_that_is_larger_takes_the_other_in_place(pair):
    a, b = pair
    assume(np.broadcast_shapes(a.shape, b.shape) == a.shape)
    x = torch.tensor(a)
    x += torch.tensor(b)
    assert_same(x, a + b)


@given(a=SHAPES, b=SHAPES)
def test_shapes_that_do_not_broadcast_are_refused_by_both(a, b):
    try:
        want = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            torch.zeros(a) + torch.zeros(b)
    else:
        assert tuple((torch.zeros(a) + torch.zeros(b)).shape) == want


@given(shape=SHAPES, data=st.data())
def test_expand_is_broadcast_to(shape, data):
    x = data.draw(numbers(shape))
    target = data.draw(nps.broadcastable_shapes(shape, max_dims=4, max_side=4))
    assume(np.broadcast_shapes(shape, target) == target)
    assert_same(torch.tensor(x).expand(target), np.broadcast_to(x, target))


# --- reductions ---


@st.composite
def array_and_axes(draw):
    x = draw(numbers(draw(SHAPES)))
    axes = draw(st.sets(st.integers(0, x.ndim - 1), min_size=1) if x.ndim else st.just(set()))
    signed = tuple(i - x.ndim if draw(st.booleans()) else i for i in sorted(axes))
    return x, signed, draw(st.booleans())


@given(case=array_and_axes())
def test_sums_over_any_axes(case):
    x, axes, keepdim = case
    assume(axes)
    t = leaf(x)
    y = t.sum(axes, keepdim=keepdim)
    assert_same(y, x.sum(axes, keepdims=keepdim))
    y.sum().backward()
    assert_same(t.grad, np.ones_like(x))


@given(case=array_and_axes())
def test_means_over_any_axes(case):
    x, axes, keepdim = case
    assume(axes and x.size)
    assert_same(torch.tensor(x).mean(axes, keepdim=keepdim), x.mean(axes, keepdims=keepdim))


@given(case=array_and_axes())
def test_extremes_over_any_axes(case):
    x, axes, keepdim = case
    assume(axes and x.size)
    assert_same(torch.tensor(x).amax(axes, keepdim=keepdim), x.max(axes, keepdims=keepdim))
    assert_same(torch.tensor(x).amin(axes, keepdim=keepdim), x.min(axes, keepdims=keepdim))


@given(case=array_and_axes())
def test_whole_tensors_are_reduced(case):
    x = case[0]
    t = torch.tensor(x)
    assert_same(t.sum(), x.sum())
    assert_same(t.prod(), x.prod())
    assert t.any().item() == bool((x != 0).any()) and t.all().item() == bool((x != 0).all())


@given(case=array_and_axes(), data=st.data())
def test_running_sums_and_maxima_along_an_axis(case, data):
    x = case[0]
    assume(x.ndim)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assert_same(torch.tensor(x).cumsum(axis), x.cumsum(axis))
    if x.shape[axis]:
        values, indices = torch.tensor(x).max(axis)
        assert_same(values, x.max(axis))
        assert_same(torch.tensor(x).gather(axis, indices.unsqueeze(axis)).squeeze(axis), values)


# --- shapes ---


@given(x=numbers(SHAPES), data=st.data())
def test_permutations_of_axes(x, data):
    order = data.draw(st.permutations(range(x.ndim)))
    t = leaf(x)
    y = t.permute(*order) if x.ndim else t.permute(())
    assert_same(y, x.transpose(order))
    weights = np.arange(x.size, dtype=float).reshape(y.shape)
    y.backward(torch.tensor(weights))
    assert_same(t.grad, weights.transpose(np.argsort(order)) if x.ndim else weights)


@given(x=numbers(SHAPES), data=st.data())
def test_reshapes_keep_the_order_of_elements(x, data):
    assume(x.size)
    sizes, rest = [], x.size
    while rest > 1:
        n = data.draw(st.sampled_from([d for d in range(2, rest + 1) if rest % d == 0]))
        sizes.append(n)
        rest //= n
    y = torch.tensor(x).t() if x.ndim == 2 else torch.tensor(x)
    assert_same(y.reshape(sizes), (x.T if x.ndim == 2 else x).reshape(sizes))


@given(parts=st.lists(numbers((2, 3)), min_size=1, max_size=4), axis=st.integers(-2, 1))
def test_joining_and_splitting_undo_each_other(parts, axis):
    whole = torch.cat([torch.tensor(p) for p in parts], axis)
    assert_same(whole, np.concatenate(parts, axis))
    for got, want in zip(whole.chunk(len(parts), axis), parts, strict=True):
        assert_same(got, want)


# --- indexing ---


@st.composite
def basic_index(draw, shape):
    """Integers, slices with a positive step, None and an Ellipsis."""
    index = []
    n = draw(st.integers(0, len(shape)))
    left = draw(st.integers(0, n))
    axes = [*shape[:left], *shape[len(shape) - (n - left) :]]
    for i, size in enumerate(axes):
        if i == left:
            index.append(...)
        if size and draw(st.booleans()):
            index.append(draw(st.integers(-size, size - 1)))
        else:
            bound = st.none() | st.integers(-size - 2, size + 2)
            step = draw(st.none() | st.integers(1, 3))
            index.append(slice(draw(bound), draw(bound), step))
        if draw(st.booleans()) and draw(st.booleans()):
            index.append(None)
    if ... not in index and n < len(shape):
        index.append(...)
    return tuple(index)


@st.composite
def array_and_basic_index(draw):
    x = draw(numbers(draw(SHAPES)))
    return x, draw(basic_index(x.shape))


@given(case=array_and_basic_index())
def test_integers_slices_none_and_ellipsis_index_as_in_numpy(case):
    x, index = case
    assert_same(torch.tensor(x)[index], x[index])


@given(case=array_and_basic_index())
def test_gradients_go_back_to_where_an_index_read(case):
    x, index = case
    t = leaf(x)
    t[index].sum().backward()
    want = np.zeros_like(x)
    want[index] = 1
    assert_same(t.grad, want)


@given(case=array_and_basic_index(), value=FLOATS)
def test_assignment_through_an_index_writes_as_in_numpy(case, value):
    x, index = case
    t, want = torch.tensor(x), x.copy()
    t[index] = value
    want[index] = value
    assert_same(t, want)


@st.composite
def array_and_advanced_index(draw):
    """Index arrays that broadcast, side by side at any place, between slices."""
    x = draw(numbers(draw(nps.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))))
    first = draw(st.integers(0, x.ndim - 1))
    n = draw(st.integers(1, x.ndim - first))
    shapes = draw(
        nps.mutually_broadcastable_shapes(num_shapes=n, max_dims=2, min_side=1, max_side=3)
    ).input_shapes
    index = [slice(None)] * first
    for axis, shape in zip(range(first, first + n), shapes, strict=True):
        size = x.shape[axis]
        index.append(draw(nps.arrays("int64", shape, elements=st.integers(-size, size - 1))))
    return x, tuple(index)


def as_tensors(index):
    return tuple(torch.tensor(i) if isinstance(i, np.ndarray) else i for i in index)


@given(case=array_and_advanced_index())
def test_index_arrays_read_as_in_numpy(case):
    x, index = case
    assert_same(torch.tensor(x)[as_tensors(index)], x[index])


@given(case=array_and_advanced_index())
def test_gradients_of_index_arrays_add_up_where_they_repeat(case):
    x, index = case
    t = leaf(x)
    t[as_tensors(index)].sum().backward()
    want = np.zeros_like(x)
    np.add.at(want, index, 1)
    assert_same(t.grad, want)


@given(case=array_and_advanced_index(), value=FLOATS)
def test_assignment_through_index_arrays_writes_as_in_numpy(case, value):
    x, index = case
    t, want = torch.tensor(x), x.copy()
    t[as_tensors(index)] = value
    want[index] = value
    assert_same(t, want)


@given(x=numbers(SHAPES), data=st.data())
def test_masks_of_leading_axes_read_and_write_as_in_numpy(x, data):
    mask = data.draw(nps.arrays(bool, x.shape[: data.draw(st.integers(0, x.ndim))]))
    t = torch.tensor(x)
    assert_same(t[torch.tensor(mask)], x[mask])
    t[torch.tensor(mask)] = 5.0
    x[mask] = 5.0
    assert_same(t, x)


@given(x=numbers(SHAPES), data=st.data())
def test_masks_and_slices_mix_as_in_numpy(x, data):
    assume(x.ndim >= 2)
    mask = data.draw(nps.arrays(bool, x.shape[1:2]))
    t = leaf(x)
    y = t[::2, torch.tensor(mask)]
    assert_same(y, x[::2, mask])
    y.sum().backward()
    want = np.zeros_like(x)
    want[::2, mask] = 1
    assert_same(t.grad, want)


# --- promotion ---

DTYPES = st.sampled_from(
    [
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    ]
)


@given(a=DTYPES, b=DTYPES)
def test_promotion_is_commutative(a, b):
    assert torch.promote_types(a, b) is torch.promote_types(b, a)


@given(a=DTYPES)
def test_promotion_of_a_dtype_with_itself_is_that_dtype(a):
    assert torch.promote_types(a, a) is a


@given(a=DTYPES, b=DTYPES)
def test_both_dtypes_can_be_cast_to_what_they_promote_to(a, b):
    both = torch.promote_types(a, b)
    assert torch.can_cast(a, both) and torch.can_cast(b, both)
    assert torch.promote_types(a, both) is both


@given(a=DTYPES, b=DTYPES)
def test_tensors_promote_as_their_dtypes(a, b):
    x, y = torch.ones(2, dtype=a), torch.ones(2, dtype=b)
    both = torch.promote_types(a, b)
    assert (x * y).dtype is both and (y * x).dtype is both
    assert torch.result_type(x, y) is both
    assert torch.where(torch.tensor([True, False]), x, y).dtype is both
    assert torch.cat([x, y]).dtype is both


@given(a=DTYPES, b=DTYPES)
def test_a_number_promotes_a_tensor_by_its_kind_alone(a, b):
    def kind(dtype):
        if dtype is torch.bool:
            return 0
        return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1

    assume(not (a is torch.float16 and b.is_complex))  # complex32, which NumPy lacks
    x, zero_dim = torch.ones(2, dtype=a), torch.ones((), dtype=b)
    got = (x * zero_dim).dtype
    assert got is (zero_dim * x).dtype
    if kind(a) >= kind(b):
        assert got is a
    else:
        assert kind(got) == kind(b)
