"""Jacobians and a Hessian, by the fastest of the ways that each library has."""

from itertools import pairwise
from time import perf_counter

from row import JAX, TORCH, Row, ratio

ROUNDS = 10


def fastest(ways):
    """The quickest of several functions that do the same, each tried a few times."""

    def time_of(way):
        way()
        times = []
        for _ in range(5):
            start = perf_counter()
            way()
            times.append(perf_counter() - start)
        return min(times)

    return min(ways, key=time_of)


def jacobian(sizes):
    """The Jacobian of a network of tanh layers without biases, at one point."""

    def tensors(torch):
        torch.manual_seed(0)
        weights = [torch.randn(n_out, n_in) / n_in**0.5 for n_in, n_out in pairwise(sizes)]
        x = torch.randn(sizes[0])
        classic = torch.autograd.functional.jacobian

        def network(x):
            for w in weights:
                x = torch.tanh(w @ x)
            return x

        reverse, forward = torch.func.jacrev(network), torch.func.jacfwd(network)
        way = fastest(
            [
                lambda: reverse(x),
                lambda: forward(x),
                lambda: classic(network, x, vectorize=True),
                lambda: classic(network, x, vectorize=True, strategy="forward-mode"),
            ]
        )

        def step():
            for _ in range(ROUNDS):
                way()

        return step

    return tensors


def compiled(sizes):
    """The same by JAX, compiled."""

    def jitted(jax):
        jnp = jax.numpy
        keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
        shapes = [(n_out, n_in) for n_in, n_out in pairwise(sizes)]
        weights = [
            jax.random.normal(key, shape) / shape[1] ** 0.5
            for key, shape in zip(keys[1:], shapes, strict=True)
        ]
        x = jax.random.normal(keys[0], sizes[:1])

        def network(x):
            for w in weights:
                x = jnp.tanh(w @ x)
            return x

        return rounds(jax, [jax.jacrev(network), jax.jacfwd(network)], x)

    return jitted


def rounds(jax, functions, x):
    """A step by the fastest of some functions of `x`, compiled."""
    compiled = [jax.jit(function) for function in functions]
    way = fastest([lambda each=each: each(x).block_until_ready() for each in compiled])

    def step():
        for _ in range(ROUNDS):
            way()

    return step


def hessian(torch):
    """The Hessian of a network of one hidden layer and one output."""
    torch.manual_seed(0)
    w = torch.randn(64, 100) / 10
    v = torch.randn(64) / 8
    x = torch.randn(100)
    classic = torch.autograd.functional.hessian

    def network(x):
        return (torch.tanh(w @ x) * v).sum()

    func = torch.func
    ways = [
        func.hessian(network),
        func.jacrev(func.jacrev(network)),
        func.jacrev(func.jacfwd(network)),
        func.jacfwd(func.jacfwd(network)),
    ]
    way = fastest(
        [
            *[lambda way=way: way(x) for way in ways],
            lambda: classic(network, x, vectorize=True),
            lambda: classic(network, x, vectorize=True, outer_jacobian_strategy="forward-mode"),
        ]
    )

    def step():
        for _ in range(ROUNDS):
            way()

    return step


def compiled_hessian(jax):
    jnp = jax.numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    w = jax.random.normal(keys[0], (64, 100)) / 10
    v = jax.random.normal(keys[1], (64,)) / 8
    x = jax.random.normal(keys[2], (100,))

    def network(x):
        return (jnp.tanh(w @ x) * v).sum()

    return rounds(jax, [jax.hessian(network), jax.jacrev(jax.jacrev(network))], x)


def _row(name, title, tensors, jitted):
    bounds = (ratio(TORCH, 0.6), ratio(JAX, 1.5))
    return Row(
        name, title, tensors, jitted=jitted, count=ROUNDS, per="call", repeats=15, bounds=bounds
    )


def _network(name, title, *sizes):
    return _row(name, f"Jacobian of a {title}", jacobian(sizes), compiled(sizes))


ROWS = [
    _network("jacobian", "64-128-64 tanh network", 64, 128, 64),
    _network("jacobian_tall", "tanh layer from 32 to 2,048", 32, 2048),
    _network("jacobian_wide", "tanh layer from 2,048 to 32", 2048, 32),
    _row("hessian", "Hessian of a 100-64-1 tanh network", hessian, compiled_hessian),
]
