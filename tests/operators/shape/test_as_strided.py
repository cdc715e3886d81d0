"""Memory seen in another way, against what PyTorch 2.13 did."""

import tapegrad as torch
from tests.messages import raises


def test_elements_of_another_size_must_fit_between_those_that_are_there():
    x = torch.arange(24.0).view(4, 6)
    names = "to view Float as Double (different element sizes), but got"
    with raises(RuntimeError, f"self.size(-1) must be divisible by 2 {names} 5"):
        x[:, 1:].view(torch.float64)
    with raises(RuntimeError, f"self.storage_offset() must be divisible by 2 {names} 1"):
        x[:, 1:5].view(torch.float64)
    with raises(RuntimeError, f"self.stride(0) must be divisible by 2 {names} 3"):
        x.as_strided((4, 2), (3, 1)).view(torch.float64)
    with raises(RuntimeError, f"self.stride(-1) must be 1 {names} 6"):
        x.t().view(torch.float64)
    names = names.replace("Double", "Short")
    with raises(RuntimeError, f"self.stride(-1) must be 1 {names} 6"):
        x.as_strided((4, 1), (2, 6)).view(torch.int16)
    assert x[1:, 2:4].view(torch.float64).storage_offset() == 4


def test_elements_of_another_size_where_there_are_none():
    assert torch.zeros(0, 5, 64).view(torch.int16).shape == (0, 5, 128)
    assert torch.zeros(0, 5, 64).view(torch.float64).shape == (0, 5, 32)


def test_the_same_dtype_is_no_link_in_the_graph_either():
    x = torch.ones(2, requires_grad=True)
    y = x.view(torch.float32)
    assert y.requires_grad is False and y.data_ptr() == x.data_ptr() and y is not x
