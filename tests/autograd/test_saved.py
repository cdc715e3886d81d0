"""What a node keeps, and that nobody wrote to it since."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F

CHOOSING = {
    "sort": lambda x: torch.sort(x, -1),
    "topk": lambda x: torch.topk(x, 2),
    "max": lambda x: torch.max(x, 1),
    "cummax": lambda x: torch.cummax(x, 1),
    "median": lambda x: torch.median(x, 1),
    "kthvalue": lambda x: torch.kthvalue(x, 1),
    "mode": lambda x: torch.mode(x, 1),
    "max_pool1d": lambda x: F.max_pool1d(x[0], 2, return_indices=True),
    "max_pool2d": lambda x: F.max_pool2d(x, 2, return_indices=True),
    "adaptive_max_pool3d": lambda x: F.adaptive_max_pool3d(x, 2, return_indices=True),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x, 2, 2, return_indices=True),
}
MODIFIED = (
    r"one of the variables needed for gradient computation has been modified by an inplace "
    r"operation: \[torch\.LongTensor \[[\d, ]+\]\] is at version 1; expected version 0 instead\. "
)


@pytest.mark.parametrize("name", CHOOSING)
def test_indices_that_were_written_to_make_no_wrong_gradient(name):
    x = torch.arange(96.0).reshape(2, 3, 4, 4).requires_grad_()
    values, indices = CHOOSING[name](x)
    indices.zero_()
    with pytest.raises(RuntimeError, match=MODIFIED):
        values.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=MODIFIED):
        torch.autograd.grad(values.sum(), x, create_graph=True)


def test_indices_are_kept_and_packed_as_the_tensors_they_are():
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, indices = x.sort()
    assert values.grad_fn._saved_indices is indices
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        values, indices = x.sort()
    assert any(t is indices for t in packed)
    (values * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [3, 1, 2]


def _times_twelve():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    return x, w, x * w * w


def test_values_that_an_input_gets_by_data_are_those_of_the_backward_pass():
    x, w, y = _times_twelve()
    w.data = torch.tensor([10.0, 20.0])
    assert w._version == 0
    gx, gw = torch.autograd.grad(y.sum(), [x, w], create_graph=True)
    assert gx.tolist() == [100, 400]
    assert gw.tolist() == [13, 48]  # x w was computed before
    assert torch.autograd.grad(gw.sum(), x)[0].tolist() == [20, 40]


def test_values_that_an_output_gets_by_data_are_not():
    x = torch.zeros(2, requires_grad=True)
    y = x.exp()
    y.data = torch.tensor([5.0, 6.0])
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_values_got_by_data_that_do_not_fit_are_an_error():
    x = torch.ones(3, requires_grad=True)
    y = x * x
    x.data = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match"):
        y.sum().backward()


def test_a_write_to_values_got_by_data_is_an_error():
    x = torch.ones(2, requires_grad=True)
    z = x * 1
    y = z * z
    z.data = torch.ones(2)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_leaf_of_another_dtype_is_another_leaf_to_graphs_of_before():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    x.data = x.data.double()
    assert torch.autograd.grad(y, x, allow_unused=True) == (None,)
    (x * 3).sum().backward()
    assert x.grad.dtype == torch.float64


def test_create_graph_may_be_a_number():
    x = torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=1)
    assert slope.requires_grad


def test_a_tensor_that_got_other_values_is_compiled():
    layer = torch.nn.Linear(2, 1).to(torch.float32)
    x = torch.ones(2, requires_grad=True)
    y = (x * layer.weight).sum()
    layer.weight.data = torch.tensor([[3.0, 4.0]])
    y.backward()
    assert x.grad.tolist() == [3, 4]
    slope = torch.compile(lambda x: torch.autograd.grad((layer(x) ** 2).sum(), layer.weight)[0])
    for _ in range(3):
        slope(x.detach())
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.fill_(0.5)
    assert slope(x.detach()).tolist() == [[1, 1]]
