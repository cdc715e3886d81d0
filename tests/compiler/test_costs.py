"""What programs cost: floating-point operations, by the shapes of what is computed."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler.costs import flops_of_instruction, limits


def flops(function, *args):
    """The operations of each kernel of a compiled function, forward and backward."""
    compiled = torch.compile(function, backend="numpy")
    for _ in range(3):
        y = compiled(*args)
        if y.requires_grad:
            y.sum().backward()
    entry = compiled.entries[0]
    programs = [entry.part] + ([entry.joint.part] if entry.joint is not None else [])
    return {x.text: flops_of_instruction(x) for each in programs for x in each.instructions}


def test_a_product_takes_two_operations_for_each_number_that_it_adds():
    found = flops(lambda x, y: (x @ y).exp(), torch.ones(3, 4), torch.ones(4, 5))
    assert found["xp.matmul"] == 2 * 3 * 4 * 5 and found["np.exp"] == 3 * 5


def test_what_only_sees_memory_in_another_way_costs_nothing():
    found = flops(lambda x: x.t() * 2, torch.ones(3, 4))
    assert [n for text, n in found.items() if "multiply" not in text] == [0]


def test_attention_is_two_products_and_five_on_the_way_back():
    x = torch.randn(2, 4, 16, 8, requires_grad=True)
    found = flops(lambda x: nn.functional.scaled_dot_product_attention(x, x, x), x)
    product = 2 * (2 * 4) * 16 * 16 * 8
    assert found["xp.attend"] == 2 * product and found["xp.attend_back"] == 5 * product


def test_a_convolution_is_a_product_for_each_place():
    layer = nn.Conv2d(3, 8, 3)
    found = flops(layer, torch.randn(2, 3, 10, 10, requires_grad=True))
    whole = 2 * (2 * 8 * 8) * 8 * (3 * 3 * 3)
    assert found["xp.convolve"] == found["xp.convolve_weights"] == whole
    assert found["xp.convolve_transposed"] == whole


@pytest.mark.parametrize("kind, gates", [(nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)])
def test_recurrent_layers_are_products_with_both_weights(kind, gates):
    layer = kind(6, 5)
    found = flops(lambda x: layer(x)[0], torch.randn(7, 2, 6))
    whole = 2 * (7 * 2) * gates * 5 * (6 + 5)
    name = f"xp.{kind.__name__.lower()}"
    assert (found[name], found[f"{name}_back"]) == (whole, 2 * whole)


def test_the_limits_of_this_machine_are_measured_once():
    arithmetic, memory = limits()
    assert arithmetic > 1e6 and memory > 1e6
    assert limits() == (arithmetic, memory)
