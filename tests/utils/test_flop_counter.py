"""Operations counted: PyTorch's numbers for layers, their gradients and the table."""

from importlib import import_module

import numpy as np
import pytest

import tapegrad
from tapegrad.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
from tests.needs import pytorch


def counts(torch, run):
    with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        run(torch)
    found = counter.get_flop_counts()
    return {module: {str(op): n for op, n in by_op.items()} for module, by_op in found.items()}


def mlp(torch):
    nn = torch.nn
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def conv_net(torch):
    nn = torch.nn
    first = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, nn.Conv2d(8, 8, 3, groups=2), nn.Flatten(), nn.Linear(32, 4))


def attention(torch, by_steps=False, **options):
    q = torch.ones(2, 2, 4, 8, requires_grad=True)
    if not by_steps:
        return torch.nn.functional.scaled_dot_product_attention(q, q, q, **options)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q, **options)


def leaf(torch, *shape, **options):
    return torch.ones(*shape, requires_grad=True, **options)


def encoder(torch, **options):
    layer = torch.nn.TransformerEncoderLayer
    return layer(8, 2, 16, batch_first=True, dropout=0.0, **options)


def twice_differentiated(torch):
    x = leaf(torch, 3, 8)
    w = leaf(torch, 8, 4)
    (g,) = torch.autograd.grad((x @ w).square().sum(), x, create_graph=True)
    return g


