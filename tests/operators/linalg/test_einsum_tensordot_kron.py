"""What `einsum` is called with."""

import pytest

import tapegrad as torch


def test_an_equation_comes_first():
    x = torch.ones(2, 2)
    assert torch.einsum("ij,jk->ik", [x, x]).tolist() == [[2, 2], [2, 2]]
    with pytest.raises(TypeError, match=r"^einsum\(\): argument 'equation' \(position 1\) must be"):
        torch.einsum(["ij"], x)
    for args in ((), ("ij",), (x,)):
        with pytest.raises(ValueError, match=r"^einsum\(\): must specify the equation string and"):
            torch.einsum(*args)


def test_no_more_dimensions_are_summed_than_there_are():
    with pytest.raises(
        RuntimeError, match=r"^tensordot expects dims < ndim_a or ndim_b, but got d"
    ):
        torch.tensordot(torch.ones(2), torch.ones(2), 5)
