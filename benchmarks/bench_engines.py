"""What small engines can do as well: a chain, and a network by hand; for the page that compares."""

from row import Row

N = 300  # micrograd walks its graph by recursion: a chain of 1,000 is too long for it
ROUNDS = 10
BATCH, WIDTH, LEARNING = 32, 16, 0.05


# --- a chain of multiplications of three numbers -------------------------------------------------


def chain(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 0.999, 1.001], requires_grad=True)

    def step():
        for _ in range(ROUNDS):
            y = x
            for _ in range(N):
                y = y * w
            y.sum().backward()
            x.grad = w.grad = None

    return step


def chain_of_jax(jax):
    def last(x, w):
        for _ in range(N):
            x = x * w
        return x.sum()

    run = jax.jit(jax.grad(last, argnums=(0, 1)))
    x, w = jax.numpy.array([1.0, 2.0, 3.0]), jax.numpy.array([1.0, 0.999, 1.001])

    def step():
        for _ in range(ROUNDS):
            jax.block_until_ready(run(x, w))

    return step


def chain_of_mygrad(mg):
    x, w = mg.tensor([1.0, 2.0, 3.0]), mg.tensor([1.0, 0.999, 1.001])

    def step():
        for _ in range(ROUNDS):
            y = x
            for _ in range(N):
                y = y * w
            y.sum().backward()
            x.null_grad()
            w.null_grad()

    return step


def chain_of_micrograd(micrograd):
    from micrograd.engine import Value

    def step():
        for _ in range(ROUNDS):
            for a, b in ((1.0, 1.0), (2.0, 0.999), (3.0, 1.001)):
                y, w = Value(a), Value(b)
                for _ in range(N):
                    y = y * w
                y.backward()

    return step


def chain_of_tinygrad(tinygrad):
    x, w = tinygrad.Tensor([1.0, 2.0, 3.0]), tinygrad.Tensor([1.0, 0.999, 1.001])

    @tinygrad.TinyJit
    def run():
        y = x
        for _ in range(N):
            y = y * w
        return tinygrad.Tensor.realize(*y.sum().gradient(x, w))

    def step():
        for _ in range(ROUNDS):
            run()
            tinygrad.Device[x.device].synchronize()

    return step


# --- a step of a 2-16-1 network with ReLU, written with operators alone -------------------------


def data():
    """Points, targets, and the weights to begin with, as lists."""
    import numpy as np

    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (BATCH, 2)).astype("float32")
    y = (x[:, :1] * x[:, 1:]).astype("float32")
    first = random.normal(size=(2, WIDTH)).astype("float32")
    second = (random.normal(size=(WIDTH, 1)) / WIDTH**0.5).astype("float32")
    return x, y, first, second


def repeated(step):
    """`ROUNDS` steps in a sample."""

    def steps():
        for _ in range(ROUNDS):
            step()

    return steps


def network(torch):
    x, y, first, second = map(torch.tensor, data())
    weights = first.requires_grad_(), second.requires_grad_()

    def step():
        loss = ((torch.relu(x @ weights[0]) @ weights[1] - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for w in weights:
                w -= LEARNING * w.grad
                w.grad = None

    return repeated(step)


def network_of_jax(jax):
    x, y, first, second = map(jax.numpy.array, data())
    weights = [first, second]

    def loss(weights):
        return ((jax.nn.relu(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    @jax.jit
    def stepped(weights):
        return [w - LEARNING * g for w, g in zip(weights, jax.grad(loss)(weights), strict=True)]

    def step():
        weights[:] = jax.block_until_ready(stepped(weights))

    return repeated(step)


def network_of_mygrad(mg):
    x, y, first, second = data()
    weights = [mg.tensor(first), mg.tensor(second)]

    def step():
        hidden = mg.maximum(mg.matmul(x, weights[0]), 0)
        loss = mg.mean((mg.matmul(hidden, weights[1]) - y) ** 2)
        loss.backward()
        weights[:] = [mg.tensor(w.data - LEARNING * w.grad) for w in weights]

    return repeated(step)


def network_of_micrograd(micrograd):
    from micrograd.engine import Value

    x, y, first, second = (array.tolist() for array in data())
    first = [[Value(v) for v in row] for row in first]
    second = [Value(row[0]) for row in second]

    def step():
        errors = []
        for (a, b), (target,) in zip(x, y, strict=True):
            hidden = [(first[0][j] * a + first[1][j] * b).relu() for j in range(WIDTH)]
            found = sum((h * w for h, w in zip(hidden, second, strict=True)), Value(0.0))
            errors.append((found - target) ** 2)
        loss = sum(errors, Value(0.0)) * (1 / BATCH)
        loss.backward()
        for w in (*first[0], *first[1], *second):
            w.data -= LEARNING * w.grad
            w.grad = 0

    return repeated(step)


def network_of_tinygrad(tinygrad):
    x, y, first, second = (tinygrad.Tensor(array).realize() for array in data())

    @tinygrad.TinyJit
    def stepped():
        loss = (((x @ first).relu() @ second - y) ** 2).mean()
        slopes = loss.gradient(first, second)
        steps = zip((first, second), slopes, strict=True)
        tinygrad.Tensor.realize(*(w.assign(w - LEARNING * slope) for w, slope in steps))

    def step():
        stepped()
        tinygrad.Device[x.device].synchronize()

    return repeated(step)


ROWS = [
    Row(
        "engines_chain",
        f"a chain of {N} multiplications of 3 numbers, forward and backward",
        chain,
        jitted=chain_of_jax,
        others={
            "mygrad": chain_of_mygrad,
            "micrograd": chain_of_micrograd,
            "tinygrad": chain_of_tinygrad,
        },
        count=ROUNDS,
        per="chain",
    ),
    Row(
        "engines_network",
        f"a training step of a 2-{WIDTH}-1 network by hand, {BATCH} samples",
        network,
        jitted=network_of_jax,
        others={
            "mygrad": network_of_mygrad,
            "micrograd": network_of_micrograd,
            "tinygrad": network_of_tinygrad,
        },
        count=ROUNDS,
        per="step",
    ),
]
