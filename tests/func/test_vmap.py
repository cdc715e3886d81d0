"""`torch.func.vmap`: dimensions, trees, randomness, writes, and what it refuses."""

import gc
import warnings
from collections import namedtuple

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.batched import per_sample
from tapegrad.arrays.batched.array import Level
from tapegrad.func import vmap
from tests.messages import raises

X = torch.arange(6.0).reshape(2, 3)


def values(tensor):
    return tensor.tolist()


# --- dimensions and trees ---


def test_the_first_dimension_is_mapped_over():
    assert values(vmap(torch.sum)(X)) == [3.0, 12.0]
    assert values(torch.vmap(torch.dot)(X, X)) == [5.0, 50.0]


def test_in_dims_name_a_dimension_of_each_argument():
    assert vmap(torch.sin, in_dims=-1)(X).shape == (3, 2)
    assert values(vmap(torch.add, in_dims=(1, None))(X, torch.tensor([10.0, 20.0]))) == [
        [10.0, 23.0],
        [11.0, 24.0],
        [12.0, 25.0],
    ]


def test_out_dims_say_where_the_batch_appears():
    found = vmap(lambda x: {"a": x, "b": [x]}, out_dims={"a": 1, "b": 0})(X)
    assert found["a"].shape == (3, 2) and found["b"][0].shape == (2, 3)
    assert vmap(lambda x: x, out_dims=(-1,))(X).shape == (3, 2)


def test_arguments_and_results_are_trees():
    Pair = namedtuple("Pair", "u v")
    found = vmap(lambda p: Pair(p.u + p.v, p.u), in_dims=(Pair(0, None),))(Pair(X, torch.ones(3)))
    assert type(found) is Pair
    assert values(found.u) == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_keyword_arguments_are_not_mapped_over():
    assert vmap(lambda x, y=None: x + y)(X, y=X).shape == (2, 2, 3)


def test_results_that_are_not_mapped_are_repeated_or_handed_on():
    assert values(vmap(lambda x: torch.ones(2))(X)) == [[1.0, 1.0], [1.0, 1.0]]
    assert values(vmap(lambda x: torch.ones(2), out_dims=None)(X)) == [1.0, 1.0]


def test_levels_nest():
    a, b = torch.arange(3.0), torch.arange(4.0)
    outer = vmap(vmap(torch.mul, in_dims=(None, 0)), in_dims=(0, None))(a, b)
    assert values(outer) == values(a[:, None] * b)


def test_chunks_give_the_same():
    x = torch.arange(10.0).reshape(5, 2)
    found = vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0), chunk_size=2)(x)
    assert found[0].shape == (2, 5)
    assert values(found[1]) == values(x.sum(1))


def test_an_empty_batch_gives_empty_results():
    assert vmap(torch.sum)(torch.ones(0, 2)).shape == (0,)


def test_a_tensor_inside_has_the_shape_of_one_member():
    seen = []

    def look(x):
        seen.append((tuple(x.shape), x.dim(), x.numel(), len(x), x.stride(), x.dtype))
        return x

    vmap(look, in_dims=1)(X)
    assert seen == [((2,), 1, 2, 2, (3,), torch.float32)]


def test_a_tensor_inside_prints_the_whole_batch():
    texts = []
    vmap(lambda x: (texts.append(repr(x)), x)[1])(X)
    (text,) = texts
    assert text == (
        "BatchedTensor(lvl=1, bdim=0, value=\n"
        "    tensor([[0., 1., 2.],\n            [3., 4., 5.]])\n)"
    )


# --- gradients pass the border of a level ---


def test_gradients_of_what_is_mapped_and_of_what_is_the_same_for_all():
    x, w = X.clone().requires_grad_(), torch.ones(3, requires_grad=True)
    vmap(lambda x: (x * w).sum() ** 2)(x).sum().backward()
    assert values(w.grad) == [72.0, 102.0, 132.0]
    assert values(x.grad) == [[6.0, 6.0, 6.0], [24.0, 24.0, 24.0]]


