"""allow_mutation_on_saved_tensors: a graph keeps what was there before a write."""

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning

graph = torch.autograd.graph
allowed = graph.allow_mutation_on_saved_tensors
OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the "
    "graph was originally recorded."
)


def no_grad_zero(b):
    with torch.no_grad():
        b.zero_()


@pytest.mark.parametrize(
    "write",
    [
        lambda b: b.sin_(),
        lambda b: b.zero_(),
        lambda b: b[:1].zero_(),
        lambda b: b.copy_(torch.ones(2)),
        lambda b: b.detach().add_(1),
        lambda b: b.data.mul_(3),
        lambda b: torch.add(torch.ones(2), 1, out=b.data),
        lambda b: b.__setitem__(0, 4.0),
        lambda b: b.normal_(),
        lambda b: b.unsqueeze_(0),
        no_grad_zero,
    ],
)
def test_a_graph_keeps_what_was_there_before_a_write(write):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with allowed():
        b = a.clone()
        out = (b**2).sum() + (b[1:] ** 3).sum()
        write(b)
        write(b)
        out.backward(retain_graph=True)
        assert a.grad.tolist() == [2.0, 16.0]
        out.backward()


def test_nothing_is_copied_before_a_write():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with allowed():
        b = a.clone()
        out = b**2
        assert out.grad_fn._saved_self._array is b._array
        b.zero_()
        assert out.grad_fn._saved_self._array is not b._array


def test_an_optimizer_may_step_before_the_backward_pass():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    w.grad = torch.ones(2)
    with allowed():
        out = (a * w).sum()
        torch.optim.SGD([w], lr=1.0).step()
        out.backward()
    assert a.grad.tolist() == [3.0, 4.0] and w.tolist() == [2.0, 3.0]


def test_a_graph_ends_with_its_block():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with allowed():
        out = (a.clone() ** 2).sum()
    with raises(AssertionError, OUTSIDE):
        out.backward()


def test_a_graph_from_before_is_watched_as_ever():
    b = torch.tensor([1.0, 2.0], requires_grad=True).clone()
    out = (b**2).sum()
    with allowed():
        b.sin_()
        with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
            out.backward()


def test_a_write_that_nobody_announces_is_found():
    b = torch.tensor([1.0, 2.0], requires_grad=True).clone()
    with allowed():
        out = (b**2).sum()
        graph.increment_version(b)
        with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
            out.backward()


def test_blocks_are_not_nested():
    with raises(RuntimeError, "allow_mutation_on_saved_tensors contexts cannot be nested"):
        with allowed(), allowed():
            pass
    with allowed():
        pass


def test_hooks_inside_the_block_pack_instead():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with allowed(), graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        out = (a.clone() ** 2).sum()
    out.backward()
    assert a.grad.tolist() == [20.0, 40.0]


def test_what_two_nodes_keep_of_a_tensor_is_copied_once():
    with allowed() as context:
        a = torch.rand(2, requires_grad=True).clone()
        results = a**2, a**3
        a.sin_()
        assert len({id(each.array) for each in context._all if each.counter is None}) == 1
        del results
