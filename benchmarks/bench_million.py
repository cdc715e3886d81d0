"""A graph of a million nodes: time and memory may not grow faster than its length."""

import gc
from time import process_time

from memory import resident_bytes
from row import TAPEGRAD, Bound, Figure, Row

SHORT, LONG = 1_000, 1_000_000
ROUNDS = 200  # of the short chain, so that it is timed for about a second
TIME_SHORT = "CPU time per operator, chain of 1,000"
TIME_LONG = "CPU time per operator, chain of 1,000,000"
FORWARD, BACKWARD, RELEASE = "  of that forward", "  of that backward", "  of that release"
BYTES = "bytes per node"


def million(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
    ones = torch.ones(3)

    def forward(n):
        y = x
        for _ in range(n):
            y = y * w
        return y

    def short():
        start = process_time()
        for _ in range(ROUNDS):
            y = forward(SHORT)
            y.backward(ones)
            del y
            x.grad = w.grad = None
        return (process_time() - start) / (ROUNDS * SHORT)

    def step():
        figures = {TIME_SHORT: short(), TIME_LONG: 0.0}
        gc.collect()
        empty = resident_bytes()
        start = process_time()
        y = forward(LONG)
        built = process_time()
        full = resident_bytes()
        resumed = process_time()
        y.backward(ones)
        walked = process_time()
        del y
        released = process_time()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]
        x.grad = w.grad = None
        figures[FORWARD] = (built - start) / LONG
        figures[BACKWARD] = (walked - resumed) / LONG
        figures[RELEASE] = (released - walked) / LONG
        figures[TIME_LONG] = figures[FORWARD] + figures[BACKWARD] + figures[RELEASE]
        figures[BYTES] = (full - empty) / LONG
        return figures

    return step


ROWS = [
    Row(
        "million",
        "chain of 1,000,000 operators: forward, backward and release",
        million,
        repeats=3,
        warmup=0,  # memory is asked of the system in the first round: its figure is the largest
        bounds=(
            Bound(
                "tapegrad, an operator of the long chain / of the short one",
                Figure(TAPEGRAD, TIME_LONG),
                Figure(TAPEGRAD, TIME_SHORT),
                1.5,
            ),
            Bound("tapegrad, bytes per node, at worst", Figure(TAPEGRAD, BYTES), None, 1024),
        ),
    )
]
