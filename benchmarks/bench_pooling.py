"""Max pooling: the largest of each square of four pixels, and its gradient."""

from row import TORCH, Row, ratio

SHAPE = (64, 64, 24, 24)


def max_pool2d(torch):
    torch.manual_seed(0)
    pool = torch.nn.functional.max_pool2d
    x = torch.randn(*SHAPE, requires_grad=True)
    g = torch.randn(*SHAPE[:2], 12, 12)

    def step():
        x.grad = None
        pool(x, 2).backward(g)

    return step


def max_pool2d_by_hand(np):
    normal = np.random.default_rng(0).standard_normal
    x = normal(SHAPE, dtype=np.float32)
    g = normal((*SHAPE[:2], 12, 12), dtype=np.float32)
    corners = [(slice(i, None, 2), slice(j, None, 2)) for i in (0, 1) for j in (0, 1)]

    def step():
        y, winner = x[:, :, ::2, ::2].copy(), np.zeros(g.shape, np.uint8)
        for number, (rows, columns) in enumerate(corners[1:], 1):
            corner = x[:, :, rows, columns]
            winner = np.maximum(winner, (corner > y) * np.uint8(number))
            np.maximum(y, corner, out=y)
        g_x = np.empty_like(x)
        for number, (rows, columns) in enumerate(corners):
            g_x[:, :, rows, columns] = g * (winner == number)
        assert y.shape == g.shape and g_x.shape == x.shape

    return step


ROWS = [
    Row(
        "max_pool2d",
        "max_pool2d of (64, 64, 24, 24) in 2x2 squares, forward and backward, one core",
        max_pool2d,
        max_pool2d_by_hand,
        per="pass",
        bounds=(ratio(TORCH, 1.5),),
    )
]
