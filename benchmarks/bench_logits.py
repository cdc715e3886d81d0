"""Class scores and activations of a batch of sequences: softmax, cross-entropy, GELU."""

from row import TORCH, Row, all_cores, native, ratio

SHAPE = (64, 128, 256)


def applied(function):
    """Forward and backward of `function(torch.nn.functional, x)`."""

    def prepare(torch):
        torch.manual_seed(0)
        x, g = torch.randn(SHAPE, requires_grad=True), torch.randn(SHAPE)

        def step():
            x.grad = None
            function(torch.nn.functional, x).backward(g)

        return step

    return prepare


def cross_entropy(torch):
    torch.manual_seed(0)
    x = torch.randn(64 * 128, 256, requires_grad=True)
    target = torch.randint(0, 256, (64 * 128,))

    def step():
        x.grad = None
        torch.nn.functional.cross_entropy(x, target).backward()

    return step


def softmax_by_hand(np):
    normal = np.random.default_rng(0).standard_normal
    x, g = normal(SHAPE, dtype=np.float32), normal(SHAPE, dtype=np.float32)

    def step():
        e = np.exp(x - x.max(-1, keepdims=True))
        y = e / e.sum(-1, keepdims=True)
        g_x = (g - (g * y).sum(-1, keepdims=True)) * y
        assert g_x.shape == y.shape

    return step


def cross_entropy_by_hand(np):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64 * 128, 256), dtype=np.float32)
    target, rows = rng.integers(0, 256, 64 * 128), np.arange(64 * 128)

    def step():
        e = np.exp(x - x.max(-1, keepdims=True))
        p = e / e.sum(-1, keepdims=True)
        loss = -np.log(p[rows, target]).mean()
        p[rows, target] -= 1
        p /= len(rows)
        assert np.isfinite(loss)

    return step


def row(name, title, tensors, by_hand=None, limit=1.3):
    return Row(name, title, tensors, by_hand, per="pass", repeats=21, bounds=(ratio(TORCH, limit),))


GELU = row("gelu", "gelu of 64x128x256", applied(lambda F, x: F.gelu(x)), limit=2.0)
ROWS = [
    row(
        "softmax",
        "softmax of 64x128x256 over 256",
        applied(lambda F, x: F.softmax(x, -1)),
        softmax_by_hand,
    ),
    row(
        "cross_entropy",
        "cross_entropy of 8192 rows of 256 scores",
        cross_entropy,
        cross_entropy_by_hand,
    ),
    GELU,
    all_cores(GELU, 1.5),
    native(GELU, 0.9),
]
