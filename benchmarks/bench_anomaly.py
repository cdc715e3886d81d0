"""Anomaly mode against itself switched off: a network with layers, trained by plain SGD."""

from time import process_time

from row import TAPEGRAD, Bound, Figure, Row

ITERATIONS = 50
OFF, ON = "CPU time per iteration, anomaly mode off", "CPU time per iteration, anomaly mode on"


def anomaly(torch):
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 128), nn.Tanh(), nn.Linear(128, 64), nn.GELU())
    model.append(nn.Linear(64, 10))
    x, target = torch.randn(64, 784), torch.randint(0, 10, (64,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def iterations():
        start = process_time()
        for _ in range(ITERATIONS):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), target).backward()
            optimizer.step()
        return (process_time() - start) / ITERATIONS

    def step():
        off = iterations()
        with torch.autograd.set_detect_anomaly(True):
            on = iterations()
        return {OFF: off, ON: on}

    return step


ROWS = [
    Row(
        "anomaly",
        "784-128-64-10 network, batch 64, with anomaly mode and without",
        anomaly,
        repeats=15,
        bounds=(
            Bound(
                "tapegrad, anomaly mode on / off", Figure(TAPEGRAD, ON), Figure(TAPEGRAD, OFF), 1.5
            ),
        ),
    )
]
