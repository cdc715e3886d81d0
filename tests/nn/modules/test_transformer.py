"""Multi-head attention and transformers: PyTorch's numbers for a seed, masks, warnings, errors."""

import warnings

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises

X = torch.arange(12.0).view(1, 3, 4) / 10


def near(x, values):
    return torch.allclose(x, torch.tensor(values), rtol=1e-4, atol=1e-5)


def test_attention_of_a_seed_is_that_of_pytorch_with_dropout():
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)
    torch.manual_seed(1)
    y, weights = attention(X, X, X)
    expected = [-0.5400283932685852, -0.1317969113588333, -0.24635177850723267, 0.287170946598053]
    assert near(y[0, 0], expected)
    assert near(
        weights[0],
        [
            [0.671002984046936, 0.3331049680709839, 0.6629254817962646],
            [0.28844940662384033, 0.3292972147464752, 0.6522485017776489],
            [0.7055587768554688, 0.0, 0.23245498538017273],
        ],
    )


def test_weights_of_a_seed_are_those_of_pytorch_with_sizes_of_their_own():
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True)
    first = [-0.5404386520385742, 0.795833170413971, 0.4131179451942444]
    assert near(attention.k_proj_weight[0], first)
    bias = [-0.010439736768603325, -0.35924002528190613, 0.25931838154792786, -0.6562609672546387]
    assert near(attention.bias_k[0, 0], bias)
    assert [name for name, _ in attention.named_parameters()] == [
        *("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "bias_k", "bias_v"),
        *("out_proj.weight", "out_proj.bias"),
    ]


def test_attention_leaves_out_what_masks_say():
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    causal = torch.ones(3, 3, dtype=torch.bool).triu(1)
    padding = torch.tensor([[False, False, True]])
    _, weights = attention(X, X, X, attn_mask=causal, key_padding_mask=padding)
    assert (weights[0] > 0).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, False],
    ]


def test_masks_of_two_kinds_warn():
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    message = "Support for mismatched key_padding_mask and attn_mask is deprecated."
    with pytest.warns(UserWarning, match=message):
        attention(
            *(X, X, X),
            attn_mask=torch.ones(3, 3, dtype=torch.bool).triu(1),
            key_padding_mask=torch.zeros(1, 3),
        )


def test_an_encoder_layer_of_a_seed_is_that_of_pytorch_with_dropout():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    torch.manual_seed(1)
    expected = [-1.6657302379608154, 0.1209993064403534, 0.6786930561065674, 0.8660377264022827]
    assert near(layer(X)[0, 0], expected)


def test_a_transformer_of_a_seed_is_that_of_pytorch():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True, norm_first=True)
    y = model(X, X[:, :2], tgt_mask=nn.Transformer.generate_square_subsequent_mask(2))
    row = [0.4790777862071991, 1.065346360206604, 0.07716062664985657, -1.6215847730636597]
    assert near(y[0], [row, row])


def test_a_causal_mask_is_found_to_be_one():
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2)
    x = X.clone().requires_grad_()
    encoder(x, mask=nn.Transformer.generate_square_subsequent_mask(3))[0, 1].pow(3).sum().backward()
    assert x.grad[0, 2].tolist() == [0.0] * 4
    assert x.grad[0, 1].abs().sum() > 0


def test_outputs_of_padding_are_zero_in_evaluation_without_gradients():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    padding = torch.tensor([[False, False, True]])
    first = [-1.215472936630249, -0.18737390637397766, -0.16560311615467072, 1.5684499740600586]
    last = [-1.1804003715515137, -0.22990132868289948, -0.17781759798526764, 1.5881192684173584]
    y = encoder(X, src_key_padding_mask=padding)
    assert near(y[0, ::2], [first, last])
    with torch.no_grad():
        y = encoder(X, src_key_padding_mask=padding)
        assert near(y[0, ::2], [first, [0.0] * 4])
        start = encoder(X, src_key_padding_mask=padding.flip(1))  # padding not at the end
        assert (start != 0).all()


