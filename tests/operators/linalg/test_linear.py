"""A layer asks less than `addmm` does, and gives the same."""

import pytest

import tapegrad as torch

linear = torch.nn.functional.linear


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize(("n", "inside", "out"), [(5, 3, 2), (1, 1, 1), (0, 3, 2), (5, 0, 2)])
def test_a_layer_is_a_product_added_to_its_bias(dtype, n, inside, out):
    torch.manual_seed(0)
    found = []
    x, weight, bias = (torch.randn(*s).to(dtype) for s in ((n, inside), (out, inside), (out,)))
    for call in (linear, lambda x, w, b: torch.addmm(b, x, w.t())):
        leaves = [t.clone().requires_grad_() for t in (x, weight, bias)]
        y = call(*leaves)
        y.backward(torch.ones_like(y))
        found.append([y.detach(), *[t.grad for t in leaves]])
        assert y.grad_fn.name() == "AddmmBackward0"
    for one, other in zip(*found, strict=True):
        assert one.dtype is other.dtype is dtype
        assert one.equal(other)


def test_a_bias_of_one_element_is_added_to_each_output():
    y = linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(1))
    assert y.tolist() == [[4.0] * 4] * 2


def test_a_bias_of_another_size_is_refused():
    with pytest.raises(RuntimeError, match="must match"):
        linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(3))
