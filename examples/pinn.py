"""A network learns to solve Burgers' equation, from nothing but the equation.

    python examples/pinn.py --steps 40 --seed 0

u_t + u u_x = nu u_xx for x in [-1, 1] and t in [0, 1], with u(0, x) = -sin(pi x) and 0 at both
ends: a wave that steepens into a shock. The loss is how far the network is from fulfilling the
equation, its derivatives taken by autograd, and how far from the values at the edges. The figure
is its distance to the exact solution, relative to the latter's norm.

Source: Raissi, Perdikaris and Karniadakis, "Physics-informed neural networks", 2019; the exact
solution from Basdevant et al., "Spectral and finite difference solutions of the Burgers equation",
1986.
"""

import argparse

import numpy as np

import tapegrad as torch
from tapegrad import nn

NU = 0.03 / np.pi
POINTS, EDGE_POINTS, EDGE_WEIGHT = 2000, 100, 10
WIDTH, DEPTH = 20, 4
ITERATIONS = 20  # of L-BFGS in a step


def exact(t, x):
    """The solution for t > 0, by Gauss-Hermite quadrature of the Cole-Hopf integral."""
    nodes, weights = np.polynomial.hermite.hermgauss(100)
    moved = x[..., None] - np.sqrt(4 * NU * t[..., None]) * nodes  # (..., 100)
    f = weights * np.exp(-np.cos(np.pi * moved) / (2 * np.pi * NU))
    return -(np.sin(np.pi * moved) * f).sum(-1) / f.sum(-1)


def network():
    layers = [nn.Linear(2, WIDTH), nn.Tanh()]
    for _ in range(DEPTH - 1):
        layers += [nn.Linear(WIDTH, WIDTH), nn.Tanh()]
    model = nn.Sequential(*layers, nn.Linear(WIDTH, 1))
    for layer in model[::2]:
        nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(layer.bias)
    return model


def derivative(y, x):
    """dy/dx element by element, itself differentiable."""
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return slope


def residual(model, t, x):
    """u_t + u u_x - nu u_xx at the points (t, x), each (N, 1)."""
    t, x = t.clone().requires_grad_(), x.clone().requires_grad_()
    u = model(torch.cat((t, x), dim=1))
    u_t, u_x = derivative(u, t), derivative(u, x)
    return u_t + u * u_x - NU * derivative(u_x, x)


def edges():
    """Points (N, 2) where the solution is known, and its values (N, 1)."""
    x = torch.rand(EDGE_POINTS, 1) * 2 - 1
    t = torch.rand(EDGE_POINTS, 1)
    end = torch.ones(EDGE_POINTS, 1)
    end[::2] = -1
    points = torch.cat((torch.cat((torch.zeros_like(x), x), 1), torch.cat((t, end), 1)))
    return points, torch.cat((-torch.sin(torch.pi * x), torch.zeros_like(t)))


def relative_error(model):
    t, x = np.meshgrid(np.linspace(0.01, 1, 100), np.linspace(-1, 1, 256), indexing="ij")
    points = torch.tensor(np.stack((t, x), axis=-1).reshape(-1, 2), dtype=torch.float32)
    with torch.no_grad():
        u = model(points).reshape(t.shape).numpy()
    solution = exact(t, x)
    return float(np.linalg.norm(u - solution) / np.linalg.norm(solution))


def train(steps=40, seed=0, compiled=False):
    """Take `steps` steps of L-BFGS; the relative L2 error, the loss of each step."""
    torch.manual_seed(seed)
    model = network()
    t, x = torch.rand(POINTS, 1), torch.rand(POINTS, 1) * 2 - 1
    points, values = edges()
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=ITERATIONS, history_size=50, line_search_fn="strong_wolfe"
    )

    def loss_of():
        optimizer.zero_grad()
        at_edges = (model(points) - values).square().mean()
        loss = residual(model, t, x).square().mean() + EDGE_WEIGHT * at_edges
        loss.backward()
        return loss

    if compiled:
        loss_of = torch.compile(loss_of)
    losses = []
    for step in range(steps):
        losses.append(optimizer.step(loss_of).item())  # the loss before the step
        if (step + 1) % max(steps // 10, 1) == 0:
            now = f"loss {losses[-1]:.6f}, error {relative_error(model):.4f}"
            print(f"step {step + 1} of {steps}: {now}", flush=True)
    return relative_error(model), losses


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the loss and its gradient")
    options = parser.parse_args(argv)
    error, _ = train(options.steps, options.seed, options.compile)
    print(f"relative error after {options.steps} steps: {error:.4f}")


if __name__ == "__main__":
    main()
