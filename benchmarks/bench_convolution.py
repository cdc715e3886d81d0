"""Convolutions of images with kernels of 3x3: the result, and the gradients of all that went in."""

from row import TORCH, Row, ratio


def conv2d(shape, out, padding, first=False):
    """`first`: as in the first layer of a network, whose input needs no gradient."""

    def prepare(torch):
        torch.manual_seed(0)
        convolve = torch.nn.functional.conv2d
        n, channels, height, width = shape
        x = torch.randn(*shape, requires_grad=not first)
        w = torch.randn(out, channels, 3, 3, requires_grad=True)
        b = torch.randn(out, requires_grad=True)
        g = torch.randn(n, out, height - 2 + 2 * padding, width - 2 + 2 * padding)

        def step():
            x.grad = w.grad = b.grad = None
            convolve(x, w, b, padding=padding).backward(g)

        return step

    return prepare


def conv2d_by_hand(shape, out, padding, first=False):
    """The usual way: the columns of the whole batch, and one product of matrices."""

    def prepare(np):
        normal = np.random.default_rng(0).standard_normal
        n, channels, height, width = shape
        high, wide = height - 2 + 2 * padding, width - 2 + 2 * padding
        x = normal(shape, dtype=np.float32)
        w = normal((out, channels * 9), dtype=np.float32)
        b = normal(out, dtype=np.float32)
        g = normal((n, out, high, wide), dtype=np.float32)
        border = ((0, 0), (0, 0), (padding, padding), (padding, padding))

        def step():
            windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, border), (3, 3), (2, 3))
            columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, channels * 9)
            y = (columns @ w.T + b).reshape(n, high, wide, out).transpose(0, 3, 1, 2).copy()
            rows = g.transpose(0, 2, 3, 1).reshape(-1, out)
            g_b, g_w = g.sum((0, 2, 3)), rows.T @ columns
            assert y.shape == g.shape and len(g_b) == len(g_w)
            if first:
                return
            parts = (rows @ w).reshape(n, high, wide, channels, 3, 3).transpose(0, 3, 4, 5, 1, 2)
            g_x = np.zeros((n, channels, high + 2, wide + 2), np.float32)
            for i in range(3):
                for j in range(3):
                    g_x[:, :, i : i + high, j : j + wide] += parts[:, :, i, j]
            g_x = g_x[:, :, padding : padding + height, padding : padding + width]
            assert g_x.shape == shape

        return step

    return prepare


def row(name, shape, out, padding, limit, first=False):
    sizes = "x".join(map(str, shape))
    title = f"conv2d of {sizes} to {out} channels, 3x3, padding {padding}, forward and backward"
    if first:
        title += ", no gradient of the input"
    return Row(
        name,
        f"{title}, one core",
        conv2d(shape, out, padding, first),
        conv2d_by_hand(shape, out, padding, first),
        per="pass",
        bounds=(ratio(TORCH, limit),),
    )


ROWS = [
    row("conv2d_16", (32, 64, 16, 16), 128, 0, 1.6),
    row("conv2d_16_padded", (32, 64, 16, 16), 128, 1, 1.6),
    row("conv2d_26", (64, 32, 26, 26), 64, 0, 1.6),
    row("conv2d_26_padded", (64, 32, 26, 26), 64, 1, 1.6),
    row("conv2d_28", (64, 1, 28, 28), 32, 0, 1.0),
    row("conv2d_28_first", (64, 1, 28, 28), 32, 0, 1.0, first=True),
]
