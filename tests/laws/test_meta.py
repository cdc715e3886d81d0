"""On the meta device every call gives the shape, dtype, strides and node that it gives on the CPU.

The calls are those of the tables `*_calls.py`. What a call refuses on meta refuses by name.
"""

from contextlib import nullcontext

import pytest

import tapegrad
from tapegrad.nn.attention import SDPBackend, sdpa_kernel
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import groups_of

GROUPS = groups_of(tensor_calls, matrix_calls, layer_calls)
CALLS = [(group, call) for group in GROUPS for call in group.calls]


def on_meta(x):
    """A tensor without elements that lies as `x` does and requires grad if that does."""
    return x.detach().to("meta").requires_grad_(x.requires_grad)


def run(group, call, move):
    tapegrad.manual_seed(0)
    tensors = {name: move(x) for name, x in group.tensors(tapegrad).items()}
    scope = {"torch": tapegrad, "F": tapegrad.nn.functional, **tensors}
    outs = eval(call, scope)
    leaves = [x for x in tensors.values() if x.requires_grad]
    return outs, leaves


def tensors_in(tree):
    if isinstance(tree, tapegrad.Tensor):
        return [tree]
    if isinstance(tree, (tuple, list)):
        return [x for each in tree for x in tensors_in(each)]
    return []


def steps(x):
    """The strides along axes that take steps."""
    return [s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1] if x.numel() else None


def described(outs):
    return [
        (
            tuple(x.shape),
            x.dtype,
            steps(x),
            x.requires_grad,
            x.is_leaf,
            type(x.grad_fn).__name__,
            x.storage_offset(),
            x._is_view(),
        )
        for x in tensors_in(outs)
    ]


def gradients(outs, leaves):
    ends = [x for x in tensors_in(outs) if x.requires_grad and not x.is_leaf]
    if not ends or not leaves:
        return []
    found = tapegrad.autograd.grad(
        ends, leaves, [tapegrad.ones_like(x) for x in ends], allow_unused=True
    )
    return [None if g is None else (tuple(g.shape), g.dtype) for g in found]


ITEM = "Tensor.item() cannot be called on meta tensors"
NONZERO = "The register_meta function for torch.nonzero() raises unimplemented by default"
NO_NUMPY = "can't convert meta device type tensor to numpy."
MIXED = "Tensor on device cpu is not on the expected device meta!"
UNKNOWN = {
    "x[m]": NONZERO,
    "x.masked_select(m)": "aten::masked_select: attempted to run this operator with Meta tensors",
    "x.repeat_interleave(r, 0)": "cannot repeat_interleave a meta tensor without output_size",
    "torch.stft(x, 16, return_complex=True, window=torch.ones(16))": MIXED,
}
"""What a call that mixes devices, or the shape of whose result depends on elements, says."""

NEED_ELEMENTS = {
    "F.rrelu(x, training=True)": ITEM,
    "F.multilabel_margin_loss(x, n)": NO_NUMPY,
    "F.ctc_loss(F.log_softmax(u, -1), c, torch.full((4,), 20), torch.full((4,), 5))": NO_NUMPY,
    "F.pdist(x)": NONZERO,
    "F.fractional_max_pool2d(x, 2, 4)": MIXED,
    "F.fractional_max_pool3d(x[:, None], 2, 3)": MIXED,
    "F.embedding_bag(i, w)": ITEM,
    'F.embedding_bag(i, w, mode="sum")': ITEM,
    'F.embedding_bag(i, w, mode="max")': ITEM,
    'F.embedding_bag(i, w, mode="sum", per_sample_weights=s)': ITEM,
}
"""Calls that PyTorch has rules of shapes for, and that here refuse: they look at elements."""
UNKNOWN |= NEED_ELEMENTS

NO_GRADIENTS = {"torch.linalg.eig(a)", "x.masked_scatter(m, y)"}
"""Calls whose gradients need elements, or do not exist for a cotangent of ones."""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("group", "call"), CALLS, ids=[f"{group.name}: {call}" for group, call in CALLS]
)
def test_meta_gives_what_the_cpu_gives_but_elements(group, call):
    steps = call.startswith("F.scaled_dot_product_attention(")  # as PyTorch on the meta device
    with sdpa_kernel(SDPBackend.MATH) if steps else nullcontext():
        expected, leaves = run(group, call, lambda x: x)
    want = described(expected)
    try:
        found, meta_leaves = run(group, call, on_meta)
    except (NotImplementedError, RuntimeError, TypeError) as error:
        assert call in UNKNOWN, f"{type(error).__name__}: {error}"
        assert str(error).startswith(UNKNOWN[call])
        return
    assert call not in UNKNOWN
    assert described(found) == want
    assert all(x.is_meta for x in tensors_in(found))
    if call in NO_GRADIENTS:
        return
    assert gradients(found, meta_leaves) == gradients(expected, leaves)