def test_the_layers_of_an_encoder_are_copies():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2)
    first, second = (each.linear1.weight for each in encoder.layers)
    assert torch.equal(first, second)
    assert first is not second
    assert first is not layer.linear1.weight


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"norm_first": True}, "encoder_layer.norm_first was True"),
        ({"bias": False}, "encoder_layer.self_attn was passed bias=False"),
        ({"activation": torch.tanh}, "encoder_layer.activation_relu_or_gelu was not True"),
        (
            {"batch_first": False},
            "encoder_layer.self_attn.batch_first was not True"
            "(use batch_first for better inference performance)",
        ),
    ],
)
def test_an_encoder_warns_where_it_cannot_skip_padding(options, reason):
    layer = nn.TransformerEncoderLayer(4, 2, 8, **{"batch_first": True, **options})
    with pytest.warns(UserWarning) as caught:
        nn.TransformerEncoder(layer, 1)
    assert [str(w.message) for w in caught] == [
        f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}"
    ]


def test_layers_print_their_parts():
    assert repr(nn.TransformerEncoderLayer(4, 2, 8)) == (
        "TransformerEncoderLayer(\n"
        "  (self_attn): MultiheadAttention(\n"
        "    (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, "
        "bias=True)\n"
        "  )\n"
        "  (linear1): Linear(in_features=4, out_features=8, bias=True)\n"
        "  (dropout): Dropout(p=0.1, inplace=False)\n"
        "  (linear2): Linear(in_features=8, out_features=4, bias=True)\n"
        "  (norm1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  (norm2): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  (dropout1): Dropout(p=0.1, inplace=False)\n"
        "  (dropout2): Dropout(p=0.1, inplace=False)\n"
        ")"
    )


def test_what_cannot_be_is_refused():
    with raises(AssertionError, "embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(5, 2)
    message = (
        "embed_dim and num_heads must be greater than 0, got embed_dim=0 and num_heads=2 instead"
    )
    with raises(ValueError, message):
        nn.MultiheadAttention(0, 2)
    with raises(RuntimeError, "activation should be relu/gelu, not foo"):
        nn.TransformerDecoderLayer(4, 2, 8, activation="foo")


def test_what_does_not_fit_is_named():
    model = nn.Transformer(4, 2, 1, 1, 8, batch_first=True)
    with raises(RuntimeError, "the batch number of src and tgt must be equal"):
        model(torch.zeros(3, 2, 4), torch.zeros(5, 2, 4))
    with raises(RuntimeError, "the feature number of src and tgt must be equal to d_model"):
        model(torch.zeros(3, 2, 5), torch.zeros(3, 2, 4))
    message = (
        "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
        "method `generate_square_subsequent_mask` to create this mask."
    )
    with raises(RuntimeError, message):
        nn.TransformerDecoderLayer(4, 2, 8)(X, X, tgt_is_causal=True)


def test_pieces_of_which_others_build_layers():
    """As PyTorch has them in this module; results are its."""
    pieces = nn.modules.transformer
    assert pieces._get_activation_fn("gelu") is nn.functional.gelu
    with pytest.raises(RuntimeError, match=r"^activation should be relu/gelu, not tanh"):
        pieces._get_activation_fn("tanh")
    mask = pieces._generate_square_subsequent_mask(3)
    assert pieces._detect_is_causal_mask(mask) is True
    assert pieces._detect_is_causal_mask(mask, None, 4) is False
    assert pieces._detect_is_causal_mask(mask, False) is False
    assert pieces._detect_is_causal_mask(mask[None]) is False
    assert pieces._detect_is_causal_mask(torch.zeros(3, 3)) is False
    assert pieces._detect_is_causal_mask(None, True) is True
    assert pieces._get_seq_len(torch.ones(2, 3, 4), True) == 3
    assert pieces._get_seq_len(torch.ones(2, 3), True) == 2
    layer = nn.Linear(1, 1)
    one, other = pieces._get_clones(layer, 2)
    assert one.weight is not other.weight
    assert one.weight == other.weight == layer.weight
