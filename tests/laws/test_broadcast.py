"""Broadcasting against NumPy: values, and gradients summed back to the shapes they came from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, mutually_broadcastable_shapes

import tapegrad as torch

NUMBERS = st.integers(-8, 8).map(float)


def operands(n):
    """n float64 arrays of shapes that broadcast, empty ones too."""
    shapes = mutually_broadcastable_shapes(num_shapes=n, max_dims=4, max_side=3, min_side=0)
    return shapes.flatmap(
        lambda found: st.tuples(
            *(arrays(np.float64, s, elements=NUMBERS) for s in found.input_shapes)
        )
    )


def sum_to_shape(g, shape):
    """What NumPy says a broadcast gradient sums to."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    for axis, n in enumerate(shape):
        if n == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


@given(operands(2))
def test_a_product_and_its_gradients(pair):
    a, b = (torch.from_numpy(x.copy()).requires_grad_() for x in pair)
    y = a * b
    np.testing.assert_array_equal(y.detach().numpy(), pair[0] * pair[1])
    y.sum().backward()
    ones = np.ones(y.shape)
    for leaf, x, other in ((a, *pair), (b, *pair[::-1])):
        np.testing.assert_array_equal(leaf.grad.numpy(), sum_to_shape(ones * other, x.shape))


@given(operands(3))
def test_three_operands_and_their_gradients(triple):
    leaves = [torch.from_numpy(x.copy()).requires_grad_() for x in triple]
    mask = leaves[0].detach() > 0
    y = torch.where(mask, leaves[1], leaves[2]) + torch.addcmul(*leaves, value=2)
    a, b, c = triple
    np.testing.assert_array_equal(y.detach().numpy(), np.where(a > 0, b, c) + (a + 2 * b * c))
    y.sum().backward()
    ones = np.ones(y.shape)
    chosen = (a > 0) * ones
    for leaf, g, x in zip(
        leaves, (ones, chosen + ones * 2 * c, 1 - chosen + ones * 2 * b), triple, strict=True
    ):
        np.testing.assert_array_equal(leaf.grad.numpy(), sum_to_shape(g, x.shape))


@given(operands(2), st.sampled_from(["maximum", "minimum", "sub", "lt", "atan2", "remainder"]))
def test_functions_of_two_tensors_are_those_of_numpy(pair, name):
    numpy_name = {"sub": "subtract", "lt": "less", "atan2": "arctan2"}.get(name, name)
    with np.errstate(all="ignore"):
        want = getattr(np, numpy_name)(*pair)
    got = getattr(torch, name)(*(torch.from_numpy(x.copy()) for x in pair))
    assert tuple(got.shape) == want.shape
    np.testing.assert_array_equal(got.numpy(), want)


@given(operands(2))
def test_in_place_writes_only_where_the_result_fits(pair):
    a, b = (torch.from_numpy(x.copy()) for x in pair)
    want = pair[0] + pair[1]
    if want.shape == pair[0].shape:
        assert a.add_(b) is a
        np.testing.assert_array_equal(a.numpy(), want)
    else:
        try:
            a.add_(b)
        except RuntimeError as error:
            assert "doesn't match the broadcast shape" in str(error)
        np.testing.assert_array_equal(a.numpy(), pair[0])


def test_gradients_keep_the_dtype_of_their_tensor_beside_integers():
    x = torch.ones(3, requires_grad=True)
    counts = torch.tensor([1, 2, 3])
    for y in (x * counts, counts * x, x / counts, x - counts):
        (gradient,) = torch.autograd.grad(y.sum(), x)
        assert gradient.dtype == torch.float32


def test_the_method_broadcast_to_takes_sizes_or_a_tuple_of_them():
    x = torch.ones(1, 3)
    assert x.broadcast_to(2, 3).shape == x.broadcast_to((2, 3)).shape == (2, 3)
    assert x.broadcast_to(size=(2, 3)).shape == (2, 3)
    with pytest.raises(TypeError, match='missing 1 required positional arguments: "size"'):
        x.broadcast_to()
