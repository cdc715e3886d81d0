"""Two tensors become each other."""

import gc
import weakref

import pytest

import tapegrad
from tapegrad.utils import swap_tensors
from tests.needs import pytorch


def test_class_values_and_attributes_are_exchanged():
    a, b = tapegrad.nn.Parameter(tapegrad.zeros(2)), tapegrad.ones(3)
    a.note = "a"
    one, other = id(a), id(b)
    swap_tensors(a, b)
    assert (id(a), id(b)) == (one, other)
    assert type(a) is tapegrad.Tensor and type(b) is tapegrad.nn.Parameter
    assert a.tolist() == [1, 1, 1] and b.tolist() == [0, 0]
    assert b.note == "a" and not hasattr(a, "note")
    assert b.requires_grad and not a.requires_grad


def test_gradients_go_with_the_values():
    x = tapegrad.zeros(2, requires_grad=True)
    (3 * x).sum().backward()
    y = tapegrad.ones(2, requires_grad=True)
    swap_tensors(x, y)
    assert x.grad is None and y.grad.tolist() == [3, 3]
    (2 * y).sum().backward()
    x.sum().backward()
    assert y.grad.tolist() == [5, 5] and x.grad.tolist() == [1, 1]


def test_results_keep_their_history():
    x = tapegrad.ones(2, requires_grad=True)
    y, z = 2 * x, tapegrad.zeros(2)
    swap_tensors(y, z)
    assert y.grad_fn is None
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_hooks_go_with_the_values():
    x = tapegrad.zeros(2, requires_grad=True)
    x.register_hook(lambda g: 10 * g)
    y = tapegrad.ones(2, requires_grad=True)
    swap_tensors(x, y)
    (x + y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1, 1], [10, 10])


def test_a_graph_of_before_cannot_give_its_gradient():
    for torch in (tapegrad, pytorch()):
        x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
        z = (x * 2).sum()
        torch.utils.swap_tensors(x, y)
        with pytest.raises(RuntimeError, match="node that was poisoned by swap_tensors"):
            z.backward()
        assert x.grad is None and y.grad is None


def test_after_a_swap_leaves_take_part_in_new_graphs():
    x, y = (tapegrad.ones(2, requires_grad=True) for _ in range(2))
    of_before = x * 2
    swap_tensors(x, y)
    (y + 3 * x).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3, 3], [1, 1])
    assert of_before.requires_grad


@pytest.mark.parametrize("which", ["t1", "t2"])
def test_tensors_that_are_weakly_held_are_refused(which):
    for torch in (tapegrad, pytorch()):
        given = {"t1": torch.zeros(2), "t2": torch.ones(2)}
        held = weakref.ref(given[which])
        message = f"Cannot swap {which} because it has weakref associated with it"
        with pytest.raises(RuntimeError, match=message):
            torch.utils.swap_tensors(given["t1"], given["t2"])
        assert held() is given[which]


def test_tensors_with_views_are_refused():
    gc.collect()
    x = tapegrad.zeros(2)
    view = x[:1]
    with pytest.raises(RuntimeError, match="a view of it is alive"):
        swap_tensors(x, tapegrad.ones(3))
    assert view.tolist() == [0]


def test_classes_with_other_slots_are_refused():
    class Slotted(tapegrad.Tensor):
        __slots__ = ("more",)

    with pytest.raises(RuntimeError, match="Cannot swap t1 and t2 if they have different slots"):
        swap_tensors(tapegrad.zeros(2), tapegrad.ones(2).as_subclass(Slotted))
