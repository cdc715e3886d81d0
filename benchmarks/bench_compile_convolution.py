"""Training of convolutional networks through `torch.compile`, all of a step as one program."""

import bench_training
from bench_compile_training import Draws
from compiling import all_cores, row


def convolved(jax, x, w, padding):
    """Images (N, C, H, W) with kernels (O, C, 3, 3)."""
    return jax.lax.conv_general_dilated(x, w, (1, 1), [(padding, padding)] * 2)


def lenet_jax(jax):
    jnp, draws = jax.numpy, Draws(jax)
    x, y = draws.normal(64, 1, 28, 28), draws.integers(10, 64)
    parameters = [
        (draws.normal(32, 1, 3, 3, scale=1 / 3), jnp.zeros(32)),
        (draws.normal(64, 32, 3, 3, scale=1 / 17), jnp.zeros(64)),
        draws.linear(9216, 128),
        draws.linear(128, 10),
    ]

    def dropped(x, rate, key):
        return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)

    def loss_of(parameters, key, x, y):
        first, second = jax.random.split(key)
        *convolutions, (w_hidden, b_hidden), (w_head, b_head) = parameters
        for w, b in convolutions:
            x = jax.nn.relu(convolved(jax, x, w, 0) + b[:, None, None])
        x = x.reshape(*x.shape[:2], 12, 2, 12, 2).max((3, 5))
        x = dropped(x, 0.25, first).reshape(len(x), -1)
        x = dropped(jax.nn.relu(x @ w_hidden + b_hidden), 0.5, second)
        logs = jax.nn.log_softmax(x @ w_head + b_head)
        return -jnp.take_along_axis(logs, y[:, None], axis=1).mean()

    def update(state, x, y):
        parameters, key = state
        key, drawn = jax.random.split(key)
        loss, gradients = jax.value_and_grad(loss_of)(parameters, drawn, x, y)
        parameters = jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, parameters, gradients)
        return (parameters, key), loss

    return trained(jax, update, (parameters, draws.key), x, y)


def residual_jax(jax):
    jnp, draws = jax.numpy, Draws(jax)
    x, y = draws.normal(16, 64, 32, 32), draws.normal(16, 64, 32, 32)
    weights = [draws.normal(64, 64, 3, 3, scale=1 / 24) for _ in range(2)]
    norms = [(jnp.ones(64), jnp.zeros(64)) for _ in range(2)]
    running = [(jnp.zeros(64), jnp.ones(64)) for _ in range(2)]

    def normalized(x, norm, running):
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        scale = norm[0] / jnp.sqrt(variance + 1e-5)
        y = (x - mean[:, None, None]) * scale[:, None, None] + norm[1][:, None, None]
        unbiased = variance * (x.size / 64 / (x.size / 64 - 1))
        found = 0.9 * running[0] + 0.1 * mean, 0.9 * running[1] + 0.1 * unbiased
        return y, jax.lax.stop_gradient(found)

    def loss_of(parameters, running, x, y):
        weights, norms = parameters
        z, first = normalized(convolved(jax, x, weights[0], 1), norms[0], running[0])
        z = convolved(jax, jax.nn.relu(z), weights[1], 1)
        z, second = normalized(z, norms[1], running[1])
        return jnp.square(jax.nn.relu(x + z) - y).mean(), [first, second]

    def update(state, x, y):
        parameters, running, momenta = state
        of = jax.value_and_grad(loss_of, has_aux=True)
        (loss, running), gradients = of(parameters, running, x, y)
        tree_map = jax.tree_util.tree_map
        momenta = tree_map(lambda m, g: 0.9 * m + g, momenta, gradients)
        parameters = tree_map(lambda p, m: p - 0.01 * m, parameters, momenta)
        return (parameters, running, momenta), loss

    zeros = jax.tree_util.tree_map(jnp.zeros_like, (weights, norms))
    return trained(jax, update, ((weights, norms), running, zeros), x, y)


def trained(jax, update, state, *batch):
    """A step that goes on from the state that the last one has left, compiled as a whole."""
    update = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal state
        state, loss = update(state, *batch)
        return state, loss

    return step


_LENET = "the network of PyTorch's MNIST example, NLL, SGD, batch 64"
_RESIDUAL = "residual block of 64 channels, 32x32, SGD, batch 16"
_STEP = {"per": "training step", "repeats": 7}

ROWS = [
    row("lenet", _LENET, bench_training.lenet, 0.6, jax=lenet_jax, count=2, peak=True, **_STEP),
    row("residual", _RESIDUAL, bench_training.residual, 0.5, jax=residual_jax, peak=True,
        **_STEP),
    all_cores("lenet", _LENET, bench_training.lenet, 0.65, count=2, **_STEP),
    all_cores("residual", _RESIDUAL, bench_training.residual, 0.6, **_STEP),
]  # fmt: skip
