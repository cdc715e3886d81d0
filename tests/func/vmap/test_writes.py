"""Writes inside `vmap` into what is the same for each member: refused, in PyTorch's words."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad.func import grad, jvp, vmap
from tests.messages import raises

X = torch.tensor([[0.6, 0.2, 0.9], [0.1, 0.7, 0.3], [0.5, 0.4, 0.8], [0.2, 0.9, 0.1]])
I = torch.tensor([[0], [1], [2], [0]])  # noqa: E741
FIRST = torch.tensor([0])

WRITES = {
    "inplace arithmetic": {
        "sub_": lambda z, x, i: z.sub_(x),
        "mul_": lambda z, x, i: z.mul_(x),
        "div_": lambda z, x, i: z.div_(x),
        "copy_": lambda z, x, i: z.copy_(x),
        "masked_fill_": lambda z, x, i: z.masked_fill_(x > 0.5, 1.0),
        "one element": lambda z, x, i: z.__setitem__(0, x[0]),
        "a slice": lambda z, x, i: z.__setitem__(slice(1, None), x[1:]),
    },
    "fill_": {"fill_": lambda z, x, i: z.fill_(x[0])},
    "index_put_": {
        "index_put_": lambda z, x, i: z.index_put_((FIRST,), x[:1]),
        "a list": lambda z, x, i: z.__setitem__([0, 1], x[1:]),
        "a mapped index": lambda z, x, i: z.__setitem__(i, 1.0),
    },
    "index_add_": {"index_add_": lambda z, x, i: z.index_add_(0, FIRST, x[:1])},
    "index_fill_": {"index_fill_": lambda z, x, i: z.index_fill_(0, i, 1.0)},
    "scatter_add_": {"scatter_add_": lambda z, x, i: z.scatter_add_(0, FIRST, x[:1])},
    "aten::scatter_": {"scatter_": lambda z, x, i: z.scatter_(0, FIRST, x[:1])},
    "aten::pow_": {"pow_": lambda z, x, i: z.pow_(x)},
    "aten::addcmul_": {"addcmul_": lambda z, x, i: z.addcmul_(x, x)},
    "aten::index_copy_": {"index_copy_": lambda z, x, i: z.index_copy_(0, FIRST, x[:1])},
    "aten::clamp_": {"clamp_": lambda z, x, i: z.clamp_(min=x)},
}
CASES = [
    pytest.param(name, write, id=case)
    for name, writes in WRITES.items()
    for case, write in writes.items()
]


def refusal(name):
    where = "at level 1" if name.startswith("aten::") else "in a vmap"
    return (
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped "
        f"over but `self` not being vmapped over {where}. Please try to use out-of-place operators "
        f"instead of {name}. If said operator is being called inside the PyTorch framework, please "
        "file a bug report instead."
    )


@pytest.mark.parametrize(("name", "write"), CASES)
def test_a_tensor_from_outside_takes_nothing_that_is_mapped(name, write):
    z = torch.zeros(3)
    with raises(RuntimeError, refusal(name)):
        vmap(lambda x, i: write(z, x, i))(X, I)
    assert z.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("name", "write"), CASES)
def test_nor_does_one_made_inside_that_is_the_same_for_each(name, write):
    with raises(RuntimeError, refusal(name)):
        vmap(lambda x, i: write(torch.zeros(3), x, i))(X, I)


@pytest.mark.parametrize(
    ("write", "shapes"),
    [
        (lambda z, x: z.add_(x), "[3] doesn't match the broadcast shape [4, 3]"),
        (lambda z, x: z.add_(x[0]), "[3] doesn't match the broadcast shape [4, 3]"),
        (lambda z, x: z[:1].add_(x[:1]), "[1] doesn't match the broadcast shape [4, 1]"),
        (lambda z, x: z[0].add_(x[0]), "[] doesn't match the broadcast shape [4]"),
        (lambda z, x: z.atan2_(x), "[3] doesn't match the broadcast shape [4, 3]"),
    ],
)
def test_some_operators_speak_of_shapes(write, shapes):
    z = torch.zeros(3)
    with raises(RuntimeError, f"output with shape {shapes}"):
        vmap(lambda x: write(z, x))(X)
    assert z.tolist() == [0.0, 0.0, 0.0]


def test_what_is_the_same_for_each_member_may_be_written():
    z = torch.zeros(3)
    vmap(lambda x: (z.add_(1.0), x)[1])(X)
    assert z.tolist() == [1.0, 1.0, 1.0]


# --- .data and the memory itself ---


def test_data_is_not_for_batches():
    read = "accessing `data` under vmap transform is not allowed"
    for f in (vmap(lambda x: x.data), lambda x: grad(lambda y: vmap(lambda x: x.data)(y).sum())(x)):
        with raises(RuntimeError, read):
            f(X)
    written = "mutating directly with `.data` under vmap transform is not allowed."
    z = torch.zeros(3)
    for f in (lambda x: setattr(x, "data", torch.ones(3)), lambda x: setattr(z, "data", x)):
        with raises(RuntimeError, written):
            vmap(f)(X)
    assert z.tolist() == [0.0, 0.0, 0.0]


def test_data_of_what_another_transform_gives_is_allowed():
    x = X.clone()
    assert vmap(grad(lambda x: (x.data * x).sum()))(x).tolist() == x.tolist()
    assert vmap(lambda x: jvp(lambda y: y.data * y, (x,), (x,))[0])(x).shape == (4, 3)
    z = torch.zeros(3)
    vmap(lambda x: (setattr(z, "data", torch.ones(3)), x)[1])(x)
    assert z.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "use", [copy.copy, copy.deepcopy, pickle.dumps, torch.Tensor.untyped_storage]
)
def test_a_batch_has_no_memory_to_copy_or_share(use):
    with raises(NotImplementedError, "Cannot access storage of BatchedTensorImpl"):
        vmap(use)(X)


def test_retain_grad_needs_a_gradient_first():
    with raises(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        vmap(torch.Tensor.retain_grad)(X)


def test_comparisons_that_give_one_answer_for_all():
    message = "Batching rule not implemented for aten::equal. We could not generate a fallback."
    with raises(RuntimeError, message):
        vmap(lambda x: torch.equal(x, x))(X)
    with pytest.raises(RuntimeError, match=r"vmap over torch\.allclose isn't supported yet"):
        vmap(lambda x: torch.allclose(x, x))(X)
    with pytest.raises(RuntimeError, match=r"vmap: Attempted to vmap over `mask` in torch\.masked"):
        vmap(torch.masked_select)(X, X > 0.5)


def test_batch_norm_does_not_move_what_members_have_in_common():
    layer = torch.nn.BatchNorm1d(3)
    with pytest.raises(RuntimeError, match=r"^Batch norm got a batched tensor as input while the"):
        vmap(layer)(torch.ones(4, 2, 3))
    assert layer.running_mean.tolist() == [0.0, 0.0, 0.0]
    mean, var = torch.zeros(4, 3), torch.ones(4, 3)
    batch_norm = torch.nn.functional.batch_norm
    vmap(lambda x, m, v: batch_norm(x, m, v, training=True))(
        X.repeat(1, 1, 2).reshape(4, 2, 3), mean, var
    )
    assert mean[0].tolist() == pytest.approx((X[0] * 0.1).tolist())
