"""Two small operators over and over: what recording a graph costs, without walking it."""

from row import TORCH, Row, ratio

N = 1_000
ROUNDS = 20  # chains in a sample: longer than a core needs to warm up again after the others' turn


def forward(torch):
    torch.manual_seed(0)
    x = torch.randn(2, 3, requires_grad=True)
    y = torch.rand(2, 3, requires_grad=True)
    start = torch.ones(2, 3, requires_grad=True)

    def step():
        for _ in range(ROUNDS):
            z = start
            for _ in range(N):
                z = (z / x) * y

    return step


def forward_by_hand(np):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 3), dtype=np.float32)
    y = random.random((2, 3), dtype=np.float32)
    start = np.ones((2, 3), dtype=np.float32)

    def step():
        with np.errstate(all="ignore"):
            for _ in range(ROUNDS):
                z = start
                for _ in range(N):
                    z = (z / x) * y

    return step


ROWS = [
    Row(
        "forward",
        "z = (z / x) * y, 1,000 times on 2x3, forward",
        forward,
        forward_by_hand,
        count=2 * ROUNDS * N,
        repeats=21,
        bounds=(ratio(TORCH, 0.5),),
    )
]
