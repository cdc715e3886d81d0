"""Products of a tensor without dimensions."""

import tapegrad as torch


def test_a_number_has_a_product_along_its_only_dimension():
    x = torch.tensor(3.0, requires_grad=True)
    y = x.prod(0)
    assert y.grad_fn.name() == "ProdBackward1"
    assert y.data_ptr() != x.data_ptr()
    (slope,) = torch.autograd.grad(y * x.prod(-1), x, create_graph=True)
    assert slope == 6
    assert torch.autograd.grad(slope, x) == (torch.tensor(2.0),)
