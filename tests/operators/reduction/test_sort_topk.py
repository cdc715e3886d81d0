"""Sorting: tensors without dimensions."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize(
    ("sort", "node"),
    [
        (torch.sort, "SortBackward0"),
        (lambda x: torch.sort(x, descending=True), "SortBackward0"),
        (lambda x: (torch.msort(x), x.argsort()), "SortBackward0"),
        (lambda x: torch.topk(x, 1), "TopkBackward0"),
        (lambda x: torch.topk(x, 0), "TopkBackward0"),
    ],
)
def test_one_number_is_sorted_into_a_tensor_of_its_own(sort, node):
    x = torch.tensor(2.0, requires_grad=True)
    values, indices = sort(x)
    assert values.shape == indices.shape == () and values._base is None and indices._base is None
    assert values.item() == 2 and indices.item() == 0 and indices.dtype is torch.int64
    assert type(values.grad_fn).__name__ == node
    values.backward()
    assert x.grad.item() == 1
    assert torch.func.jvp(lambda x: sort(x)[0], (x,), (torch.tensor(3.0),))[1].item() == 3
    batch = torch.tensor([1.0, 5.0])
    assert torch.func.vmap(lambda x: sort(x)[0])(batch).tolist() == [1, 5]


def test_the_index_of_the_largest_of_all_elements_is_no_view():
    x = torch.tensor([[1.0, 5.0], [7.0, 2.0]])
    for y in (x.argmax(keepdim=True), x.argmin(keepdim=True)):
        assert y.shape == (1, 1) and y._base is None
    assert x.argmax(keepdim=True).item() == 2 and x[0, 0].argmax(keepdim=True).shape == ()