CASES = {
    "mlp": lambda t: mlp(t)(t.ones(3, 8)),
    "mlp, gradient of the input": lambda t: mlp(t)(leaf(t, 3, 8)),
    "mlp of three axes": lambda t: mlp(t)(t.ones(2, 3, 8)),
    "linear of a vector": lambda t: t.nn.Linear(8, 4)(t.ones(8)),
    "linear without bias": lambda t: t.nn.Linear(8, 4, bias=False)(t.ones(2, 3, 8)),
    "conv net": lambda t: conv_net(t)(t.ones(2, 3, 8, 8)),
    "conv net, gradient of the image": lambda t: conv_net(t)(leaf(t, 2, 3, 8, 8)),
    "conv1d": lambda t: t.nn.Conv1d(3, 4, 3, dilation=2)(leaf(t, 2, 3, 16)),
    "conv3d": lambda t: t.nn.Conv3d(3, 4, 3)(leaf(t, 2, 3, 6, 6, 6)),
    "transposed": lambda t: t.nn.ConvTranspose2d(3, 4, 3, stride=2)(leaf(t, 2, 3, 6, 6)),
    "depthwise": lambda t: t.nn.Conv2d(4, 4, 3, groups=4)(leaf(t, 1, 4, 6, 6)),
    "attention": attention,
    "attention by steps": lambda t: attention(t, by_steps=True),
    "causal attention by steps": lambda t: attention(t, by_steps=True, is_causal=True),
    "multi-head attention": lambda t: t.nn.MultiheadAttention(8, 2)(*[t.ones(2, 3, 8)] * 3)[0],
    "encoder layer": lambda t: encoder(t)(t.ones(2, 3, 8)),
    "lstm": lambda t: t.nn.LSTM(4, 3)(t.ones(5, 2, 4))[0],
    "gru": lambda t: t.nn.GRU(4, 3, bias=False)(t.ones(5, 2, 4))[0],
    "rnn": lambda t: t.nn.RNN(4, 3, 2, bidirectional=True)(t.ones(5, 2, 4))[0],
    "lstm cell": lambda t: t.nn.LSTMCell(4, 3)(t.ones(2, 4))[0],
    "batches": lambda t: leaf(t, 3, 4, 5) @ leaf(t, 3, 5, 2),
    "einsum": lambda t: t.einsum("bij,kj->bik", leaf(t, 3, 4, 5), leaf(t, 2, 5)),
    "baddbmm": lambda t: t.baddbmm(t.ones(3, 4, 2), leaf(t, 3, 4, 5), t.ones(3, 5, 2)),
    "addbmm": lambda t: t.addbmm(t.ones(4, 2), leaf(t, 3, 4, 5), t.ones(3, 5, 2)),
    "addmm": lambda t: t.addmm(t.ones(4, 2), leaf(t, 4, 5), t.ones(5, 2)),
    "gradient of a gradient": twice_differentiated,
    "no product": lambda t: leaf(t, 3).exp(),
    "lstm on the meta device": lambda t: t.nn.LSTM(4, 3, device="meta")(
        t.ones(5, 2, 4, device="meta")
    )[0],
    "encoder on the meta device": lambda t: encoder(t, device="meta")(
        t.ones(2, 3, 8, device="meta")
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_counts_are_those_of_pytorch(case):
    torch = pytorch()
    for module in ("torch.nn.attention", "torch.utils.flop_counter"):
        import_module(module)

    def there_and_back(t):
        CASES[case](t).sum().backward()

    assert counts(tapegrad, there_and_back) == counts(torch, there_and_back)


@pytest.mark.parametrize("case", ["mlp", "conv net"])
def test_a_forward_pass_alone_counts_less(case):
    forward = counts(tapegrad, CASES[case])
    both = counts(tapegrad, lambda t: CASES[case](t).sum().backward())
    assert 0 < sum(forward["Global"].values()) < sum(both["Global"].values())


def test_the_table_has_modules_and_their_operators():
    with FlopCounterMode(display=False) as counter:
        conv_net(tapegrad)(tapegrad.ones(2, 3, 8, 8)).sum().backward()
    assert counter.get_table().splitlines()[:6] == [
        "Module                           FLOP    % Total",
        "---------------------------  --------  ---------",
        "Sequential                   130.560K    100.00%",
        "- aten.convolution            59.904K     45.88%",
        "- aten.addmm                   0.512K      0.39%",
        "- aten.mm                      1.024K      0.78%",
    ]


def test_the_table_of_nothing_has_a_line():
    with FlopCounterMode(display=False) as counter:
        pass
    assert counter.get_table() == (
        "Module      FLOP    % Total\n--------  ------  ---------\nGlobal         0         0%"
    )


def test_large_numbers_have_a_unit():
    m = tapegrad.ones(10_000, 10_000, device="meta")
    with FlopCounterMode(display=False) as counter:
        _ = m @ m
    assert counter.get_table().splitlines()[2] == "Global     2000.000B    100.00%"
    assert counter.get_total_flops() == 2 * 10**12


def test_the_depth_of_the_table_can_be_chosen():
    with FlopCounterMode(display=False, depth=1) as counter:
        mlp(tapegrad)(tapegrad.ones(3, 8))
    assert "Sequential.0" not in counter.get_table()
    assert "Sequential.0" in counter.get_table(depth=2)


def test_the_table_is_printed_at_the_end(capsys):
    with FlopCounterMode() as counter:
        mlp(tapegrad)(tapegrad.ones(3, 8))
    assert capsys.readouterr().out == counter.get_table() + "\n"


def test_members_of_a_batch_count_each():
    def product(x):
        return x @ tapegrad.ones(5, 2)

    with FlopCounterMode(display=False) as counter:
        tapegrad.vmap(product)(tapegrad.ones(3, 4, 5))
    assert counter.get_total_flops() == 3 * 2 * 4 * 5 * 2


def test_formulas_can_be_given_for_one_block():
    relu = tapegrad.ops.aten.relu
    custom = {relu: lambda x, *args, out_shape=None, **kwargs: int(np.prod(out_shape))}
    with FlopCounterMode(display=False, custom_mapping=custom) as counter:
        tapegrad.relu(tapegrad.ones(2, 3))
    assert counter.get_flop_counts()["Global"] == {relu: 6}
    assert relu not in flop_registry


def test_a_formula_is_registered_once():
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.mm"):
        register_flop_formula(tapegrad.ops.aten.mm)(lambda *args, **kwargs: 0)
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula("mm")(lambda *args, **kwargs: 0)
