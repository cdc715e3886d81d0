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


def test_complex_infinities_are_summed_by_their_exponentials():
    inf = math.inf
    x = torch.tensor([complex(-inf, 1), 1.2 + 2.1j, complex(inf, 0), complex(inf, 0.785), 1j])
    found = torch.logcumsumexp(x, 0)
    assert found.real.tolist() == pytest.approx([-inf, 1.2, inf, inf, inf])
    assert found.imag.tolist()[1:] == pytest.approx([2.1, 0, math.pi / 4, math.pi / 4])
    found = torch.logaddexp(torch.tensor(complex(inf, inf)), torch.tensor(1 + 0j))
    assert found.item() == complex(inf, inf)


def test_out_has_the_dtype_that_is_asked_for():
    x, message = torch.ones(2).int(), "Expected out tensor to have dtype double, but got float"
    for function in (torch.cumsum, torch.cumprod, torch.sum, torch.prod):
        with raises(RuntimeError, f"{message} instead"):
            function(x, 0, dtype=torch.float64, out=torch.empty(0))
    with raises(NotImplementedError, "\"cumsum_out_cpu\" not implemented for 'Bool'"):
        torch.cumsum(x, 0, out=torch.empty(0, dtype=torch.bool))
    with raises(NotImplementedError, "\"nansum_cpu\" not implemented for 'Int'"):
        torch.nansum(torch.ones(2), 0, out=torch.empty(0, dtype=torch.int32))
