"""Random programs on a few arrays: views, views that overlap, writes, reductions, products."""

import numpy as np

from tapegrad.arrays.numpy import namespace as plain
from tapegrad.arrays.traced import namespace as traced

_UNARY = ("negative", "abs", "square", "tanh", "exp", "sqrt")
_BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "divide")


_NAMES = (
    "unary binary number view write in_place reduce product fill copy where cast constant binary "
    "write view"
)


def steps_of(rng):
    """What a program does, as a list of names and random numbers that decide the details."""
    names = rng.choice(_NAMES.split(), int(rng.integers(3, 24)))
    steps = [(str(name), rng.integers(0, 1 << 30, 6).tolist()) for name in names]
    for i in range(len(steps)):
        if i and rng.random() < 0.15:
            steps[i] = steps[rng.integers(0, i)]  # the same once more
    return steps


def run(xp, arrays, steps):
    """Run the steps on arrays of a namespace: all that was computed."""
    pool = list(arrays)
    for name, (i, j, k, a, b, c) in steps:
        recent = pool[-3:] if i % 4 == 0 and len(pool) > len(arrays) else pool
        kept = pool[: len(arrays)] if i % 4 == 1 else recent
        x, y = kept[i % len(kept)], pool[j % len(pool)]
        made = _STEPS[name](xp, x, y, k, a, b, c)
        if made is not None:
            pool.append(made)
    return pool


def _fitting(x, y):
    """`y` if it can be computed with `x` elementwise, else x."""
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return x
    return y if shape == x.shape else x


def _unary(xp, x, y, k, *_):
    return getattr(xp, _UNARY[k % len(_UNARY)])(x)


def _binary(xp, x, y, k, a, *_):
    if a % 3 == 0 and x.ndim:
        y = x.T if a % 2 and x.shape == x.shape[::-1] else x[::-1]
    return getattr(xp, _BINARY[k % len(_BINARY)])(x, _fitting(x, y))


def _number(xp, x, y, k, a, *_):
    number = (1.0, 0.0, -0.0, 2, 0.5, 3.0)[a % 6]
    name = _BINARY[k % len(_BINARY)]
    return getattr(xp, name)(x, number) if k % 5 else getattr(xp, name)(number, x)


def _view(xp, x, y, k, a, b, c):
    if not x.ndim:
        return xp.reshape(x, (1,))
    kind = k % 6
    if kind == 0:
        return x[a % x.shape[0]] if x.shape[0] else x
    if kind == 1:
        return x[a % (x.shape[0] + 1) :]
    if kind == 2:
        return x[::2]
    if kind == 3:
        return x.T
    if kind == 4:
        return xp.reshape(x, (-1,)) if x.size else x
    return x[..., ::-1]


def _write(xp, x, y, k, a, *_):
    if not x.ndim or not _writable(x):
        return
    part = x[a % (x.shape[0] + 1) :] if k % 2 else x
    fit = _fitting(part, y)
    part[...] = fit if k % 3 else 0.5


def _writable(x):
    array = getattr(x, "array", x)
    return isinstance(array, np.ndarray) and array.flags.writeable and 0 not in array.strides


def _in_place(xp, x, y, k, a, *_):
    if not x.ndim or not _writable(x):
        return
    fit = _fitting(x, y)
    if fit.dtype != x.dtype:
        fit = 0.25
    if k % 3 == 0:
        x += fit
    elif k % 3 == 1:
        x *= fit
    else:
        xp.subtract(fit, x, out=x)


def _reduce(xp, x, y, k, a, *_):
    axis = None if not x.ndim or a % 3 == 0 else a % x.ndim
    name = ("sum", "max", "mean", "min")[k % 4]
    if not x.size:
        name = "sum"
    return getattr(xp, name)(x, axis=axis, keepdims=bool(a % 2))


def _product(xp, x, y, k, *_):
    if x.ndim == 2 and y.ndim == 2 and x.shape[1] == y.shape[0] and x.dtype == y.dtype:
        return xp.matmul(x, y)
    return xp.matmul(x, x.T) if x.ndim == 2 else None


def _fill(xp, x, y, k, *_):
    return (xp.zeros_like, xp.ones_like)[k % 2](x)


def _copy(xp, x, y, k, *_):
    return (x.copy(), xp.asarray(x, copy=True), xp.astype(x, x.dtype))[k % 3]


def _where(xp, x, y, k, *_):
    fit = _fitting(x, y)
    return xp.where(x > 0.1, x, fit) if k % 2 else xp.where(fit <= x, x, 0.0)


def _cast(xp, x, y, k, *_):
    return xp.astype(x, (np.dtype(np.float32), np.dtype(np.float64))[k % 2])


def _constant(xp, x, y, k, a, *_):
    return xp.multiply(xp.ones((3,)), (0.0, 1.0, 2.0)[a % 3])


_STEPS = {name[1:]: each for name, each in list(globals().items()) if name[:1] == "_"}
_STEPS = {name: each for name, each in _STEPS.items() if callable(each)}


def inputs_of(rng):
    """Arrays: two of their own, one a part of another, one a transpose."""
    a = rng.standard_normal((3, 4)).astype(np.float32)
    b = rng.standard_normal((4, 3))
    return [a, b, a[1:, :2], b.T, rng.standard_normal(3), rng.standard_normal((1,))]


def again(arrays, rng):
    """Other numbers in arrays that share memory as `arrays` do."""
    found = [x.copy() for x in arrays]
    a, b = rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal((4, 3))
    return [a, b, a[1:, :2], b.T, *[rng.standard_normal(x.shape) for x in found[4:]]]


PLAIN, TRACED = plain, traced
