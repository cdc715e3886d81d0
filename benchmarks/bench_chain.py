"""A chain of multiplications: what one small operator costs, forward and backward."""

from row import TORCH, Row, ratio

N = 1_000
ROUNDS = 20  # chains in a sample: longer than a core needs to warm up again after the others' turn


def chain(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 0.999, 1.001], requires_grad=True)
    ones = torch.ones(3)

    def step():
        for _ in range(ROUNDS):
            y = x
            for _ in range(N):
                y = y * w
            y.backward(ones)
            x.grad = w.grad = None

    return step


def chain_by_hand(np):
    x = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    w = np.array([1.0, 0.999, 1.001], dtype=np.float32)
    ones = np.ones(3, dtype=np.float32)

    def step():
        for _ in range(ROUNDS):
            y, kept = x, []
            for _ in range(N):
                kept.append(y)
                y = y * w
            g, g_w = ones, np.zeros_like(w)
            for y in reversed(kept):
                g_w += g * y
                g = g * w

    return step


ROWS = [
    Row(
        "chain",
        "1,000 multiplications in a chain, 3 elements of float32, forward and backward",
        chain,
        chain_by_hand,
        count=ROUNDS * N,
        repeats=21,
        bounds=(ratio(TORCH, 0.40),),
    )
]
