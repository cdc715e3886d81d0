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
