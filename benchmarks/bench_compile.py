"""Small and large operators through `torch.compile`: what a step costs beyond its arithmetic."""

import bench_embedding
import bench_network
from compiling import all_cores, rows

N = 1_000


def chain(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 0.999, 1.001], requires_grad=True)
    ones = torch.ones(3)

    def step():
        x.grad = w.grad = None
        y = x
        for _ in range(N):
            y = y * w
        y.backward(ones)
        return y

    return step


def chain_jax(jax):
    jnp = jax.numpy
    x = jnp.array([1.0, 2.0, 3.0])
    w = jnp.array([1.0, 0.999, 1.001])
    ones = jnp.ones(3)

    def product(x, w):
        return jax.lax.fori_loop(0, N, lambda i, y: y * w, x)

    @jax.jit
    def both(x, w, ones):
        y, backward = jax.vjp(product, x, w)
        return y, backward(ones)

    return lambda: both(x, w, ones)


def leaves(torch):
    """Three operators on two leaves that are made in the step."""

    def step():
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        w = torch.tensor([1.0, 0.999, 1.001], requires_grad=True)
        y = (x * w).tanh().sum()
        y.backward()
        return x.grad, w.grad

    return step


def leaves_jax(jax):
    jnp = jax.numpy

    @jax.jit
    def step():
        x = jnp.array([1.0, 2.0, 3.0])
        w = jnp.array([1.0, 0.999, 1.001])
        return jax.grad(lambda x, w: jnp.tanh(x * w).sum(), argnums=(0, 1))(x, w)

    return step


def elementwise(n):
    def prepare(torch):
        torch.manual_seed(0)
        x = torch.randn(n, requires_grad=True)
        w = torch.randn(n, requires_grad=True)
        b = torch.randn(n, requires_grad=True)

        def step():
            x.grad = w.grad = b.grad = None
            total = (torch.tanh(x * w + b) * torch.sigmoid(x)).sum()
            total.backward()
            return total

        return step

    return prepare


def elementwise_jax(n):
    def prepare(jax):
        jnp = jax.numpy
        x, w, b = (jax.random.normal(k, n) for k in jax.random.split(jax.random.PRNGKey(0), 3))

        def total(x, w, b):
            return (jnp.tanh(x * w + b) * jax.nn.sigmoid(x)).sum()

        both = jax.jit(jax.value_and_grad(total, argnums=(0, 1, 2)))
        return lambda: both(x, w, b)

    return prepare


def network(torch):
    """One iteration of the row `network`; the loss is given out as a tensor."""
    rate, sizes = bench_network.RATE, bench_network
    torch.manual_seed(0)
    X = torch.randn(sizes.BATCH, sizes.D_IN)
    Y = torch.randn(sizes.BATCH, sizes.D_OUT)
    W1 = torch.randn(sizes.D_IN, sizes.HIDDEN).requires_grad_()
    W2 = torch.randn(sizes.HIDDEN, sizes.D_OUT).requires_grad_()

    def step():
        loss = (X.mm(W1).clamp(min=0).mm(W2) - Y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            W1.sub_(rate * W1.grad)
            W2.sub_(rate * W2.grad)
            W1.grad.zero_()
            W2.grad.zero_()
        return loss

    return step


def network_jax(jax):
    jnp, sizes = jax.numpy, bench_network
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    X = jax.random.normal(keys[0], (sizes.BATCH, sizes.D_IN))
    Y = jax.random.normal(keys[1], (sizes.BATCH, sizes.D_OUT))
    W1 = jax.random.normal(keys[2], (sizes.D_IN, sizes.HIDDEN))
    W2 = jax.random.normal(keys[3], (sizes.HIDDEN, sizes.D_OUT))

    def loss_of(weights, X, Y):
        W1, W2 = weights
        return jnp.square(jnp.maximum(X @ W1, 0) @ W2 - Y).sum()

    def update(weights, X, Y):
        loss, gradients = jax.value_and_grad(loss_of)(weights, X, Y)
        return [w - sizes.RATE * g for w, g in zip(weights, gradients, strict=True)], loss

    update = jax.jit(update, donate_argnums=0)
    weights = [W1, W2]

    def step():
        nonlocal weights
        weights, loss = update(weights, X, Y)
        return weights, loss

    return step


def embedding_jax(jax):
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    weight = jax.random.normal(keys[0], (50_000, 64))
    indices = jax.random.randint(keys[1], (4096,), 0, 50_000)
    g = jax.random.normal(keys[2], (4096, 64))

    @jax.jit
    def gradient(weight, indices, g):
        _, backward = jax.vjp(lambda weight: jnp.take(weight, indices, axis=0), weight)
        return backward(g)

    return lambda: gradient(weight, indices, g)


def _elementwise(name, n, c, numpy, **options):
    title = f"(tanh(x*w+b)*sigmoid(x)).sum().backward(), {n:,} elements"
    work, jax = elementwise(n), elementwise_jax((n,))
    return rows(f"elementwise_{name}", title, work, c, numpy, jax, **options)


def _elementwise_all_cores(name, n, limit, **options):
    title = f"(tanh(x*w+b)*sigmoid(x)).sum().backward(), {n:,} elements"
    return all_cores(f"elementwise_{name}", title, elementwise(n), limit, **options)


ROWS = [
    *rows("chain", "1,000 multiplications, forward and backward", chain, 0.003, 0.14, chain_jax,
          count=100),
    *rows("leaves", "three operators on two leaves made in the step", leaves, 0.18, 0.25,
          leaves_jax, count=5_000, repeats=15),
    *_elementwise("1e4", 10_000, 0.09, 0.25, count=2_000),
    *_elementwise("1e6", 1_000_000, 0.13, 0.5, count=20),
    *_elementwise("1e7", 10_000_000, 0.15, 0.3, count=2, repeats=7),
    *rows("network", "two-layer network by hand, one iteration", network, 0.55, 0.68,
          network_jax, count=100),
    *rows("embedding", "4,096 rows of a table of 50,000x64, and its gradient",
          bench_embedding.embedding, 0.38, 1.0, embedding_jax, count=20, repeats=15),
    _elementwise_all_cores("1e6", 1_000_000, 0.35, repeats=15),
    _elementwise_all_cores("1e7", 10_000_000, 0.25, repeats=9),
]  # fmt: skip
