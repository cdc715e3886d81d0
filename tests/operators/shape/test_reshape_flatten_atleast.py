"""Shapes of tensors without dimensions."""

import tapegrad as torch
from tests.messages import raises


def test_there_is_no_dimension_to_divide_without_dimensions():
    message = (
        "unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions"
    )
    with raises(RuntimeError, message):
        torch.tensor(1.0).unflatten(0, (1, -1))


def test_moving_no_dimension_is_another_name_of_the_tensor():
    x = torch.tensor(1.0, requires_grad=True)
    assert x.movedim(0, 0).grad_fn.name() == "AliasBackward0"
