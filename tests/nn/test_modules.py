"""Names under the files in which PyTorch has them."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn.modules import batchnorm, conv, loss, utils


def test_base_classes_are_found_where_pytorch_has_them():
    assert isinstance(nn.BatchNorm2d(1), batchnorm._BatchNorm)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), conv._ConvNd)
    assert isinstance(nn.CrossEntropyLoss(), loss._WeightedLoss)
    assert nn.modules.Linear is nn.Linear


def test_sizes_are_repeated():
    assert utils._pair(3) == (3, 3)
    assert utils._triple([1, 2, 3]) == (1, 2, 3)


def test_the_prefix_of_data_parallel_comes_off():
    wrapped = nn.DataParallel(nn.Linear(2, 1))
    state = wrapped.state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    plain = nn.Linear(2, 1)
    plain.load_state_dict(state)
    assert torch.equal(plain.weight, wrapped.module.weight)


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


def test_types_for_annotations_and_handles_are_found_where_pytorch_has_them():
    from tapegrad.nn.common_types import _scalar_or_tuple_2_t, _size_2_t
    from tapegrad.utils.hooks import RemovableHandle

    assert _size_2_t == int | tuple[int, int]
    assert _scalar_or_tuple_2_t[float] == float | tuple[float, float]
    assert isinstance(nn.Linear(2, 1).register_forward_hook(print), RemovableHandle)
