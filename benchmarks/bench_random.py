"""Random draws: few and many, where the numbers are PyTorch's to the bit."""

from row import TORCH, WALL, Row, ratio

FEW, MANY = 1_000, 1_000_000
CALLS = 300  # of the few, so that a sample takes a millisecond at least


def drawing(name, size, calls):
    def prepare(torch):
        torch.manual_seed(0)
        draw = getattr(torch, name)

        def step():
            for _ in range(calls):
                draw(size)

        return step

    return prepare


def row(name, size, limit):
    calls, short = (CALLS, "1e3") if size == FEW else (1, "1e6")
    return Row(
        f"{name}_{short}",
        f"{name}({size:,})",
        drawing(name, size, calls),
        count=calls,
        per="call",
        bounds=(ratio(TORCH, limit),),
    )


ROWS = [
    row("rand", FEW, 2.0),
    row("rand", MANY, 2.0),
    row("randn", FEW, 2.0),
    row("randn", MANY, 2.0),
    Row(
        "randn_1e6_threads",
        f"randn({MANY:,}), shared out over as many threads as there are cores",
        drawing("randn", MANY, 1),
        per="call",
        clock=WALL,
        pinned=False,
        bounds=(ratio(TORCH, 2.0, WALL),),
    ),
    row("randperm", FEW, 4.0),
    row("randperm", MANY, 4.0),
]
