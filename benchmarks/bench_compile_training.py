"""Whole training steps through `torch.compile`: forward, backward and optimiser as one program."""

from itertools import pairwise

import bench_gpt
import bench_training
from bench_gpt import BATCH, CONTEXT, HEADS, LAYERS, VOCABULARY, WIDTH
from compiling import all_cores, rows


def adam(jax, loss_of, parameters, batch, rate, decay=0.0):
    """A step of Adam that trains `parameters`, compiled as a whole; what it updates is donated."""
    jnp, tree = jax.numpy, jax.tree_util
    beta, beta2, epsilon = 0.9, 0.999, 1e-8

    def update(state, batch):
        parameters, means, squares, t = state
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *batch)
        t = t + 1
        means = tree.tree_map(lambda m, g: beta * m + (1 - beta) * g, means, gradients)
        squares = tree.tree_map(lambda v, g: beta2 * v + (1 - beta2) * g * g, squares, gradients)
        size, root = rate / (1 - beta**t), jnp.sqrt(1 - beta2**t)

        def moved(p, m, v):
            return p * (1 - rate * decay) - size * m / (jnp.sqrt(v) / root + epsilon)

        parameters = tree.tree_map(moved, parameters, means, squares)
        return (parameters, means, squares, t), loss

    update = jax.jit(update, donate_argnums=0)
    zeros = [tree.tree_map(jnp.zeros_like, parameters) for _ in range(2)]
    state = (parameters, *zeros, jnp.zeros(()))

    def step():
        nonlocal state
        state, loss = update(state, batch)
        return state, loss

    return step


class Draws:
    """Numbers for JAX's side, drawn one array after the other."""

    def __init__(self, jax):
        self.jax, self.key = jax, jax.random.PRNGKey(0)

    def _next(self):
        self.key, key = self.jax.random.split(self.key)
        return key

    def normal(self, *shape, scale=1.0):
        return self.jax.random.normal(self._next(), shape) * scale

    def linear(self, n_in, n_out):
        """Weight and bias of a linear layer, the weight from in to out."""
        return self.normal(n_in, n_out, scale=n_in**-0.5), self.jax.numpy.zeros(n_out)

    def integers(self, most, *shape):
        return self.jax.random.randint(self._next(), shape, 0, most)


def layers_jax(sizes, activation, rate, batch):
    """Training of linear layers by mean squared error."""

    def prepare(jax):
        jnp, draws = jax.numpy, Draws(jax)
        layers = [draws.linear(n_in, n_out) for n_in, n_out in pairwise(sizes)]
        data = draws.normal(batch, sizes[0]), draws.normal(batch, sizes[-1])

        def loss_of(layers, x, y):
            for i, (w, b) in enumerate(layers):
                x = x @ w + b
                if i < len(layers) - 1:
                    x = activation(jax)(x)
            return jnp.square(x - y).mean()

        return adam(jax, loss_of, layers, data, rate)

    return prepare


def cross_entropy(jax, scores, targets):
    logs = jax.nn.log_softmax(scores)
    return -jax.numpy.take_along_axis(logs, targets[..., None], axis=-1).mean()


