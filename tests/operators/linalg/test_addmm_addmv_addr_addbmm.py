"""A product added to a tensor."""

import pytest

import tapegrad as torch


def test_factors_of_whole_numbers_are_cut_to_whole_numbers():
    a, b = torch.arange(6).view(2, 3), torch.arange(12).view(3, 4)
    doubled = torch.addmm(torch.arange(4), a, b, beta=2.5)
    assert doubled.tolist() == [[20, 25, 30, 35], [56, 70, 84, 98]]
    doubled = torch.addmm(torch.zeros(4, dtype=torch.int64), a, b, alpha=2.5)
    assert doubled.tolist() == [[40, 46, 52, 58], [112, 136, 160, 184]]


def test_what_is_added_stays_as_it_is():
    bias = torch.tensor([1.0, 2.0])
    matrix = torch.ones(3, 2)
    assert torch.addmm(bias, torch.ones(3, 1), torch.ones(1, 2)).tolist() == [[2.0, 3.0]] * 3
    torch.addmm(matrix, torch.ones(3, 1), torch.ones(1, 2))
    assert bias.tolist() == [1.0, 2.0]
    assert matrix.equal(torch.ones(3, 2))


def test_what_counts_nothing_has_second_derivatives_of_each_sample():
    a, b = torch.ones(3, 2), torch.ones(2, 2)
    outside = torch.func.grad(lambda z: added(z).sin().sum())

    def added(z):
        return torch.func.vmap(lambda x: torch.addmm(x, a, b, beta=0))(z)

    z = torch.ones(2, 1, 1)
    assert torch.equal(torch.func.grad(lambda z: outside(z).sin().sum())(z), torch.zeros(2, 1, 1))


# --- dtypes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_addbmm_of_integers_keeps_their_dtype(dtype):
    batches = torch.ones(2, 2, 4, dtype=dtype), torch.ones(2, 4, 3, dtype=dtype)
    result = torch.addbmm(torch.ones(2, 3, dtype=dtype), *batches)
    assert result.dtype is dtype
    assert result.tolist() == [[9, 9, 9]] * 2


def test_addr_computes_in_the_common_dtype():
    a = torch.ones(2, 3, dtype=torch.float64)
    v, w = torch.ones(2, dtype=torch.int64), torch.ones(3, dtype=torch.int64)
    for options, value in (
        ({"beta": 0}, 1.0),
        ({"beta": 0.5}, 1.5),
        ({"alpha": 0.5}, 1.5),
        ({"beta": 0.5, "alpha": 0}, 0.5),
    ):
        for result in (torch.addr(a, v, w, **options), a.clone().addr_(v, w, **options)):
            assert result.dtype is torch.float64
            assert result.tolist() == [[value] * 3] * 2
    large = torch.full((2,), 100, dtype=torch.int8), torch.full((3,), 100, dtype=torch.int8)
    assert torch.addr(torch.zeros(2, 3, dtype=torch.int64), *large)[0, 0].item() == 10000


def test_addr_refuses_factors_that_the_result_has_no_room_for():
    a, v, w = torch.ones(2, 3), torch.ones(2), torch.ones(3)
    with pytest.raises(RuntimeError, match="Boolean beta only supported for Boolean results"):
        torch.addr(a, v, w, beta=True)
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        torch.addr(a.int(), v.int(), w.int(), alpha=0.5)


def test_numbers_of_dimensions_are_looked_at_first():
    x, v = torch.ones(2, 2), torch.ones(2)
    with pytest.raises(RuntimeError, match="matrix @ vector expected, got 2, 2, 1"):
        torch.addmv(x, x, v)
    with pytest.raises(RuntimeError, match="matrix @ vector expected, got 1, 2, 2"):
        torch.addmv(v, x, x)
    with pytest.raises(RuntimeError, match=r"^addr: Expected 1-D argument vec2, but got 2-D"):
        torch.addr(x, v, x)


def test_alpha_0_leaves_the_product_of_matrices_out():
    a, b = torch.full((2, 2), float("inf")), torch.ones(2, 2)
    assert torch.addmm(b, a, b, alpha=0).tolist() == [[1, 1], [1, 1]]
    assert torch.addmv(b[0], a, b[0], alpha=0).tolist() == [1, 1]
    assert torch.addbmm(b, a[None], b[None], alpha=0).tolist() == [[1, 1], [1, 1]]
    assert torch.addmm(a, a, b, alpha=0, beta=0).tolist() == [[0, 0], [0, 0]]
    assert torch.addr(b, a[0], b[0], alpha=0).isnan().all()


def test_a_product_without_terms_has_no_factor():
    a, b, x = torch.ones(2, 0), torch.ones(0, 2), torch.ones(2, 2)
    inf = float("inf")
    assert torch.addmm(x, a, b, alpha=inf).tolist() == [[1, 1], [1, 1]]
    assert torch.addmv(x[0], a, b[:, 0], alpha=inf).tolist() == [1, 1]
    assert torch.baddbmm(x, a[None], b[None], alpha=inf).tolist() == [[[1, 1], [1, 1]]]
    assert torch.addbmm(x, a[None], b[None], alpha=inf).tolist() == [[1, 1], [1, 1]]
    a, b, x = a.int(), b.int(), x.int()
    assert torch.addmm(x, a, b, alpha=2**40).tolist() == [[1, 1], [1, 1]]
    assert torch.addmm(x[:0], b[:, :0].T[:0], b, alpha=inf, beta=inf).shape == (0, 2)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired"):
        torch.addmm(x, a, b, beta=0.5)
