"""Functions with an underscore are the public ones."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_outputs(name):
    x = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    g = torch.tensor([[1.0, 2.0, -1.0]])
    y = getattr(torch, f"_{name}")(x, 1, False)
    y.backward(g)
    found = getattr(torch, f"_{name}_backward_data")(g, y.detach(), 1, torch.float32)
    assert torch.allclose(found, x.grad)
    assert getattr(torch, f"_{name}")(x.half(), 1, True).dtype is torch.float32


def test_the_others():
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
    assert torch._conj_physical(torch.tensor([1j])).tolist() == [-1j]
    assert torch.compiled_with_cxx11_abi() is True
