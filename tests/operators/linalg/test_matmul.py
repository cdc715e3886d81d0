"""Products with vectors: shapes, views and nodes, against what PyTorch 2.13 does."""

import tapegrad as torch


def names(x):
    return x.grad_fn.name(), x.grad_fn.next_functions[0][0].name()


def test_a_vector_times_a_matrix_is_squeezed_in_place_and_no_view():
    y = torch.ones(3, requires_grad=True) @ torch.ones(3, 4)
    assert names(y) == ("SqueezeBackward4", "MmBackward0") and not y._is_view()


def test_a_vector_times_a_batch_is_no_view():
    y = torch.ones(3, requires_grad=True) @ torch.ones(2, 3, 4)
    assert y.shape == (2, 4) and not y._is_view() and y.grad_fn.name() == "UnsafeViewBackward0"


def test_a_kronecker_product_is_no_view():
    assert not torch.kron(torch.ones(2), torch.ones(3))._is_view()


def test_a_linear_map_of_a_turned_batch_adds_its_bias_to_a_product():
    x, w, b = torch.ones(5, 2, 3).transpose(0, 1), torch.ones(4, 3), torch.ones(4)
    y = torch.nn.functional.linear(x, w, b.requires_grad_())
    assert y.grad_fn.name() == "AddBackward0" and not y._is_view()
    y = torch.nn.functional.linear(x.contiguous(), w, b)
    assert y.grad_fn.name() == "ViewBackward0" and y._is_view()
