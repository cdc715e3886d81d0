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


def test_memory_that_is_not_row_major_is_reshaped_by_another_node():
    x = torch.zeros(4, 6, requires_grad=True)
    assert x.reshape(24).grad_fn.name() == "ViewBackward0"
    for part in (x[::2].reshape(2, 6, 1), x.t().reshape(6, 4), x[:, 0].reshape(-1)):
        assert part.grad_fn.name() == "ReshapeAliasBackward0" and part._base is x
    assert x[:, 0].view(2, 2).grad_fn.name() == "ViewBackward0"
    x[:, 0].reshape(2, 2).sum().backward()
    assert x.grad.sum(1).tolist() == [1, 1, 1, 1] and x.grad[:, 0].sum() == 4
