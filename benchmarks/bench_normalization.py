"""Normalisation of a batch of sequences: statistics, scaling, and three gradients."""

from row import TORCH, Row, all_cores, native, ratio

SHAPE = (64, 128, 256)


def layer_norm(torch):
    torch.manual_seed(0)
    x = torch.randn(SHAPE, requires_grad=True)
    w = torch.ones(256, requires_grad=True)
    b = torch.zeros(256, requires_grad=True)
    g = torch.randn(SHAPE)

    def step():
        x.grad = w.grad = b.grad = None
        torch.nn.functional.layer_norm(x, (256,), w, b).backward(g)

    return step


def batch_norm(torch):
    torch.manual_seed(0)
    x = torch.randn(SHAPE, requires_grad=True)
    w = torch.ones(128, requires_grad=True)
    b = torch.zeros(128, requires_grad=True)
    g = torch.randn(SHAPE)
    mean, variance = torch.zeros(128), torch.ones(128)

    def step():
        x.grad = w.grad = b.grad = None
        torch.nn.functional.batch_norm(x, mean, variance, w, b, training=True).backward(g)

    return step


def layer_norm_by_hand(np):
    normal = np.random.default_rng(0).standard_normal
    x, g = normal(SHAPE, dtype=np.float32), normal(SHAPE, dtype=np.float32)
    w, b = np.ones(256, np.float32), np.zeros(256, np.float32)

    def step():
        d = x - x.mean(-1, keepdims=True)
        r = 1 / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(1e-5))
        z = d * r
        y = z * w + b
        g_b, g_w, gz = g.sum((0, 1)), (g * z).sum((0, 1)), g * w
        g_x = r * (gz - gz.mean(-1, keepdims=True) - z * (gz * z).mean(-1, keepdims=True))
        assert y.shape == g_x.shape and g_b.shape == g_w.shape

    return step


def batch_norm_by_hand(np):
    normal = np.random.default_rng(0).standard_normal
    x, g = normal(SHAPE, dtype=np.float32), normal(SHAPE, dtype=np.float32)
    w, b = np.ones((128, 1), np.float32), np.zeros((128, 1), np.float32)

    def step():
        d = x - x.mean((0, 2), keepdims=True)
        r = 1 / np.sqrt((d * d).mean((0, 2), keepdims=True) + np.float32(1e-5))
        z = d * r
        y = z * w + b
        g_b, g_w, gz = g.sum((0, 2)), (g * z).sum((0, 2)), g * w
        g_x = r * (gz - gz.mean((0, 2), keepdims=True) - z * (gz * z).mean((0, 2), keepdims=True))
        assert y.shape == g_x.shape and g_b.shape == g_w.shape

    return step


def row(name, title, tensors, by_hand, limit):
    return Row(name, title, tensors, by_hand, per="pass", repeats=21, bounds=(ratio(TORCH, limit),))


LAYER = row("layer_norm", "layer_norm of 64x128x256 over 256", layer_norm, layer_norm_by_hand, 1.8)
ROWS = [
    LAYER,
    all_cores(LAYER, 1.5),
    native(LAYER, 0.9),
    row(
        "batch_norm", "batch_norm of 64x128x256, 128 channels", batch_norm, batch_norm_by_hand, 1.3
    ),
]
