"""Many elements made one, or put in order: what a pass over memory costs, and a sort."""

from row import TORCH, Row, ratio

SIZE = 1_000_000
REPEATS = 20  # of a reduction in each sample: one alone takes less than a tenth of a millisecond


def forward(name):
    def prepare(torch):
        torch.manual_seed(0)
        x = torch.randn(SIZE)

        def step():
            for _ in range(REPEATS):
                getattr(x, name)()

        return step

    return prepare


def forward_by_hand(name):
    def prepare(np):
        x = np.random.default_rng(0).standard_normal(SIZE, dtype=np.float32)

        def step():
            for _ in range(REPEATS):
                getattr(x, name)()

        return step

    return prepare


def backward(name):
    def prepare(torch):
        torch.manual_seed(0)
        x = torch.randn(SIZE, requires_grad=True)

        def step():
            for _ in range(REPEATS):
                x.grad = None
                getattr(x, name)().backward()

        return step

    return prepare


def sorting(torch):
    torch.manual_seed(0)
    x = torch.randn(SIZE)

    def step():
        x.sort()

    return step


def sorting_by_hand(np):
    x = np.random.default_rng(0).standard_normal(SIZE, dtype=np.float32)

    def step():
        indices = np.argsort(x, kind="stable")
        assert len(x[indices]) == SIZE

    return step


def row(name, title, tensors, by_hand=None, count=REPEATS):
    return Row(
        name,
        f"{title}, {SIZE:,} elements",
        tensors,
        by_hand,
        count=count,
        per="pass",
        bounds=(ratio(TORCH, 1.3),),
    )


ROWS = [
    *(
        row(f"{name}_1e6", f"x.{name}()", forward(name), forward_by_hand(name))
        for name in ("sum", "mean", "max")
    ),
    *(
        row(f"{name}_backward_1e6", f"x.{name}().backward()", backward(name))
        for name in ("sum", "mean", "max")
    ),
    row("sort_1e6", "x.sort()", sorting, sorting_by_hand, count=1),
]
