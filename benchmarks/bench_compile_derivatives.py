"""Derivatives of derivatives through `torch.compile`: a gradient penalty, a Hessian, a Jacobian."""

from bench_per_sample import BATCH, D_IN, HIDDEN, critic_step
from compiling import rows


def critic_jax(jax):
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 6)
    sizes = (D_IN, HIDDEN, HIDDEN, 1)
    layers = [
        (jax.random.normal(key, (n_in, n_out)) / n_in**0.5, jnp.zeros(n_out))
        for key, n_in, n_out in zip(keys, sizes, sizes[1:], strict=False)
    ]
    real, fake = (jax.random.normal(key, (BATCH, D_IN)) for key in keys[3:5])
    share = jax.random.uniform(keys[5], (BATCH, 1))

    def critic(layers, x):
        for w, b in layers[:-1]:
            x = jnp.tanh(x @ w + b)
        return x @ layers[-1][0] + layers[-1][1]

    def loss_of(layers, real, fake, share):
        between = share * real + (1 - share) * fake
        slope = jax.grad(lambda x: critic(layers, x).sum())(between)
        gap = ((jnp.sqrt(jnp.square(slope).sum(1)) - 1) ** 2).mean()
        return critic(layers, fake).mean() - critic(layers, real).mean() + 10 * gap

    def update(layers, *batch):
        loss, gradients = jax.value_and_grad(loss_of)(layers, *batch)
        return jax.tree_util.tree_map(lambda p, g: p - 1e-3 * g, layers, gradients), loss

    update = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal layers
        layers, loss = update(layers, real, fake, share)
        return layers, loss

    return step


def hessian(torch):
    torch.manual_seed(0)
    w = torch.randn(64, 100) / 10
    v = torch.randn(64) / 8
    x = torch.randn(100)
    all_of = torch.func.hessian(lambda x: (torch.tanh(w @ x) * v).sum())
    return lambda: all_of(x)


def hessian_jax(jax):
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    w = jax.random.normal(keys[0], (64, 100)) / 10
    v = jax.random.normal(keys[1], (64,)) / 8
    x = jax.random.normal(keys[2], (100,))

    @jax.jit
    def all_of(w, v, x):
        return jax.hessian(lambda x: (jnp.tanh(w @ x) * v).sum())(x)

    return lambda: all_of(w, v, x)


def jacobian(torch):
    torch.manual_seed(0)
    w1, w2 = torch.randn(128, 64) / 8, torch.randn(64, 128) / 128**0.5
    x = torch.randn(64)
    all_of = torch.func.jacrev(lambda x: torch.tanh(w2 @ torch.tanh(w1 @ x)))
    return lambda: all_of(x)


def jacobian_jax(jax):
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    w1 = jax.random.normal(keys[0], (128, 64)) / 8
    w2 = jax.random.normal(keys[1], (64, 128)) / 128**0.5
    x = jax.random.normal(keys[2], (64,))

    @jax.jit
    def all_of(w1, w2, x):
        return jax.jacrev(lambda x: jnp.tanh(w2 @ jnp.tanh(w1 @ x)))(x)

    return lambda: all_of(w1, w2, x)


_PENALTY = "step of a critic of 32-64-64-1 with gradient penalty, batch 64, SGD"

ROWS = [
    *rows("gradient_penalty", _PENALTY, critic_step, 0.27, 0.35, critic_jax, 1.1, count=200),
    *rows("hessian", "Hessian of a 100-64-1 tanh network", hessian, 0.03, 0.05, hessian_jax, 1.1,
          per="call", count=400),
    *rows("jacobian", "Jacobian of a 64-128-64 tanh network", jacobian, 0.08, 0.12, jacobian_jax,
          per="call", count=500),
]  # fmt: skip
