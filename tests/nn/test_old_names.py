"""Names of PyTorch that old code has, and what they do on a machine without GPUs."""

import pytest

import tapegrad as torch
from tapegrad import nn


def test_cross_map_normalisation_is_pytorchs_first_channel_included():
    x = torch.arange(1.0, 17).reshape(1, 4, 2, 2)
    layer = nn.CrossMapLRN2d(3, alpha=0.1, beta=0.5, k=2)
    expected = torch.tensor(
        [
            [[0.5906, 1.0954], [1.5127, 1.8516]],
            [[2.1192, 2.3238], [2.4800, 2.6001]],
            [[2.6893, 2.7524], [2.7970, 2.8284]],
            [[4.0376, 4.0415], [4.0330, 4.0168]],
        ]
    )
    assert torch.allclose(layer(x)[0], expected, atol=1e-4, rtol=0)
    assert repr(nn.CrossMapLRN2d(5)) == "CrossMapLRN2d(5, alpha=0.0001, beta=0.75, k=1)"
    near = nn.CrossMapLRN2d(4)(x)[0, 2:, 0, 0].tolist()
    assert near == pytest.approx([8.9537, 12.9392], abs=1e-4)
    with pytest.raises(ValueError, match=r"^CrossMapLRN2d: Expected input to be 4D, got 2D inst"):
        layer(torch.ones(2, 3))


def test_the_derivative_of_cross_map_normalisation_is_its_own(seed):
    x = torch.randn(1, 5, 1, 2, dtype=torch.float64, requires_grad=True)
    t = torch.randn_like(x)
    layer = nn.CrossMapLRN2d(3, alpha=0.5, beta=0.75, k=2)
    (gradient,) = torch.autograd.grad(layer(x).square().sum(), x)
    ends = [layer(x.detach() + step * t).square().sum().item() for step in (1e-6, -1e-6)]
    assert (gradient * t).sum().item() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_data_parallel_is_the_module_where_there_is_no_gpu():
    layer = nn.Linear(2, 1)
    assert nn.parallel.DataParallel is nn.DataParallel
    x = torch.ones(3, 2)
    assert torch.equal(nn.DataParallel(layer, device_ids=[0])(x), layer(x))
    with pytest.raises(RuntimeError, match="device type could not be determined"):
        nn.parallel.data_parallel(layer, x)
    with pytest.raises(NotImplementedError, match="DistributedDataParallel"):
        nn.parallel.DistributedDataParallel(layer)
    with pytest.raises(AttributeError, match="no attribute 'bouquet'"):
        nn.parallel.bouquet  # noqa: B018


def test_native_dropout_gives_the_mask_too(seed):
    x = torch.arange(1.0, 7).reshape(2, 3).requires_grad_()
    y, mask = torch.native_dropout(x, 0.5, True)
    assert mask.tolist() == [[False, False, True], [False, False, False]]
    assert y.tolist() == [[0, 0, 6], [0, 0, 0]]
    assert type(y.grad_fn).__name__ == "NativeDropoutBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0, 2], [0, 0, 0]]
    y, mask = torch.native_dropout(x, 0.5, None)
    assert mask.tolist() == [[True, True, False], [True, True, True]]
    y, mask = torch.native_dropout(x, 0.5, False)
    assert torch.equal(y, x) and mask.all()
    y, mask = torch.native_dropout(x, 1.0, True)
    assert not y.any() and not mask.any()
    with pytest.raises(RuntimeError, match=r"^bernoulli_ expects p to be in \[0, 1\], but got p=-"):
        torch.native_dropout(x, 1.5, True)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired outpu"):
        torch.native_dropout(torch.tensor([1, 2]), 0.5, True)


def test_native_group_norm_gives_the_moments_too():
    x = torch.arange(24.0).reshape(2, 4, 3).requires_grad_()
    weight, bias = torch.ones(4, requires_grad=True), torch.zeros(4, requires_grad=True)
    y, mean, rstd = torch.native_group_norm(x, weight, bias, 2, 4, 3, 2, 1e-5)
    assert mean.tolist() == [[2.5, 8.5], [14.5, 20.5]] and not mean.requires_grad
    assert rstd.flatten().tolist() == pytest.approx([0.585540] * 4, abs=1e-5)
    assert type(y.grad_fn).__name__ == "NativeGroupNormBackward0"
    assert torch.equal(y, torch.group_norm(x, 2, weight, bias, 1e-5))
    y.pow(2).sum().backward()
    assert weight.grad.tolist() == pytest.approx([12.0] * 4, abs=1e-3)


def test_parts_that_are_no_views_of_what_was_split():
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    first, second = torch.unsafe_split_with_sizes(x, [1, 3])
    assert (first.shape, second.shape) == ((1, 3), (3, 3)) and not first._is_view()
    assert type(first.grad_fn).__name__ == "UnsafeSplitWithSizesBackward0"
    (2 * second).sum().backward()
    assert x.grad[:, 0].tolist() == [0, 2, 2, 2]
    assert [part.shape for part in x.unsafe_split_with_sizes((2, 1), 1)] == [(4, 2), (4, 1)]
    with pytest.raises(RuntimeError, match="split_with_sizes expects split_sizes to sum exactly"):
        torch.unsafe_split_with_sizes(x, [1, 1])


def test_a_copy_without_history():
    x = torch.ones(2, requires_grad=True)
    copy = torch.detach_copy(x)
    copy.zero_()
    assert x.tolist() == [1, 1] and not copy.requires_grad


def test_weights_of_convolutions_in_another_order():
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ConvTranspose2d(3, 2, 2), nn.Linear(2, 2))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    assert nn.utils.convert_conv2d_weight_memory_format(model, torch.channels_last) is model
    assert model[0].weight.stride() == (18, 1, 6, 2) and model[1].weight.stride() == (8, 1, 4, 2)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("options", "result"),
    [
        (None, {}),
        ({"device": "cpu"}, {"device": "cpu"}),
        (
            {"dtype": torch.float64, "factory_kwargs": {"device": "cpu"}},
            {"device": "cpu", "dtype": torch.float64},
        ),
        ({"factory_kwargs": {"x": 1}}, {"x": 1}),
        ({"x": 1}, "unexpected kwargs {'x'}"),
        (
            {"device": "cpu", "factory_kwargs": {"device": "cpu"}},
            "device specified twice, in **kwargs and in factory_kwargs",
        ),
    ],
)
def test_options_of_layers_are_gathered(options, result):
    if isinstance(result, dict):
        assert nn.factory_kwargs(options) == result
        return
    with pytest.raises(TypeError) as caught:
        nn.factory_kwargs(options)
    assert str(caught.value) == result


def test_parameters_without_a_shape_are_found_where_pytorch_has_them():
    from tapegrad.nn.parameter import UninitializedParameter, is_lazy

    assert UninitializedParameter is nn.UninitializedParameter
    assert is_lazy(nn.LazyLinear(2).weight) and not is_lazy(nn.Linear(2, 2).weight)


def test_types_for_annotations_and_handles_are_found_where_pytorch_has_them():
    from tapegrad.nn.common_types import _scalar_or_tuple_2_t, _size_2_t
    from tapegrad.utils.hooks import RemovableHandle

    assert _size_2_t == int | tuple[int, int]
    assert _scalar_or_tuple_2_t[float] == float | tuple[float, float]
    assert isinstance(nn.Linear(2, 1).register_forward_hook(print), RemovableHandle)
