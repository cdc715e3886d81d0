import numpy as np
import pytest

import tapegrad as torch
from tapegrad.func import hessian, vmap


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("source", [[0, 0, 2, 3], [0, 2, 0, 0], [0, 1, 2, 3], [0, 0, 0, 0]])
def test_the_second_derivative_of_a_product_with_several_zeros_is_that_of_differences(
    source, include
):
    index = torch.tensor([0, 0, 0, 1])
    x = torch.tensor([1.5, 0.0], dtype=torch.float64)
    source = torch.tensor(source, dtype=torch.float64)

    def product(values):
        y = x.scatter_reduce(0, index, values, "prod", include_self=include)
        return y[0] * 1.3 - y[1] * 0.7

    step = 1e-3
    moves = torch.eye(4, dtype=torch.float64) * step

    def mixed(a, b):
        corners = [product(source + s * a + t * b) * s * t for s in (1, -1) for t in (1, -1)]
        return sum(corners) / (4 * step * step)

    want = [[mixed(a, b) for b in moves] for a in moves]
    np.testing.assert_allclose(hessian(product)(source).numpy(), want, atol=1e-7)
    found = vmap(hessian(product))(torch.stack([source, source + 1]))[0]
    np.testing.assert_allclose(found.numpy(), want, atol=1e-7)


def test_products_with_three_zeros_have_a_third_derivative():
    values = torch.tensor([0.0, 0.0, 0.0, 2.0], requires_grad=True)
    product = torch.ones(1).scatter_reduce(0, torch.zeros(4, dtype=torch.int64), values, "prod")
    (first,) = torch.autograd.grad(product.sum(), values, create_graph=True)
    (second,) = torch.autograd.grad(first[0], values, create_graph=True)
    (third,) = torch.autograd.grad(second[1], values)
    assert first.tolist() == second.tolist() == [0, 0, 0, 0] and third.tolist() == [0, 0, 2, 0]
