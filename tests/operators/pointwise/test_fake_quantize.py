import math

import pytest

import tapegrad as torch

tensor, channel = torch.fake_quantize_per_tensor_affine, torch.fake_quantize_per_channel_affine
ZERO = torch.zeros(3, dtype=torch.int32)


def test_numbers_are_rounded_to_the_grid_and_clamped_to_its_ends():
    x = torch.tensor([math.nan, math.inf, -math.inf, 0.04, 0.15, 0.25, 1.06, -1.04])
    want = [-1.0, 1.0, -1.0, 0.0, 0.2, 0.2, 1.0, -1.0]
    assert tensor(x, 0.1, 0, -10, 10).tolist() == pytest.approx(want)
    by_tensors = tensor(x, torch.tensor(0.1), ZERO[0], -10, 10)
    assert by_tensors.tolist() == pytest.approx(want)


def test_the_gradient_passes_where_nothing_was_clamped():
    x = torch.tensor([-2.0, -1.0, 0.5, 2.0], requires_grad=True)
    y = tensor(x, 0.1, 3, -10, 10)
    assert y.grad_fn.name() == "FakeQuantizePerTensorAffineCachemaskBackward0"
    assert len(y.grad_fn.next_functions) == 1
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    assert g.tolist() == pytest.approx([0.0, -2.0, 1.0, 0.0])
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [0.0, 2.0, 2.0, 0.0]


def test_each_channel_has_its_own_grid():
    x = torch.tensor([[1.54, -0.29, -2.18], [0.5684, -1.08, -1.4]], requires_grad=True)
    zero = torch.tensor([0, 1, 2], dtype=torch.int32)
    y = channel(x, torch.tensor([0.1, 0.2, 0.3]), zero, 1, -5, 5)
    assert y.flatten().tolist() == pytest.approx([0.5, -0.2, -2.1, 0.5, -1.0, -1.5])
    y.sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]


def test_half_precision_is_rounded_in_float32():
    assert tensor(torch.ones(2).half(), 0.1, 3, -10, 10).tolist() == [0.7001953125] * 2


def test_a_batch_is_quantized_row_by_row():
    x = torch.linspace(-2, 2, 6).reshape(2, 3)
    rows = torch.func.vmap(lambda row: tensor(row, 0.1, 3, -10, 10))(x)
    assert rows.tolist() == tensor(x, 0.1, 3, -10, 10).tolist()


def test_forward_mode_is_refused():
    x = torch.ones(2)
    with pytest.raises(NotImplementedError, match="forward AD with fake_quantize_per_tensor"):
        torch.func.jvp(lambda x: tensor(x, 0.1, 3, -10, 10), (x,), (x,))


X = torch.ones(2, 3)
CHANNEL = {"scale": torch.ones(3), "zero_point": ZERO, "axis": 1, "quant_min": -5, "quant_max": 5}


@pytest.mark.parametrize(
    ("changed", "kind", "text"),
    [
        ({"scale": torch.ones(2)}, RuntimeError, "scale and zero-point need to have the same"),
        (
            {"scale": torch.ones(2), "zero_point": ZERO[:2]},
            RuntimeError,
            "dimensions of scale and zero-point are not consistent with input tensor",
        ),
        ({"axis": 2}, IndexError, "Dimension out of range"),
        ({"axis": -1}, RuntimeError, "`axis` must be between 0 and number of dimensions of input"),
        ({"zero_point": ZERO + 9}, RuntimeError, "`zero_point` must be between `quant_min` and"),
        ({"quant_max": -6}, RuntimeError, "`quant_min` should be less than or"),
        ({"scale": torch.ones(3).double()}, RuntimeError, "Scale must be Float or BFloat16, found"),
        ({"scale": torch.ones(3, 1)}, RuntimeError, "scale should be a 1-D tensor"),
        ({"zero_point": ZERO.long()}, RuntimeError, "Zero-point must be Int32, Float or Half"),
    ],
)
def test_grids_that_do_not_fit_are_refused(changed, kind, text):
    with pytest.raises(kind) as error:
        channel(X, **{**CHANNEL, **changed})
    assert str(error.value).startswith(text)


def test_numbers_of_a_tensors_grid_are_checked():
    for arguments, text in (
        ((0.1, 30, -10, 10), "`zero_point` must be between"),
        ((0.1, 0, 10, -10), "`quant_min` should be less"),
    ):
        with pytest.raises(RuntimeError) as error:
            tensor(X, *arguments)
        assert str(error.value).startswith(text)
    with pytest.raises(TypeError, match="received an invalid combination of arguments"):
        tensor(X, 1, 3.0, -10, 10)
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        tensor(X.long(), 0.1, 0, -10, 10)
