"""An LSTM learns to forecast a chaotic series.

    python examples/series.py --steps 400 --seed 0

The series is that of Mackey and Glass: the number of blood cells, where new ones are made with a
delay. The LSTM reads it value by value and says each time what it will be 12 time units later. The
figure is its error on a later part of the series, over that of the naive forecast, "as now".

Source: Mackey and Glass, "Oscillation and Chaos in Physiological Control Systems", 1977;
Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
"""

import argparse

import tapegrad as torch
from tapegrad import nn

DELAY = 17  # time units; above 16.8 the series is chaotic
FINE = 10  # steps of the integration in a time unit
HORIZON = 12
LENGTH, WARMUP = 128, 32  # of a training sequence; the first values only set the state
HIDDEN, BATCH, RATE = 64, 32, 5e-3
TRAIN, TEST = 3000, 1000


def mackey_glass(n):
    """`n` values of x' = 0.2 x(t - 17) / (1 + x(t - 17)**10) - 0.1 x, a time unit apart (Euler)."""
    past = [1.2] * (DELAY * FINE + 1)
    values = []
    for i in range((n + 200) * FINE):  # the first 200 time units depend on the start
        x, late = past[-1], past[i]
        past.append(x + (0.2 * late / (1 + late**10) - 0.1 * x) / FINE)
        if i % FINE == 0:
            values.append(x)
    return torch.tensor(values[200:])


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, x):  # (N, T)
        """The value HORIZON later than each."""
        states, _ = self.lstm(x.unsqueeze(2))  # (N, T, HIDDEN)
        return x + self.head(states).squeeze(2)  # what is learned is the change


def forecast_errors(model, series):
    """The root mean square errors of the model and of the naive forecast."""
    now, later = series[:-HORIZON], series[HORIZON:]
    with torch.no_grad():
        forecast = model(now.unsqueeze(0))[0]
    errors = ((guess - later)[WARMUP:].square().mean().sqrt() for guess in (forecast, now))
    return [error.item() for error in errors]


def train(steps=400, seed=0, compiled=False):
    """Train for `steps`; the error over that of the naive forecast, the loss of each step."""
    torch.manual_seed(seed)
    series = mackey_glass(TRAIN + TEST)
    mean, std = series[:TRAIN].mean(), series[:TRAIN].std()
    series = (series - mean) / std
    known, unknown = series[:TRAIN], series[TRAIN:]

    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)

    def step(windows):
        forecast = model(windows[:, :-HORIZON])
        loss = nn.functional.mse_loss(forecast[:, WARMUP:], windows[:, WARMUP + HORIZON :])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step)
    losses = []
    for done in range(1, steps + 1):
        starts = torch.randint(len(known) - LENGTH - HORIZON + 1, (BATCH, 1))
        losses.append(step(known[starts + torch.arange(LENGTH + HORIZON)]).item())
        rate.step()
        if done % max(steps // 20, 1) == 0:
            print(f"step {done} of {steps}: loss {losses[-1]:.6f}", flush=True)

    error, naive = forecast_errors(model, unknown)
    print(f"{HORIZON} time units ahead, in standard deviations: {error:.4f}; naive {naive:.4f}")
    return error / naive, losses


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the training step")
    options = parser.parse_args(argv)
    error, _ = train(options.steps, options.seed, options.compile)
    print(f"error after {options.steps} steps: {error:.4f} of the naive forecast's")


if __name__ == "__main__":
    main()