def test_batched_cotangents_are_pulled_back_in_one_pass():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x**2
    (rows,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    assert values(rows) == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    (mapped,) = vmap(lambda g: torch.autograd.grad(y, x, g))(torch.eye(3))
    assert values(mapped) == values(rows)


# --- writes ---


def test_writes_go_into_the_batch():
    z = X.clone()
    assert values(vmap(lambda x: x.mul_(2))(z)) == values(X * 2) == values(z)


def test_members_are_written_part_by_part():
    def first_only(x):
        y = torch.zeros_like(x)
        y[0] = x[0]
        z = x.new_zeros(3)
        z[1:] += x[1:]
        return y - z

    assert values(vmap(first_only)(X)) == [[0.0, -1.0, -2.0], [3.0, -4.0, -5.0]]


def test_a_mapped_index_reads_and_writes():
    i = torch.tensor([0, 2])
    assert values(vmap(lambda x, i: x[i])(X, i)) == [0.0, 5.0]
    assert values(vmap(lambda x, i: x[i], in_dims=(None, 0))(X[0], i)) == [0.0, 2.0]
    put = vmap(lambda x, i: x.clone().index_put_((i,), torch.tensor(9.0)))
    assert values(put(X, i[:, None])) == [[9.0, 1.0, 2.0], [3.0, 4.0, 9.0]]


def test_a_mapped_mask_writes_one_number():
    def clipped(x):
        x = x.clone()
        x[x > 2] = 0.0
        return x

    assert values(vmap(clipped)(X)) == [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]


# --- randomness: the numbers are PyTorch's ---


def drawn(randomness, function):
    torch.manual_seed(0)
    return np.asarray(vmap(function, randomness=randomness)(X)).round(4).tolist()


def test_random_functions_are_refused_unless_allowed():
    for function in (torch.randn_like, torch.bernoulli, lambda x: x + torch.rand(3)):
        with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness"):
            vmap(function)(X / 6)


def test_different_numbers_for_each_member():
    different = [[0.4963, 0.7682, 0.0885], [0.1320, 0.3074, 0.6341]]
    for function in (
        lambda x: torch.rand(3),
        torch.rand_like,
        lambda x: torch.zeros_like(x).uniform_(),
    ):
        np.testing.assert_allclose(drawn("different", function), different, atol=1e-6)
    assert drawn("different", lambda x: torch.randperm(4)) == [[0, 1, 3, 2], [0, 2, 3, 1]]
    assert drawn("different", lambda x: torch.bernoulli(x / 6)) == [[0, 0, 1], [1, 1, 1]]
    dropped = drawn("different", torch.nn.functional.dropout)
    assert dropped == [[0.0, 0.0, 4.0], [0.0, 0.0, 0.0]]


def test_the_same_numbers_for_all_members():
    same = [[0.4963, 0.7682, 0.0885]] * 2
    for function in (lambda x: torch.rand(3), lambda x: torch.zeros(3).uniform_()):
        np.testing.assert_allclose(drawn("same", function), same, atol=1e-6)
    dropped = drawn("same", torch.nn.functional.dropout)
    assert dropped == [[0.0, 0.0, 4.0], [0.0, 0.0, 10.0]]
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        drawn("same", lambda x: torch.bernoulli(x / 6))


def test_a_tensor_that_is_not_mapped_is_not_filled_differently():
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        drawn("different", lambda x: torch.zeros(3).uniform_())


# --- loops ---


def test_what_has_no_rule_loops_and_says_so_once():
    per_sample._warned.discard("bincount")
    x = torch.tensor([[0, 1, 1], [2, 2, 2]])
    count = vmap(lambda x: torch.bincount(x, minlength=3))
    with pytest.warns(UserWarning, match="batching rule for aten::bincount"):
        assert values(count(x)) == [[1, 2, 0], [0, 0, 3]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count(x)


# --- what it refuses, in PyTorch's words ---


def refused(error, message, function):
    with raises(error, message):
        function()


START = "vmap(sin, in_dims={}, ...)(<inputs>): "


@pytest.mark.parametrize(
    ("in_dims", "message"),
    [
        (
            None,
            "expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
            "of inputs, got: <class 'NoneType'>.",
        ),
        (
            (0, 0),
            "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            "TreeSpec(tuple, None, [*,\n  *]) but inputs has structure TreeSpec(tuple, None, [*]).",
        ),
        (
            ("a",),
            "Got in_dim=a for an input but in_dim must be either an integer dimension or None.",
        ),
        (
            (2,),
            "Got in_dim=2 for some input, but that input is a Tensor of dimensionality 2 so "
            "expected in_dim to satisfy -2 <= in_dim < 2.",
        ),
    ],
)
def test_in_dims_that_do_not_fit(in_dims, message):
    start = START.format(in_dims)
    refused(ValueError, start + message, lambda: vmap(torch.sin, in_dims=in_dims)(X))


def test_batches_that_do_not_fit():
    refused(
        ValueError,
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        "[2, 3] for the mapped dimension",
        lambda: vmap(torch.add)(X, torch.ones(3, 3)),
    )
    refused(
        ValueError,
        "vmap: Expected at least one Tensor to vmap over",
        lambda: vmap(torch.sin, in_dims=(None,))(X),
    )
    refused(
        ValueError,
        "vmap(sin, in_dims=0, ...)(<inputs>): Got in_dim=0 for an input but the input is of type "
        "<class 'float'>. We cannot vmap over non-Tensor arguments, please use None as the "
        "respective in_dim",
        lambda: vmap(torch.sin)(1.0),
    )


def test_results_that_do_not_fit():
    def one(x):
        return 1

    refused(
        ValueError,
        "vmap(one, ...): `one` must only return Tensors, got type <class 'int'>. Did you mean to "
        "set out_dims= to None for output?",
        lambda: vmap(one)(X),
    )
    refused(
        ValueError,
        "vmap(sin, ...): `sin` can not return a BatchedTensor when out_dim is None",
        lambda: vmap(torch.sin, out_dims=None)(X),
    )
    refused(
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
        lambda: vmap(torch.sin, out_dims=5)(X),
    )


def test_other_arguments():
    refused(
        RuntimeError,
        "Only allowed values for randomness are 'error', 'different', or 'same'. Got foo",
        lambda: vmap(torch.sin, randomness="foo"),
    )
    refused(
        ValueError,
        "vmap: chunk_size should be None or greater than 0. (got 0)",
        lambda: vmap(torch.sin, chunk_size=0),
    )


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.sum().item(), "It looks like you're calling .item() on a Tensor."),
        (lambda x: float(x.sum()), "It looks like you're calling .item() on a Tensor."),
        (lambda x: x if x.sum() > 0 else -x, "in some data-dependent control flow."),
        (lambda x: x.nonzero(), "can output dynamic shape. Attempted to vmap over aten::nonzero."),
        (lambda x: x.unique(), "can output dynamic shape. Attempted to vmap over aten::_unique2."),
        (lambda x: x[x > 1], "can support dynamic shape. Attempting to batch over indexing"),
        (lambda x: x.numpy(), "Cannot access data pointer of Tensor that doesn't have storage"),
        (lambda x: x.requires_grad_(), "You are attempting to call Tensor.requires_grad_()"),
    ],
)
def test_what_one_member_cannot_be_asked(function, message):
    with pytest.raises(RuntimeError) as caught:
        vmap(function)(X)
    assert message in str(caught.value)


