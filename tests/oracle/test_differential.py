"""The same call in tapegrad and in PyTorch: values, dtypes, gradients, texts must agree.

Everything here is skipped where PyTorch is not installed (the extra `oracle` brings it).
"""

import numpy as np
import pytest

import tapegrad
from tapegrad.dispatch.op import REGISTRY
from tests.samples import sample
from tests.tolerance import tolerance


def as_array(x):
    return x.detach().numpy(force=True)  # PyTorch may have left a conjugate or zeros to be made


def assert_agree(ours, theirs, factor=1.0):
    """Same nesting, shapes, dtypes, and values within the tolerance of the dtype."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_agree(a, b, factor)
    elif hasattr(theirs, "detach"):
        assert str(ours.dtype) == str(theirs.dtype)
        assert tuple(ours.shape) == tuple(theirs.shape)
        a, b = as_array(ours), as_array(theirs)
        relative, absolute = tolerance(b.dtype, factor)
        np.testing.assert_allclose(a, b, rtol=relative, atol=absolute, equal_nan=True)
    else:
        assert ours == theirs


def forwards(x):
    """A copy of an array with negative strides, which neither library takes."""
    reversed_ = isinstance(x, np.ndarray) and min(x.strides, default=0) < 0
    return x.copy() if reversed_ else x


def outcome(torch, function, arrays, params=None):
    """What a call gives and its gradients, or the class and text of its error."""
    inputs = [
        torch.tensor(x, requires_grad=x.dtype.kind in "fc") if isinstance(x, np.ndarray) else x
        for x in map(forwards, arrays)
    ]
    try:
        result = function(*inputs, **(params or {}))
    except Exception as error:
        return type(error).__name__, None, None
    outs = [result] if hasattr(result, "detach") else list(result)
    leaves = [x for x in inputs if hasattr(x, "detach") and x.requires_grad]
    tracked = [y for y in outs if y.requires_grad]
    if not tracked or not leaves:
        return outs, None, None
    cotangents = [torch.full_like(y.detach(), 1.0) * 0.7 for y in tracked]
    try:
        first = torch.autograd.grad(
            tracked, leaves, cotangents, create_graph=True, allow_unused=True
        )
    except RuntimeError as error:  # there is no derivative: compare() wants the same text of both
        if "is not implemented" not in str(error):
            raise
        return outs, str(error).splitlines()[0], None
    again = [g for g in first if g is not None and g.requires_grad]
    second: tuple | None = ()
    if again:
        total = sum((g.abs() if g.is_complex() else g).sum() for g in again)
        if total.requires_grad:
            try:
                second = torch.autograd.grad(total, leaves, allow_unused=True)
            except RuntimeError as error:  # PyTorch has no second derivative of some operators
                if torch is tapegrad or "is not implemented" not in str(error):
                    raise
                second = None
    return outs, first, second


def zeros_for_none(gradients):
    """PyTorch and tapegrad may both say None for a gradient of zero: count it as zero."""
    return [np.zeros(1) if g is None else as_array(g) for g in gradients or ()]


def compare(pytorch, ours, theirs, arrays, params=None, second=True, factor=10.0):
    a = outcome(tapegrad, ours, arrays, params)
    b = outcome(pytorch, theirs, arrays, params)
    assert (type(a[0]) is str) == (type(b[0]) is str), f"one failed: {a[0]!r}, {b[0]!r}"
    if type(a[0]) is str:
        assert a[0] == b[0]
        return
    assert_agree(a[0], b[0], factor)
    if isinstance(a[1], str) or isinstance(b[1], str):  # neither has a derivative
        assert a[1] == b[1]
        return
    for which in (1, 2) if second else (1,):
        if b[which] is None and which == 2:
            continue
        got, want = zeros_for_none(a[which]), zeros_for_none(b[which])
        if not got or not want:  # one of them knows that it is zero
            assert not any(g.any() for g in got + want)
            continue
        for g, w in zip(got, want, strict=True):
            relative, absolute = tolerance(w.dtype, 100)
            np.testing.assert_allclose(g, w, rtol=relative, atol=absolute, equal_nan=True)


# --- the table of samples ---


def public(package, name):
    """The public function of that name, wherever PyTorch keeps it."""
    for home in (package, package.nn.functional, package.special):
        function = getattr(home, name, None)
        if callable(function):
            return function
    return None


def is_public(name):
    """Whether the operator is what a user calls by that name."""
    function = public(tapegrad, name)
    if function is None or REGISTRY[name].variadic:
        return False
    return not REGISTRY[name].params and name not in WITHOUT_DERIVATIVE


# A fit, good to four digits (tools/differences.toml), where ours is an integral.
APPROXIMATE_IN_PYTORCH = {"_standard_gamma_grad": 1e5}

WITHOUT_DERIVATIVE = ("geqrf",)  # recorded by PyTorch; only its backward pass raises


@pytest.mark.parametrize("name", WITHOUT_DERIVATIVE)
def test_operators_without_derivative_raise_the_same_error(pytorch, name):
    messages = []
    for package in (tapegrad, pytorch):
        x = package.ones(3, 3, requires_grad=True)
        with pytest.raises(NotImplementedError) as caught:
            public(package, name)(x)[0].sum().backward()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(name for name in sample.ROWS if is_public(name)))
def test_operators_agree_on_their_samples(pytorch, name, dtype):
    theirs = public(pytorch, name)
    if theirs is None:
        pytest.skip(f"PyTorch has no function {name}")
    for each in sample.samples_of(name):
        arrays = [
            x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x
            for x in each.inputs
        ]
        factor = APPROXIMATE_IN_PYTORCH.get(name, 10.0)
        second = dtype == "float64"
        compare(pytorch, public(tapegrad, name), theirs, arrays, second=second, factor=factor)


# --- public functions with options ---

X = np.random.default_rng(7).uniform(-2, 2, (2, 3, 4))
M = np.random.default_rng(8).uniform(0.3, 2, (3, 3)) + 2 * np.eye(3)
V = np.random.default_rng(9).uniform(0.1, 0.9, (4, 5))
TIES = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]])
LABELS = np.array([1, 0, 4, 2])

CALLS = {
    "sum": (lambda t, x: x.sum((0, -1), keepdim=True), X),
    "mean": (lambda t, x: x.mean(1), X),
    "var": (lambda t, x: x.var((0, 2), correction=0), X),
    "std": (lambda t, x: t.std(x, 1, keepdim=True), X),
    "prod": (lambda t, x: x.prod(1), X),
    "norm": (lambda t, x: x.norm(dim=2), X),
    "norm 1": (lambda t, x: t.linalg.vector_norm(x, 1, dim=(0, 1)), X),
    "norm 3": (lambda t, x: t.linalg.vector_norm(x, 3), X),
    "logsumexp": (lambda t, x: x.logsumexp((0, 1)), X),
    "max of ties": (lambda t, x: x.max(), TIES),
    "max along, ties": (lambda t, x: x.max(1)[0], TIES),
    "amax of ties": (lambda t, x: x.amax(1), TIES),
    "min along, ties": (lambda t, x: x.min(0)[0], TIES),
    "maximum of ties": (lambda t, x: t.maximum(x[0], x[1]), np.array([[1.0, 2], [1.0, 3]])),
    "median": (lambda t, x: x.median(2)[0], X),
    "sort": (lambda t, x: x.sort(1, descending=True)[0], X),
    "topk": (lambda t, x: x.topk(2, dim=2)[0], X),
    "cumsum": (lambda t, x: x.cumsum(1), X),
    "cumprod": (lambda t, x: x.cumprod(2), X),
    "cummax": (lambda t, x: x.cummax(1)[0], X),
    "softmax": (lambda t, x: x.softmax(1), X),
    "log_softmax": (lambda t, x: t.log_softmax(x, -1), X),
    "clamp": (lambda t, x: x.clamp(-1, 1), X),
    "clamp at a bound": (lambda t, x: x.clamp(min=2.0), TIES),
    "where": (lambda t, x: t.where(x > 0, x * 2, x.exp()), X),
    "lerp": (lambda t, x: t.lerp(x[0], x[1], 0.3), X),
    "add alpha": (lambda t, x: t.add(x[0], x[1], alpha=3), X),
    "rsub": (lambda t, x: t.rsub(x, 2.5), X),
    "power": (lambda t, x: x**3 + x.abs() ** 1.5, X),
    "power of a number": (lambda t, x: 2.0**x, X),
    "power of tensors": (lambda t, x: x.abs() ** x, X),
    "division by rounding": (lambda t, x: t.div(x, 0.7, rounding_mode="floor"), X),
    "remainder": (lambda t, x: x % 0.7, X),
    "matmul": (lambda t, x: x @ x.transpose(1, 2), X),
    "matmul of matrix and vector": (lambda t, x: x @ x[0], M),
    "bmm": (lambda t, x: t.bmm(x, x.mT), X),
    "addmm": (lambda t, x: t.addmm(x, x, x, beta=0.5, alpha=2), M),
    "outer": (lambda t, x: t.outer(x[0], x[1]), M),
    "einsum": (lambda t, x: t.einsum("bij,bik->jk", x, x), X),
    "tensordot": (lambda t, x: t.tensordot(x, x, dims=([0, 2], [0, 2])), X),
    "linear": (lambda t, x: t.nn.functional.linear(x, x[0, :2], x[0, 0, :2]), X),
    "reshape": (lambda t, x: x.reshape(4, -1), X),
    "permute": (lambda t, x: x.permute(2, 0, 1).flatten(1), X),
    "movedim": (lambda t, x: x.movedim(0, 2), X),
    "expand": (lambda t, x: x[:, :1].expand(2, 5, 4), X),
    "repeat": (lambda t, x: x.repeat(2, 1, 3), X),
    "repeat_interleave": (lambda t, x: x.repeat_interleave(2, 1), X),
    "flip": (lambda t, x: x.flip(0, 2), X),
    "roll": (lambda t, x: x.roll((1, -2), (0, 2)), X),
    "tril": (lambda t, x: x.tril(1), X),
    "diagonal": (lambda t, x: x.diagonal(1, 1, 2), X),
    "diag": (lambda t, x: x.diag(), M),
    "unfold": (lambda t, x: x.unfold(2, 2, 1), X),
    "cat": (lambda t, x: t.cat([x, x * 2], 1), X),
    "stack": (lambda t, x: t.stack([x, x.exp()], -1), X),
    "split": (lambda t, x: x.split([1, 3], 2), X),
    "chunk": (lambda t, x: x.chunk(3, 1), X),
    "unbind": (lambda t, x: x.unbind(1), X),
    "index": (lambda t, x: x[:, t.tensor([2, 0, 2]), None, 1:], X),
    "index with two arrays": (lambda t, x: x[t.tensor([[0], [1]]), :, t.tensor([1, 2])], X),
    "mask": (lambda t, x: x[x > 0.5], X),
    "gather": (lambda t, x: x.gather(1, t.zeros(2, 2, 4, dtype=t.int64)), X),
    "index_select": (lambda t, x: x.index_select(2, t.tensor([3, 3, 0])), X),
    "take_along_dim": (lambda t, x: t.take_along_dim(x, x.argsort(1), 1), X),
    "scatter_add": (lambda t, x: t.zeros_like(x).scatter_add(2, (x > 0).long(), x), X),
    "index_add": (lambda t, x: x.index_add(0, t.tensor([0, 0, 1]), x[[0, 1, 1]]), X),
    "masked_fill": (lambda t, x: x.masked_fill(x > 0, 5.0), X),
    "copy into a slice": (lambda t, x: t.zeros_like(x).index_put((t.tensor([1]),), x[0]), X),
    "det": (lambda t, x: t.stack([(x[0] * x[1]).sum(), x.trace()]), M),
    "gelu": (lambda t, x: t.nn.functional.gelu(x), X),
    "gelu tanh": (lambda t, x: t.nn.functional.gelu(x, approximate="tanh"), X),
    "elu": (lambda t, x: t.nn.functional.elu(x, 0.7), X),
    "leaky_relu": (lambda t, x: t.nn.functional.leaky_relu(x, 0.2), X),
    "softplus": (lambda t, x: t.nn.functional.softplus(x, beta=2, threshold=3), X),
    "silu": (lambda t, x: t.nn.functional.silu(x), X),
    "hardtanh": (lambda t, x: t.nn.functional.hardtanh(x), X),
    "mse_loss": (lambda t, x: t.nn.functional.mse_loss(x[0], x[1]), X),
    "l1_loss": (lambda t, x: t.nn.functional.l1_loss(x[0], x[1], reduction="sum"), X),
    "smooth_l1_loss": (lambda t, x: t.nn.functional.smooth_l1_loss(x[0], x[1]), X),
    "huber_loss": (lambda t, x: t.nn.functional.huber_loss(x[0], x[1], delta=0.5), X),
    "cross_entropy": (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor(LABELS)), V),
    "cross_entropy smoothed": (
        lambda t, x: t.nn.functional.cross_entropy(
            x, t.tensor(LABELS), label_smoothing=0.1, reduction="none", ignore_index=0
        ),
        V,
    ),
    "nll_loss": (lambda t, x: t.nn.functional.nll_loss(x.log(), t.tensor(LABELS)), V),
    "binary_cross_entropy": (lambda t, x: t.nn.functional.binary_cross_entropy(x[0], x[1]), V),
    "binary_cross_entropy at the ends": (
        lambda t, x: t.nn.functional.binary_cross_entropy(
            x, (x > 0.5).to(x.dtype), reduction="none"
        ),
        np.array([0.0, 1.0, 1e-13, 1 - 1e-13, 0.3]),
    ),
    "with logits": (
        lambda t, x: t.nn.functional.binary_cross_entropy_with_logits(x[0], x[1].sigmoid()),
        X,
    ),
    "abs at zero": (lambda t, x: x.abs(), np.array([-1.0, 0.0, 2.0])),
    "sqrt at zero": (lambda t, x: x.sqrt(), np.array([0.0, 1.0])),
    "relu at zero": (lambda t, x: x.relu(), np.array([-1.0, 0.0, 2.0])),
    "prod with zeros": (lambda t, x: x.prod(), np.array([0.0, 2.0, 3.0])),
    "complex product": (lambda t, x: x * x.conj() + x.exp(), np.array([1 + 2j, -1 + 0.5j])),
    "complex abs": (lambda t, x: x.abs() + x.angle(), np.array([1 + 2j, -1 + 0.5j])),
    "real of complex": (lambda t, x: (x * 2j).real, np.array([1 + 2j, -1 + 0.5j])),
}


@pytest.mark.parametrize("name", CALLS)
def test_public_functions_agree(pytorch, name):
    call, x = CALLS[name]
    # PyTorch has a second derivative of its own where this one meets the bound of its logarithms.
    second = name != "binary_cross_entropy at the ends"
    compare(pytorch, lambda v: call(tapegrad, v), lambda v: call(pytorch, v), [x], second=second)


# --- whole programs: what they print must be the same to the character ---


def gradients_and_graphs(torch, out):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x**2 + 3 * x).sum(dim=1)
    out(x, y, y.grad_fn.next_functions[0][0].name())
    y.backward(torch.tensor([1.0, 0.5]))
    out(x.grad, x.grad.dtype, x.is_leaf, y.is_leaf)
    z = x.mean() * x.max()
    z.backward()
    out(z, x.grad)


def second_derivatives(torch, out):
    x = torch.linspace(-2, 2, 5, dtype=torch.float64, requires_grad=True)
    y = torch.sin(x) * torch.exp(-(x**2))
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (t,) = torch.autograd.grad(h.sum(), x)
    out(g, h, t)
    out(torch.autograd.functional.hessian(lambda v: (v**3).sum(), x.detach()))


def writes_and_views(torch, out):
    m = torch.tensor([[2.0, 3.0]], requires_grad=True)
    n = torch.zeros(1, 2)
    n[0, 0] = m[0, 0] ** 2
    n[0, 1] = m[0, 1] ** 3
    out(n)
    n.backward(torch.ones_like(n))
    out(m.grad)
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    v = y.t()
    v[1].mul_(10)
    y.relu_()
    out(y, v, y._version)
    (y * v.t()).sum().backward()
    out(x.grad)


def training(torch, out):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2), torch.nn.ReLU()
    )
    out(model)
    x, target = torch.randn(16, 3), torch.randint(0, 2, (16,))
    for optimizer in (
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        torch.optim.Adam(model.parameters(), lr=0.01),
    ):
        for _ in range(10):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
        out(f"{loss.item():.4f}")
    out([f"{p.norm().item():.3f}" for p in model.parameters()])


def hooks_and_modes(torch, out):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = x.exp()
    y.retain_grad()
    handle = y.register_hook(lambda g: g * 2)
    y.sum().backward(retain_graph=True)
    out(y.grad, x.grad)
    handle.remove()
    with torch.no_grad():
        out((x * 2).requires_grad, torch.is_grad_enabled())
        x -= 0.1 * x.grad
    out(x)
    try:
        y.sum().backward()
    except RuntimeError as error:
        out(str(error)[:60])


def errors(torch, out):
    x = torch.ones(2, requires_grad=True)
    for fail in (
        lambda: (x * 2).backward(),
        lambda: x.add_(1),
        lambda: torch.ones(2).sum().backward(),
        lambda: x + torch.ones(3),
        lambda: x[5],
        lambda: x.numpy(),
        lambda: x.sum(3),
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
        lambda: torch.autograd.grad((x * 2).sum(), torch.ones(1, requires_grad=True)),
    ):
        try:
            fail()
        except Exception as error:
            out(type(error).__name__, error)


PROGRAMS = [gradients_and_graphs, second_derivatives, writes_and_views, training]
PROGRAMS += [hooks_and_modes, errors]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_print_the_same(pytorch, program):
    def run(torch):
        lines = []
        program(torch, lambda *values: lines.append(" ".join(map(str, values))))
        return lines

    got = [line.replace("torch::autograd::", "") for line in run(tapegrad)]
    want = [line.replace("torch::autograd::", "") for line in run(pytorch)]
    assert got == want
