"""gradcheck in tapegrad and in PyTorch: what passes, and what is said about what does not."""

import re
import warnings

import pytest

import tapegrad


def wrong(torch, factor=3.0, forward=2.0):
    """Twice its input, with other derivatives."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * factor

        @staticmethod
        def jvp(ctx, t):
            return t * forward

    return Wrong.apply


def answering(torch, answer):
    """Twice its input; `answer(g)` is its gradient."""

    class Answering(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return answer(g)

    return Answering.apply


def real(torch, *values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def complex_(torch, *values):
    return torch.tensor(values, dtype=torch.complex128, requires_grad=True)


def refusing(g):
    if g is None:
        raise RuntimeError("none")
    return g * 2


def custom(torch, forward, **methods):
    """A custom function of static methods."""
    body = {name: staticmethod(f) for name, f in {"forward": forward, **methods}.items()}
    return type("Custom", (torch.autograd.Function,), body).apply


def changing(torch):
    """A function whose gradient is another one each second time."""
    calls = []

    def backward(ctx, g):
        calls.append(g)
        return g * 2 + len(calls) % 2 * 1e-4

    return custom(torch, lambda ctx, x: x * 2, backward=backward)


CASES = {
    "another gradient": lambda t: (changing(t), real(t, 1.0), {"check_undefined_grad": False}),
    "square": lambda t: (lambda x: x * x, real(t, 0.3, -0.7), {}),
    "two results": lambda t: (lambda x: (wrong(t)(x), x), real(t, 0.3, -0.7), {}),
    "two inputs": lambda t: (lambda x, y: x * wrong(t)(y), (real(t, 1.0), real(t, 2.0)), {}),
    "complex": lambda t: (wrong(t), complex_(t, 1 + 1j, 2.0), {}),
    "complex to real": lambda t: (lambda z: wrong(t)(z.real), complex_(t, 1 + 1j, 2.0), {}),
    "real to complex": lambda t: (lambda x: t.complex(x, wrong(t)(x)), real(t, 0.5), {}),
    "tangent": lambda t: (wrong(t, 2, 3), real(t, 0.3, 0.5), {"check_forward_ad": True}),
    "complex tangent": lambda t: (wrong(t, 2, 3), complex_(t, 1j), {"check_forward_ad": True}),
    "float32": lambda t: (lambda x: x * x, t.ones(2, requires_grad=True), {}),
    "detached": lambda t: (lambda x: x.detach(), real(t, 1.0), {}),
    "constant": lambda t: (lambda x: t.ones(1), real(t, 1.0), {}),
    "no grad": lambda t: (t.sin, real(t, 1.0).detach(), {}),
    "no mode": lambda t: (t.sin, real(t, 1.0), {"check_backward_ad": False}),
    "overlap": lambda t: (t.sin, real(t, 1.0).detach().expand(3).requires_grad_(), {}),
    "other shape": lambda t: (lambda x: x if x[0] <= 1 else x[:1], real(t, 1.0, 2.0), {}),
    "other dtype": lambda t: (lambda x: x if x[0] <= 1 else x.float(), real(t, 1.0, 2.0), {}),
    "not multiplied": lambda t: (
        answering(t, lambda g: g * 0 + 2 if g.eq(0).all() else g * 2),
        real(t, 1.0),
        {},
    ),
    "none refused": lambda t: (answering(t, refusing), real(t, 1.0), {}),
    "none not zero": lambda t: (
        answering(t, lambda g: t.ones(1, dtype=t.float64) if g is None else g * 2),
        real(t, 1.0),
        {},
    ),
    "missing tangent": lambda t: (
        custom(
            t,
            lambda ctx, x, y: (ctx.set_materialize_grads(False), x * y)[1],
            jvp=lambda ctx, a, b: sum(
                t.ones(1, dtype=t.float64) if g is None else g for g in (a, b)
            ),
        ),
        (real(t, 1.0), real(t, 1.0)),
        {"check_forward_ad": True, "check_backward_ad": False},
    ),
    "real tangent": lambda t: (
        custom(t, lambda ctx, x: x * (1 + 0j), jvp=lambda ctx, g: g),
        real(t, 1.0),
        {"check_forward_ad": True, "check_backward_ad": False, "check_grad_dtypes": True},
    ),
    "narrow tangent": lambda t: (
        custom(t, lambda ctx, x: x * 2, jvp=lambda ctx, g: (g * 2).float()),
        real(t, 1.0),
        {"check_forward_ad": True, "check_backward_ad": False, "check_grad_dtypes": True},
    ),
    "wrong dtype": lambda t: (
        answering(t, lambda g: None if g is None else (g * 2).float()),
        real(t, 1.0),
        {"check_grad_dtypes": True},
    ),
    "wrong size": lambda t: (answering(t, lambda g: g.sum()), real(t, 1.0, 2.0), {}),
    "batched": lambda t: (t.sin, real(t, 1.0, 2.0), {"check_batched_grad": True}),
}


def said(torch, check, case, options):
    function, inputs, more = CASES[case](torch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = repr(check(function, inputs, **options, **more))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    noise = (DeprecationWarning, PendingDeprecationWarning)  # of PyTorch's own files
    return result, [str(w.message) for w in caught if not issubclass(w.category, noise)]


def close(ours, theirs):
    """The same text, numbers within rounding."""
    number = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?")
    assert number.sub("#", ours) == number.sub("#", theirs)
    for a, b in zip(number.findall(ours), number.findall(theirs), strict=True):
        assert float(a) == pytest.approx(float(b), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("case", list(CASES))
def test_gradcheck_says_the_same(pytorch, case, fast):
    options = {"fast_mode": fast}
    ours, our_warnings = said(tapegrad, tapegrad.autograd.gradcheck, case, options)
    theirs, their_warnings = said(pytorch, pytorch.autograd.gradcheck, case, options)
    close(ours, theirs)
    assert our_warnings == their_warnings


@pytest.mark.parametrize("case", ["square", "float32", "no grad", "overlap", "batched"])
def test_gradgradcheck_says_the_same(pytorch, case):
    ours, _ = said(tapegrad, tapegrad.autograd.gradgradcheck, case, {})
    theirs, _ = said(pytorch, pytorch.autograd.gradgradcheck, case, {})
    if case == "float32":  # the cotangents are random
        ours, theirs = ours.partition("\n")[0], theirs.partition("\n")[0]
    close(ours, theirs)
