"""What is refused first where several arguments do not fit, in PyTorch's words."""

import numpy as np
import pytest

import tapegrad
from tests.messages import raises_beginning

INT, BOOL, COMPLEX = tapegrad.int32, tapegrad.bool, tapegrad.complex64
LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
FIXED = "Trying to resize storage that is not resizable"
EXACT = "Expected out tensor to have dtype float, but got double instead"
SIZES = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"


def ones(*shape, dtype=None):
    return tapegrad.ones(shape, dtype=dtype)


def leaf(*shape):
    return tapegrad.ones(shape, requires_grad=True)


def index(*shape):
    return tapegrad.zeros(shape, dtype=tapegrad.int64)


def fixed(dtype):
    """A tensor without elements in memory that is NumPy's."""
    return tapegrad.from_numpy(np.zeros(0, dtype))


def check(error, message, call):
    with raises_beginning(error, message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.fill_(ones(2, 2)),
        lambda x: x.copy_(ones(3, 3)),
        lambda x: x.geometric_(5),
        lambda x: x.bernoulli_(2.0),
        lambda x: x.index_put_([], ones(2)),
        lambda x: x.index_put_([index(1)] * 3, ones(2)),
    ],
)
def test_a_leaf_is_refused_before_its_arguments(call):
    check(RuntimeError, LEAF, lambda: call(leaf(2)))


def test_logical_operators_write_into_a_leaf_and_keep_its_history():
    x = leaf(2)
    assert x.logical_not_() is x and x.is_leaf and x.requires_grad and x.tolist() == [0.0, 0.0]
    assert x.logical_or_(ones(2)).tolist() == [1.0, 1.0] and x._version == 2
    check(RuntimeError, "output with shape [2]", lambda: x.logical_xor_(ones(2, 2)))
    y = leaf(2) * 2
    node = y.grad_fn
    assert y.logical_and_(tapegrad.zeros(2)).grad_fn is node


@pytest.mark.parametrize(
    "call",
    [
        lambda: tapegrad.gcd(ones(2), ones(3)),
        lambda: tapegrad.bitwise_and(ones(2), ones(3)),
        lambda: tapegrad.bitwise_left_shift(ones(2), ones(3)),
        lambda: tapegrad.masked_fill(ones(3), ones(2), 1),
        lambda: tapegrad.masked_select(ones(3), ones(2, dtype=BOOL)),
    ],
)
def test_shapes_come_before_kernels_and_dtypes(call):
    check(RuntimeError, SIZES, call)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tapegrad.ones(2, out=fixed("f4")),
        lambda: tapegrad.arange(2, out=fixed("f4")),
        lambda: tapegrad.eye(2, out=fixed("f4")),
        lambda: tapegrad.linspace(0, 1, 3, out=fixed("f4")),
        lambda: tapegrad.rand(2, out=fixed("f4")),
        lambda: tapegrad.randint(3, (2,), out=fixed("i8")),
        lambda: tapegrad.randperm(3, out=fixed("i8")),
        lambda: tapegrad.bernoulli(ones(2), out=fixed("f4")),
        lambda: tapegrad.multinomial(ones(3), 2, out=fixed("i8")),
    ],
)
def test_memory_of_numpy_does_not_grow(call):
    check(RuntimeError, FIXED, call)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *[
            (name, "Found dtype Double but expected Float")
            for name in "ceil floor frac neg round sgn sign trunc".split()
        ],
        *[(name, EXACT) for name in "alias_copy squeeze_copy t_copy detach_copy".split()],
        *[
            (name, f"{name} does not support non-boolean outputs.")
            for name in "isneginf isposinf signbit".split()
        ],
    ],
)
def test_functions_that_convert_nothing(name, message):
    out = tapegrad.zeros(2, dtype=tapegrad.float64)
    check(RuntimeError, message, lambda: getattr(tapegrad, name)(ones(2), out=out))
    assert not out.any()


def test_what_has_no_derivative_is_written_into_a_tensor_that_requires_grad():
    out = tapegrad.zeros(2, requires_grad=True)
    assert tapegrad.eq(ones(2), ones(2), out=out) is out and out.is_leaf
    assert out.tolist() == [1.0, 1.0]


def _resized_as(x, other):
    with pytest.warns(UserWarning, match="deprecated"):
        return x.resize_as(other)


