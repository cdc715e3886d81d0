"""A network learns the law of motion of a spiral, through the solver of its equation.

    python examples/ode.py --steps 500 --seed 0

dy/dt = f(y) is solved by Runge-Kutta. The gradient of what came out is found by solving another
equation, the adjoint one, backwards in time, so that nothing is kept from inside the solver. The
figure is the mean absolute error of the whole path, started from its first point.

Source: Chen, Rubanova, Bettencourt and Duvenaud, "Neural Ordinary Differential Equations", 2018,
section 2 and algorithm 1.
"""

import argparse

import tapegrad as torch
from tapegrad import nn

START = (2.0, 0.0)
MATRIX = ((-0.1, 1.0), (-1.0, -0.1))  # the law to be found is dy/dt = y @ MATRIX
POINTS, DT = 1000, 0.025
PIECE, BATCH, RATE = 10, 20, 1e-2  # pieces of 10 points are learned from, 20 at a time


def rk4(f, y, dt):
    """One step of the classical Runge-Kutta method for dy/dt = f(y)."""
    k1 = f(y)
    k2 = f(y + dt / 2 * k1)
    k3 = f(y + dt / 2 * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(f, y, dt, n):
    """y at n times, dt apart, the first of them now: (n, *y.shape)."""
    path = [y]
    for _ in range(n - 1):
        path.append(rk4(f, path[-1], dt))
    return torch.stack(path)


class Adjoint(torch.autograd.Function):
    """`solve`, whose backward pass needs the path alone.

    With a the gradient of the loss by y, da/dt = -a df/dy, and the gradient by a parameter w
    grows, backwards in time, by a df/dw.
    """

    @staticmethod
    def forward(ctx, f, dt, n, y, *parameters):
        path = solve(f, y, dt, n)
        ctx.f, ctx.dt = f, dt
        ctx.save_for_backward(path, *parameters)
        return path

    @staticmethod
    def backward(ctx, g):  # (n, *y.shape)
        path, *parameters = ctx.saved_tensors
        n_y = path[0].numel()

        def slope(state):
            y = state[:n_y].view(path[0].shape).requires_grad_()
            a = state[n_y : 2 * n_y].view(path[0].shape)
            with torch.enable_grad():
                dy = ctx.f(y)
                slopes = torch.autograd.grad(dy, (y, *parameters), -a)
            return torch.cat([part.detach().flatten() for part in (dy, *slopes)])

        a = torch.zeros_like(path[0])
        grads = torch.zeros(sum(p.numel() for p in parameters))
        for y, g_y in zip(path.flip(0)[:-1], g.flip(0)[:-1], strict=True):
            state = torch.cat((y.flatten(), (a + g_y).flatten(), grads))
            state = rk4(slope, state, -ctx.dt)
            a, grads = state[n_y : 2 * n_y].view(a.shape), state[2 * n_y :]
        parts = grads.split([p.numel() for p in parameters])
        grads = (part.view(p.shape) for part, p in zip(parts, parameters, strict=True))
        return None, None, None, a + g[0], *grads


def network():
    """dy/dt of points y (..., 2)."""
    layers = nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 2)
    for layer in layers[::2]:
        nn.init.normal_(layer.weight, std=0.1)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def train(steps=500, seed=0, compiled=False):
    """Train for `steps`; the mean absolute error of the whole path, the loss of each step."""
    torch.manual_seed(seed)
    start, matrix = torch.tensor(START), torch.tensor(MATRIX)
    path = solve(lambda y: y @ matrix, start, DT, POINTS)  # (POINTS, 2)

    law = network()
    optimizer = torch.optim.Adam(law.parameters(), lr=RATE)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)

    def step(piece):  # (PIECE, BATCH, 2)
        guess = Adjoint.apply(law, DT, PIECE, piece[0], *law.parameters())
        loss = (guess - piece).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step)
    losses = []
    for done in range(1, steps + 1):
        first = torch.randperm(POINTS - PIECE)[:BATCH]
        losses.append(step(path[torch.arange(PIECE)[:, None] + first]).item())
        rate.step()
        if done % max(steps // 20, 1) == 0:
            print(f"step {done} of {steps}: loss {losses[-1]:.6f}", flush=True)

    with torch.no_grad():
        error = (solve(law, start, DT, POINTS) - path).abs().mean().item()
    return error, losses


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the training step")
    options = parser.parse_args(argv)
    error, _ = train(options.steps, options.seed, options.compile)
    print(f"mean absolute error of the path after {options.steps} steps: {error:.4f}")


if __name__ == "__main__":
    main()
