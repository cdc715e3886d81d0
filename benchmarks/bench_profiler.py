"""The profiler against itself switched off: a chain of small operators, forward and backward."""

from time import process_time

from row import TAPEGRAD, Bound, Figure, Row

N = 1_000
CHAINS = 5
OFF, ON = "CPU time per operator, no profiler", "CPU time per operator, torch.profiler.profile()"


def profiler(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 0.999, 1.001], requires_grad=True)
    ones = torch.ones(3)

    def chain():
        y = x
        for _ in range(N):
            y = y * w
        y.backward(ones)
        x.grad = w.grad = None

    def off():
        start = process_time()
        for _ in range(CHAINS):
            chain()
        return (process_time() - start) / (N * CHAINS)

    def on():
        start = process_time()
        for _ in range(CHAINS):
            with torch.profiler.profile():
                chain()
        return (process_time() - start) / (N * CHAINS)

    return lambda: {OFF: off(), ON: on()}


ROWS = [
    Row(
        "profiler",
        "1,000 multiplications in a chain, forward and backward, under a profiler and without",
        profiler,
        repeats=15,
        bounds=(
            Bound("tapegrad, profiler on / off", Figure(TAPEGRAD, ON), Figure(TAPEGRAD, OFF), 1.5),
        ),
    )
]