# --- functions of the user ---


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()


class GeneratedSine(Sine):
    generate_vmap_rule = True


class RuledSine(Sine):
    seen = ()

    @staticmethod
    def vmap(info, in_dims, x):
        RuledSine.seen += ((info.batch_size, info.randomness, in_dims, tuple(x.shape)),)
        return RuledSine.apply(x), in_dims[0]


class OldSine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sin()


def test_a_function_of_the_user_needs_a_rule_for_batches():
    for function in (GeneratedSine, RuledSine):
        slopes = vmap(torch.func.grad(lambda x, f=function: f.apply(x).sum()))(X)
        np.testing.assert_allclose(np.asarray(slopes), np.cos(np.asarray(X)), rtol=1e-6)
    assert RuledSine.seen == ((2, "error", (0,), (2, 3)),)
    with pytest.raises(RuntimeError, match="over Sine, but it does not have vmap support"):
        vmap(Sine.apply)(X)
    with pytest.raises(RuntimeError, match="it must override the setup_context staticmethod"):
        torch.func.grad(lambda x: OldSine.apply(x).sum())(X)


# --- memory ---


def levels():
    return sum(type(x) is Level for x in gc.get_objects())


def test_a_level_goes_with_the_last_tensor_of_it():
    gc.collect()
    before = levels()
    gc.disable()
    try:
        vmap(torch.sin)(X)
        vmap(torch.func.grad(torch.sum))(X)
        torch.func.jacfwd(torch.sin)(X)
        assert levels() == before, "a cycle of references keeps a level"
    finally:
        gc.enable()


def test_the_rule_of_a_custom_function_is_told_of_tensors_in_lists():
    seen = []

    class Plus(torch.autograd.Function):
        @staticmethod
        def forward(x, others):
            return x + others[0]

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, others):
            seen.append(in_dims)
            return x + others[0], 0

    x = torch.ones(3)
    assert vmap(lambda x: Plus.apply(x, [x, 2]))(x).tolist() == [2, 2, 2]
    assert vmap(lambda x: Plus.apply(torch.zeros(()), [x]))(x).tolist() == [1, 1, 1]
    assert seen == [(0, [0, None]), (None, [0])]
