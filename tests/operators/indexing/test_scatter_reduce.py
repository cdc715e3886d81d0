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


@pytest.mark.parametrize("zeros", [1, 2, 3, 4, 5])
def test_products_with_zeros_have_all_mixed_derivatives(zeros):
    values = torch.tensor([0.0] * zeros + [2.0, 3.0], requires_grad=True)
    places = torch.zeros(zeros + 2, dtype=torch.int64)
    y = torch.full((1,), 1.5).scatter_reduce(0, places, values, "prod").sum()
    for i in range(zeros):
        assert y.item() == 0
        (slopes,) = torch.autograd.grad(y, values, create_graph=True)
        y = slopes[i]
    assert y.item() == 9
    (slopes,) = torch.autograd.grad(y, values)
    assert slopes[zeros:].tolist() == [4.5, 3.0]
