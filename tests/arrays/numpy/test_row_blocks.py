"""Rows in blocks: what kernels sum in them does not depend on the number of threads."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.numpy.row_blocks import in_row_blocks

F = torch.nn.functional


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_blocks_cover_all_rows_whatever_the_number_of_threads(n, threads):
    threads(n)
    blocks = in_row_blocks(1001, 300, 1 << 16, lambda i, j: (i, j))
    assert blocks == [(i, min(i + 218, 1001)) for i in range(0, 1001, 218)]


def attention(x):
    q = x.reshape(-1, 4, 67, 63)
    return F.scaled_dot_product_attention(q, q, q, is_causal=True)


FUNCTIONS = {
    "layer_norm": lambda x: F.layer_norm(x, (63,), x[0], x[1]),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "softmax of columns": lambda x: x.reshape(-1, 63, 4).softmax(1),
    "gelu": F.gelu,
    "attention": attention,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_results_and_gradients_do_not_depend_on_the_number_of_threads(name, threads, rng):
    x = rng.standard_normal((5092, 63), dtype=np.float32)
    found = []
    for n in (1, 2, 3):
        threads(n)
        leaf = torch.tensor(x, requires_grad=True)
        y = FUNCTIONS[name](leaf)
        (y * y).sum().backward()
        found.append((y.detach().numpy(), leaf.grad.numpy()))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
