"""Pointwise mathematics on large arrays: what passes over memory and idle cores cost."""

from row import TORCH, Row, all_cores, ratio


def times(n):
    """How many passes a sample has: enough that caches are those of the work itself."""
    return max(1, 10_000_000 // n)


def elementwise(n):
    def prepare(torch):
        torch.manual_seed(0)
        x = torch.randn(n, requires_grad=True)
        w = torch.randn(n, requires_grad=True)
        b = torch.randn(n, requires_grad=True)

        def step():
            for _ in range(times(n)):
                x.grad = w.grad = b.grad = None
                (torch.tanh(x * w + b) * torch.sigmoid(x)).sum().backward()

        return step

    return prepare


def elementwise_by_hand(n):
    def prepare(np):
        normal = np.random.default_rng(0).standard_normal
        x, w, b = (normal(n, dtype=np.float32) for _ in range(3))

        def step():
            for _ in range(times(n)):
                t = np.tanh(x * w + b)
                s = 1 / (1 + np.exp(-x))
                total = (t * s).sum()
                g_b = s * (1 - t * t)
                g_w = g_b * x
                g_x = g_b * w + t * s * (1 - s)
                assert len(g_x) == len(g_w) and np.isfinite(total)

        return step

    return prepare


def row(name, n, repeats):
    title = f"(tanh(x*w+b)*sigmoid(x)).sum().backward(), {n:,} elements"
    return Row(
        name,
        title,
        elementwise(n),
        elementwise_by_hand(n),
        count=times(n),
        per="pass",
        repeats=repeats,
        bounds=(ratio(TORCH, 0.9),),
    )


MILLION, TEN_MILLION = row("elementwise_1e6", 1_000_000, 31), row("elementwise_1e7", 10_000_000, 11)
ROWS = [MILLION, all_cores(MILLION, 1.0), TEN_MILLION, all_cores(TEN_MILLION, 1.0)]
