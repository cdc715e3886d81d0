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


def test_a_pattern_on_a_pattern_is_of_the_whole_memory():
    x = torch.arange(6.0).reshape(2, 3)
    row = x.t().as_strided((3,), (1,), 2)
    assert row.as_strided((2,), (1,), 1).tolist() == [1.0, 2.0]
    assert row[1:].as_strided((2,), (1,)).tolist() == [3.0, 4.0]
    windows = torch.arange(3.0)[:2].unfold(0, 1, 1)
    assert windows.as_strided((3,), (1,)).tolist() == [0.0, 1.0, 2.0]


def test_second_derivatives_of_places_outside_the_tensor_are_zero():
    x = torch.arange(1.0, 10.0, dtype=torch.float64).reshape(3, 3).requires_grad_()
    v = x.diagonal(1).as_strided((1,), (1,), 0)  # x[0, 0], which the diagonal has no part of
    y = v.square().sum() * x[0]
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [[1.0, 1.0, 1.0], [0.0] * 3, [0.0] * 3]
    (h,) = torch.autograd.grad((g * x.detach()).sum(), x)
    assert h.tolist() == [[0.0] * 3] * 3


def test_a_write_outside_a_tensor_without_history_has_no_part_in_its_gradient():
    memory, w = torch.arange(10000.0), torch.tensor([3.0], requires_grad=True)
    part = memory[5000:5002].detach()
    part.as_strided((1,), (1,), 0).add_(1).mul_(w)
    part.sum().backward()
    assert w.grad.tolist() == [0.0] and memory[0] == 3.0