CALLS = [
    (
        RuntimeError,
        "the base given to float_power_ has dtype Float but the operation's result requires dtype "
        "Double",
        lambda: leaf(2).float_power_(2),
    ),
    (
        RuntimeError,
        "the output given to float_power has dtype Float but the operation's result requires dtype "
        "Double",
        lambda: tapegrad.float_power(ones(2), 2, out=ones(2)),
    ),
    (
        RuntimeError,
        "ldexp can't be cast to the desired output type Int",
        lambda: ones(2, dtype=INT).ldexp_(ones(2, dtype=INT)),
    ),
    (
        RuntimeError,
        "mvlgamma: result type Int can't be cast to the desired output type Float",
        lambda: ones(2, dtype=INT).mvlgamma_(1),
    ),
    (
        RuntimeError,
        "The input tensor may not be a boolean tensor.",
        lambda: tapegrad.mvlgamma(ones(2, dtype=BOOL), 1),
    ),
    (
        RuntimeError,
        "Bad in-place call: input tensor dtype float and output tensor dtype double should match",
        lambda: ones(2).cumsum_(0, dtype=tapegrad.float64),
    ),
    (
        RuntimeError,
        "t_() expects a tensor with <= 2 dimensions, but self is 3D",
        lambda: ones(2, 2, 2).t_(),
    ),
    (
        RuntimeError,
        "2D tensor expected, got 1D tensor for input",
        lambda: ones(2).addr_(ones(2), ones(2)),
    ),
    (
        RuntimeError,
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dim",
        lambda: ones(2).masked_fill(ones(2), ones(2)),
    ),
    (
        RuntimeError,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dim",
        lambda: ones(2).index_fill(7, index(2, 2), ones(2)),
    ),
    (
        RuntimeError,
        "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.",
        lambda: tapegrad.fill(ones(2), ones(2)),
    ),
    (
        IndexError,
        "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
        "[2, 2] at index 1",
        lambda: ones(2, 2).index_put((index(1), ones(3, dtype=BOOL)), ones(1)),
    ),
    (
        IndexError,
        "too many indices for tensor of dimension 1 (got 2)",
        lambda: ones(2).index_put((ones(2), ones(2)), ones(1)),
    ),
    (ValueError, "slice step cannot be zero", lambda: ones(2)[::0]),
    (
        RuntimeError,
        "index_add_(): Number of indices (3) should be equal to source.size(dim): (2), for dim: 0",
        lambda: ones(2, 2).index_add(0, index(3), ones(2, 3)),
    ),
    (
        IndexError,
        "index_add_(): Index is supposed to be a vector, but got dim: 2 with type: Bool",
        lambda: ones(2, 2).index_add(0, ones(1, 1, dtype=BOOL), ones(1, 2)),
    ),
    (
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
        lambda: ones(3, 1).index_add(0, index(2), tapegrad.tensor(1.0)),
    ),
    (
        RuntimeError,
        "index_add_(): Indexing dim 1 is out of bounds of the source tensor with dim 1",
        lambda: ones(2, 2).index_add(1, index(2), ones(2)),
    ),
    (IndexError, "index out of range in self", lambda: ones(2).index_add(0, index(1) + 5, ones(1))),
    (
        RuntimeError,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest",
        lambda: tapegrad.quantile(ones(0), ones(2, 2), interpolation="none"),
    ),
    (
        RuntimeError,
        "gather(): Expected dtype int32/int64 for index",
        lambda: ones(2).take_along_dim(ones(2)),
    ),
    (
        RuntimeError,
        "torch.take_along_dim(): input and indices should have the same number of dimensions",
        lambda: ones(2, 2).take_along_dim(ones(2), 0),
    ),
    (
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 4",
        lambda: tapegrad.prelu(ones(2, 2), ones(2, 2)),
    ),
    (
        RuntimeError,
        "prelu: Type promoting not supported. Got Float and Int",
        lambda: tapegrad.prelu(ones(2, 2), ones(2, 2, dtype=INT)),
    ),
    (
        NotImplementedError,
        "\"threshold_cpu\" not implemented for 'ComplexFloat'",
        lambda: tapegrad.threshold(ones(2, dtype=COMPLEX), 1j, 0.0),
    ),
    (
        NotImplementedError,
        "\"repeat_interleave_cpu\" not implemented for 'Float'",
        lambda: tapegrad.repeat_interleave(ones(2, 2)),
    ),
    (
        RuntimeError,
        "repeats must be 0-dim or 1-dim tensor",
        lambda: ones(2).repeat_interleave(index(1, 2), 5),
    ),
    (
        RuntimeError,
        "expand(CPUComplexFloatType{[2, 2]}, size=[2]): the number of sizes provided (1)",
        lambda: ones(2, 2, dtype=COMPLEX).expand(2),
    ),
    (
        ValueError,
        "Attempting to broadcast a dimension with negative length!",
        lambda: tapegrad.broadcast_shapes((-1,), (2,)),
    ),
    (
        RuntimeError,
        "both dimension lists should have same length",
        lambda: tapegrad.tensordot(ones(2, 2), ones(2, 2), ([7], [])),
    ),
    (
        TypeError,
        "tensordot(): argument 'dims_self' (position 3) must be tuple of ints, not int",
        lambda: tapegrad.tensordot(ones(2, 2), ones(2, 2), (1, 2)),
    ),
    (TypeError, "must be real number, not NoneType", lambda: tapegrad.tensor(None, dtype=COMPLEX)),
    (
        TypeError,
        "'NoneType' object cannot be interpreted as an integer",
        lambda: tapegrad.tensor([None], dtype=BOOL),
    ),
    (
        TypeError,
        "is_contiguous() takes 0 positional arguments but 1 was given",
        lambda: ones(2).is_contiguous(tapegrad.contiguous_format),
    ),
    (
        RuntimeError,
        "tensor_split expected tensor_indices_or_sections to have dtype of long, but got Float",
        lambda: ones(2).tensor_split(ones(2, 2), 5),
    ),
    (
        IndexError,
        "slice() cannot be applied to a 0-dim tensor.",
        lambda: tapegrad.slice_scatter(tapegrad.tensor(1.0), ones(1), step=-1),
    ),
    (
        RuntimeError,
        "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype Float",
        lambda: tapegrad.searchsorted(ones(2, 2), 1, sorter=ones(2, 2)),
    ),
    (
        RuntimeError,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension "
        "is 1, but we got boundaries tensor dim(0) and input value's dim(0) numel(1)",
        lambda: tapegrad.searchsorted(tapegrad.tensor(1.0), 10),
    ),
    (
        RuntimeError,
        "nanmean(): could not infer output dtype. Optional dtype must be either a floating point "
        "or complex dtype. Got: Int",
        lambda: tapegrad.nanmean(ones(2), dtype=INT),
    ),
    (
        RuntimeError,
        "nanmean(): expected input to have floating point or complex dtype but got Int",
        lambda: ones(2, dtype=INT).nanmean(dtype=INT),
    ),
    (
        IndexError,
        "slice() cannot be applied to a 0-dim tensor.",
        lambda: tapegrad.tensor(1.0).slice_scatter(ones(1), 3),
    ),
    (
        RuntimeError,
        "slice step must be positive",
        lambda: tapegrad.slice_copy(ones(2), 0, 0, 2, -1),
    ),
    (
        RuntimeError,
        "chunk expects `chunks` to be greater than 0, got: 0",
        lambda: ones(2).chunk(0, 7),
    ),
    (
        RuntimeError,
        "split expects split_size be non-negative, but got split_size=-1",
        lambda: ones(2).split(-1, 7),
    ),
    (
        IndexError,
        "index_fill_(): Expected dtype int64 for index.",
        lambda: ones(2).index_fill(7, ones(1), 1),
    ),
    (
        ValueError,
        "Input tensor must have at least 2 dimensions, but got 1",
        lambda: tapegrad.rms_norm(ones(2), (2, 2)),
    ),
    (RuntimeError, "selected index k out of range", lambda: ones(2, dtype=COMPLEX).topk(3)),
    (
        RuntimeError,
        "Supports 1D or 2D tensors. Got 3D",
        lambda: tapegrad.diag(ones(2, 2, 2), out=ones(0)),
    ),
    (
        NotImplementedError,
        "\"dot\" not implemented for 'Bool'",
        lambda: tapegrad.vdot(ones(2, dtype=BOOL), ones(2, dtype=BOOL)),
    ),
    (
        NotImplementedError,
        "\"unique\" not implemented for 'ComplexFloat'",
        lambda: ones(2, dtype=COMPLEX).unique_consecutive(dim=0),
    ),
    (
        RuntimeError,
        "Index tensor must have the same number of dimensions as self tensor",
        lambda: ones(2).scatter_reduce(0, index(2, 2), ones(2), "multiply"),
    ),
    (
        NotImplementedError,
        "\"linspace_cpu\" not implemented for 'Bool'",
        lambda: tapegrad.histc(ones(2, dtype=BOOL)),
    ),
    (
        RuntimeError,
        "bernoulli_ expects p to be in [0, 1], but got p=4",
        lambda: tapegrad.bernoulli(ones(2), tapegrad.tensor(4)),
    ),
    (
        RuntimeError,
        "split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's size at "
        "dimension -1), but got split_sizes=[5]",
        lambda: ones(2).split_with_sizes([5], -1),
    ),
    (
        RuntimeError,
        "requested resize to 2x2 (4 elements in total), but the given tensor has a size of 3",
        lambda: _resized_as(ones(3), ones(2, 2)),
    ),
    (
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
        lambda: tapegrad.bilinear(ones(1), ones(1), ones(1)),
    ),
]


@pytest.mark.parametrize(("error", "message", "call"), CALLS, ids=[each[1][:40] for each in CALLS])
def test_the_first_complaint_is_pytorchs(error, message, call):
    check(error, message, call)


@pytest.mark.parametrize(
    ("call", "node"),
    [
        (lambda x, src: x.scatter(0, index(0, 3), src), "ScatterBackward0"),
        (lambda x, src: x.scatter_add(0, index(0, 3), src), "ScatterAddBackward0"),
    ],
)
def test_an_index_without_elements_has_its_place_in_the_graph(call, node):
    x, src = leaf(2, 3), leaf(1, 3)
    y = call(x, src)
    assert type(y.grad_fn).__name__ == node
    y.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2 and src.grad.tolist() == [[0.0] * 3]