def lstm_jax(jax):
    jnp, draws = jax.numpy, Draws(jax)
    x, y = draws.normal(32, 64, 128), draws.integers(10, 32)
    parameters = [draws.linear(128, 512), draws.linear(128, 512), draws.linear(128, 10)]

    def loss_of(parameters, x, y):
        (w_in, b_in), (w, b), (w_head, b_head) = parameters
        gates_in = x.swapaxes(0, 1) @ w_in + b_in  # (T, N, 4H)

        def one(state, gates_in):
            h, c = state
            i, f, g, o = jnp.split(gates_in + h @ w + b, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((x.shape[0], 128))
        (h, _), _ = jax.lax.scan(one, (zeros, zeros), gates_in)
        return cross_entropy(jax, h @ w_head + b_head, y)

    return adam(jax, loss_of, parameters, (x, y), 1e-3)


def gpt_jax(by_hand):
    def prepare(jax):
        jnp, draws = jax.numpy, Draws(jax)

        def norm():
            return jnp.ones(WIDTH), jnp.zeros(WIDTH)

        def block():
            return {
                "norm1": norm(), "norm2": norm(), "qkv": draws.linear(WIDTH, 3 * WIDTH),
                "out": draws.linear(WIDTH, WIDTH), "up": draws.linear(WIDTH, 4 * WIDTH),
                "down": draws.linear(4 * WIDTH, WIDTH),
            }  # fmt: skip

        parameters = {
            "token": draws.normal(VOCABULARY, WIDTH), "place": draws.normal(CONTEXT, WIDTH),
            "blocks": [block() for _ in range(LAYERS)], "norm": norm(),
            "head": draws.normal(WIDTH, VOCABULARY, scale=WIDTH**-0.5),
        }  # fmt: skip
        text = draws.integers(VOCABULARY, BATCH, CONTEXT + 1)
        past = jnp.tril(jnp.ones((CONTEXT, CONTEXT), dtype=bool))

        def normalized(x, weights):
            x = x - x.mean(-1, keepdims=True)
            return (
                x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * weights[0]
                + weights[1]
            )

        def attend(x, block):
            n, t, _ = x.shape
            qkv = (x @ block["qkv"][0] + block["qkv"][1]).reshape(n, t, 3, HEADS, WIDTH // HEADS)
            if by_hand:
                q, k, v = qkv.transpose(2, 0, 3, 1, 4)  # (N, H, T, D)
                scores = q @ k.swapaxes(-2, -1) / (WIDTH // HEADS) ** 0.5
                weights = jax.nn.softmax(jnp.where(past, scores, -jnp.inf))
                y = (weights @ v).swapaxes(1, 2)
            else:
                y = jax.nn.dot_product_attention(*jnp.moveaxis(qkv, 2, 0), is_causal=True)
            return y.reshape(n, t, WIDTH) @ block["out"][0] + block["out"][1]

        def loss_of(parameters, tokens, targets):
            x = parameters["token"][tokens] + parameters["place"][: tokens.shape[1]]
            for block in parameters["blocks"]:
                x = x + attend(normalized(x, block["norm1"]), block)
                up = normalized(x, block["norm2"]) @ block["up"][0] + block["up"][1]
                x = x + jax.nn.gelu(up, approximate=False) @ block["down"][0] + block["down"][1]
            scores = normalized(x, parameters["norm"]) @ parameters["head"]
            return cross_entropy(jax, scores, targets)

        batch = text[:, :-1], text[:, 1:]
        return adam(jax, loss_of, parameters, batch, 1e-3, decay=0.01)

    return prepare


_DENSE = "Linear(1000, 100), ReLU, Linear(100, 10), MSE, Adam, batch 64"
_TANH = "4-64-64-2 with tanh, MSE, Adam, batch 32"
_LSTM = "LSTM of 128 over 64 steps, cross-entropy, Adam, batch 32"
_GPT, _BY_HAND = bench_gpt.TITLE, bench_gpt.TITLE_BY_HAND
_TRAINED = {"per": "training step", "peak": True}

ROWS = [
    *rows("tanh", _TANH, bench_training.tanh, 0.04, 0.17,
          layers_jax((4, 64, 64, 2), lambda jax: jax.numpy.tanh, 1e-3, 32),
          count=2_000, **_TRAINED),
    *rows("dense", _DENSE, bench_training.dense, 0.33, 0.55,
          layers_jax((1000, 100, 10), lambda jax: jax.nn.relu, 1e-4, 64),
          count=100, **_TRAINED),
    *rows("lstm", _LSTM, bench_training.lstm, 0.65, None, lstm_jax, count=3, **_TRAINED),
    *rows("gpt", _GPT, bench_gpt.gpt, 0.8, 1.1, gpt_jax(False), repeats=7, **_TRAINED),
    *rows("gpt_by_hand", _BY_HAND, bench_gpt.gpt_by_hand, 0.8, 1.1, gpt_jax(True),
          repeats=7, **_TRAINED),
    all_cores("lstm", _LSTM, bench_training.lstm, 0.8, count=3, per="training step"),
    all_cores("gpt", _GPT, bench_gpt.gpt, 0.8, per="training step"),
    all_cores("gpt_by_hand", _BY_HAND, bench_gpt.gpt_by_hand, 0.8, per="training step"),
]  # fmt: skip
