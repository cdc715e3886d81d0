"""Complex numbers from real ones, against PyTorch 2.13."""

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near


def test_parts_are_joined_with_broadcasting():
    z = torch.complex(torch.tensor([1.0, 2]), torch.tensor(3.0))
    assert repr(z) == "tensor([1.+3.j, 2.+3.j])"
    z = torch.polar(torch.tensor([1.0, 2]), torch.tensor([3.0, 4]))
    assert repr(z) == "tensor([-0.9900+0.1411j, -1.3073-1.5136j])"


def test_gradients_are_real():
    a = torch.tensor([1.0, 2], requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    (torch.complex(a, b) * (2 - 1j)).abs().sum().backward()
    assert_near(a.grad, torch.tensor([0.70710677, 1.2403473]))
    assert_near(b.grad, torch.tensor(3.981841))


def test_gradients_of_absolute_value_and_angle():
    r = torch.tensor([1.0, 2], requires_grad=True)
    angle = torch.tensor([0.5, 1], requires_grad=True)
    z = torch.polar(r, angle)
    assert type(z.grad_fn).__name__ == "PolarBackward0"
    (z.real + z.imag).sum().backward()
    assert_near(r.grad, torch.tensor([1.3570081, 1.3817732]))
    assert_near(angle.grad, torch.tensor([0.39815706, -0.6023374]))


def test_both_parts_are_real_and_of_one_dtype():
    with raises(
        RuntimeError,
        "Expected both inputs to be Half, Float or Double tensors but got Long and Long",
    ):
        torch.complex(torch.tensor([1]), torch.tensor([2]))
    with raises(
        RuntimeError,
        "Expected object of scalar type Float but got scalar type Double for second argument",
    ):
        torch.polar(torch.ones(1), torch.ones(1, dtype=torch.float64))
    with raises(TypeError, "complex(): argument 'real' (position 1) must be Tensor, not float"):
        torch.complex(1.0, 2.0)
