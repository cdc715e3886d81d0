"""Running sums of exponentials over many elements."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises


def test_logcumsumexp_of_many_elements_is_exact_to_the_last():
    n = 100_000
    assert torch.zeros(n).logcumsumexp(0)[-1].item() == pytest.approx(math.log(n), rel=1e-7)


def test_differences_beside_what_does_not_fit():
    message = "diff expects prepend or append to be the same dimension as input"
    with raises(RuntimeError, message):
        torch.ones(3).diff(prepend=torch.ones(2, 2))
    with raises(RuntimeError, message):
        torch.ones(2, 2).diff(append=torch.ones(2))
    message = (
        "diff expects the shape of tensor to prepend or append to match that of input except along "
        "the differencing dimension; input.size(1) = 3, but got tensor.size(1) = 2"
    )
    with raises(RuntimeError, message):
        torch.ones(2, 3).diff(dim=0, prepend=torch.ones(2, 2))


def test_a_number_has_one_dimension():
    for name in ("cummax", "cummin"):
        function = getattr(torch, name)
        assert function(torch.tensor(2.0), -1).values.item() == 2
        with pytest.raises(
            IndexError, match=rf"^{name}\(\): Expected reduction dim -1 or 0 for scal"
        ):
            function(torch.tensor(2.0), 5)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
def test_along_no_dimension_runs_a_copy(name):
    x = torch.tensor(1.5, requires_grad=True)
    y = getattr(x, name)(0)
    y = y if isinstance(y, torch.Tensor) else y.values
    assert y.item() == 1.5 and y._base is None and y.data_ptr() != x.data_ptr()
    assert y.grad_fn.name() == name.capitalize() + "Backward0"
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 1
    assert torch.func.jvp(lambda x: getattr(x, name)(0), (x,), (x,))[1] is not None
    batch = torch.func.vmap(lambda x: getattr(x, name)(0))(torch.tensor([1.0, 2.0]))
    values = batch if isinstance(batch, torch.Tensor) else batch[0]
    assert values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_product_of_one_element_hands_on_its_cotangent(create_graph):
    x = torch.tensor([[math.inf], [math.nan], [0.0]], requires_grad=True)
    y = torch.cumprod(x, 1)
    (g,) = torch.autograd.grad(y, x, torch.full((3, 1), 2.0), create_graph=create_graph)
    assert g.tolist() == [[2], [2], [2]]
    places = torch.linalg.vander(x.detach()[:, 0].requires_grad_(), N=2)
    assert places[:, 0].tolist() == [1, 1, 1]


def test_logcumsumexp_is_written_to_a_tensor_of_its_own_dtype():
    with raises(RuntimeError, "expected scalar_type Double but found Float"):
        torch.logcumsumexp(torch.ones(2).double(), 0, out=torch.ones(2))
