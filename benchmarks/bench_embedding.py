"""Rows of a large table, looked up, and its gradient, which is zero almost everywhere."""

from row import TORCH, Row, all_cores, native, ratio


def embedding(torch):
    torch.manual_seed(0)
    weight = torch.randn(50_000, 64, requires_grad=True)
    indices = torch.randint(0, 50_000, (4096,))
    g = torch.randn(4096, 64)

    def step():
        weight.grad = None
        torch.nn.functional.embedding(indices, weight).backward(g)

    return step


def embedding_by_hand(np):
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((50_000, 64), dtype=np.float32)
    indices = rng.integers(0, 50_000, 4096)
    g = rng.standard_normal((4096, 64), dtype=np.float32)

    def step():
        y = weight[indices]
        g_weight = np.zeros_like(weight)
        np.add.at(g_weight, indices, g)
        assert y.shape == g.shape

    return step


ONE = Row(
    "embedding",
    "4,096 rows of a table of 50,000x64, and its gradient",
    embedding,
    embedding_by_hand,
    per="pass",
    repeats=31,
    bounds=(ratio(TORCH, 0.9),),
)
ROWS = [ONE, all_cores(ONE, 1.1), native(ONE, 0.5)]
