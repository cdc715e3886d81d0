"""Checkpoints in tapegrad and in PyTorch: gradients, runs, random numbers, refusals."""

import functools

import pytest

import tapegrad
from tests.oracle.outcome import compare, outcome

KINDS = pytest.mark.parametrize("reentrant", [False, True])


def leaf(torch):
    return torch.tensor([1.0, 2.0], requires_grad=True)


class Run:
    """One checkpoint of a function that counts its runs."""

    def __init__(self, torch, reentrant):
        self.torch = torch
        self.reentrant = reentrant
        self.log = []

    def function(self, x, y=None, k=1):
        self.log.append((self.torch.is_grad_enabled(), x.requires_grad))
        z = x.sin().exp() * k
        return z if y is None else z * y

    def checkpoint(self, function, *args, **kwargs):
        run = self.torch.utils.checkpoint.checkpoint
        return run(function, *args, use_reentrant=self.reentrant, **kwargs)

    def backward(self, function=None, x=None, **kwargs):
        x = leaf(self.torch) if x is None else x
        y = self.checkpoint(function or self.function, x, **kwargs)
        y = y[0] if isinstance(y, tuple) else y
        y.sum().backward()
        return x.grad, self.log


def gradient(run):
    x = leaf(run.torch)
    return run.torch.autograd.grad(run.checkpoint(run.function, x).sum(), x)


def second_gradient(run):
    x, grad = leaf(run.torch), run.torch.autograd.grad
    (g,) = grad(run.checkpoint(run.function, x).sum(), x, create_graph=True)
    return grad(g.sum(), x), run.log


def twice(run, retain):
    x = leaf(run.torch)
    y = run.checkpoint(run.function, x).sum()
    y.backward(retain_graph=retain)
    y.backward()
    return x.grad, run.log


def random(run, preserve):
    run.torch.manual_seed(0)
    x = run.torch.ones(8, requires_grad=True)
    dropout = run.torch.nn.functional.dropout
    y = run.checkpoint(lambda x: dropout(x.exp(), 0.5), x, preserve_rng_state=preserve)
    y.sum().backward()
    return y.detach(), x.grad, run.torch.rand(1)


def changing(run, first, later):
    runs = []

    def function(x):
        runs.append(x)
        return (first if len(runs) == 1 else later)(x)

    return run.backward(function)


def nested(run):
    inner = functools.partial(run.checkpoint, run.function)
    return run.backward(lambda x: inner(x * 2) + inner(x))


def sequential(run, segments, **kwargs):
    torch = run.torch
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    x = leaf(torch)
    whole = torch.utils.checkpoint.checkpoint_sequential
    whole(layers, segments, x, use_reentrant=run.reentrant, **kwargs).sum().backward()
    return x.grad, [p.grad for p in layers.parameters()]


CASES = {
    "backward": lambda r: r.backward(),
    "keywords": lambda r: r.backward(k=3),
    "constant": lambda r: r.checkpoint(r.function, r.torch.ones(2)),
    "no grad": lambda r: r.torch.no_grad()(r.checkpoint)(r.function, leaf(r.torch)),
    "gradient": gradient,
    "second gradient": second_gradient,
    "twice": lambda r: twice(r, True),
    "twice, freed": lambda r: twice(r, False),
    "a tuple": lambda r: r.backward(lambda x: (x * x, 3, x.detach())),
    "written inside": lambda r: r.backward(lambda x: x.clone().mul_(3).exp()),
    "random": lambda r: random(r, True),
    "random, not kept": lambda r: random(r, False),
    "error": lambda r: r.backward(lambda x: 1 / 0),
    "nested": nested,
    "one stretch": lambda r: sequential(r, 1),
    "two stretches": lambda r: sequential(r, 2),
    "no stretch": lambda r: sequential(r, 0),
    "stretches with options": lambda r: sequential(r, 2, foo=3),
    "an unknown check": lambda r: r.backward(determinism_check="all"),
    "another keyword": lambda r: r.backward(foo=3),
}


@KINDS
@pytest.mark.parametrize("case", CASES)
def test_checkpoints_do_the_same(pytorch, case, reentrant):
    compare(lambda torch: CASES[case](Run(torch, reentrant)), tapegrad, pytorch)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (lambda x: x.sin().exp(), lambda x: x.sin()),
        (lambda x: x.exp(), lambda x: x.double().exp()),
        (lambda x: x.exp(), lambda x: x[:1].exp()),
    ],
)
def test_another_second_run_is_found_out(pytorch, first, later):
    (ours, _), (theirs, _) = (
        outcome(lambda torch: changing(Run(torch, False), first, later), library)
        for library in (tapegrad, pytorch)
    )
    assert theirs.startswith(ours.rstrip("."))  # PyTorch goes on about its compiler


# --- selective -----------------------------------------------------------------------------------

PROGRAMS = {
    "products": lambda t, x, y: t.sigmoid(x @ y @ y) * y,
    "arithmetic": lambda t, x, y: (x + y) / 2 - x * 3 - (1 - y),
    "powers": lambda t, x, y: x**2 + x**y + 2**y,
    "linear": lambda t, x, y: t.nn.functional.linear(x, y, y[0]),
    "batches": lambda t, x, y: t.bmm(x[None], y[None]),
    "reductions": lambda t, x, y: x.sum() + x.sum(0) + y.mean(1) + y.mean() + x.max() + x.amax(0),
    "extrema": lambda t, x, y: x.max(0)[0] + y.min(),
    "softmax": lambda t, x, y: t.softmax(x, 0) + t.log_softmax(y, 1),
    "activations": lambda t, x, y: t.relu(x) + t.nn.functional.gelu(y) + t.nn.functional.silu(x),
    "layer norm": lambda t, x, y: t.nn.functional.layer_norm(x, (3,), y[0], y[1]),
    "batch norm": lambda t, x, y: x * t.nn.functional.batch_norm(x, None, None, y[0], y[1], True),
    "convolution": lambda t, x, y: t.nn.functional.conv2d(x[None, None], y[None, None, :2, :2]),
    "choice": lambda t, x, y: t.where(x > y, x, y) + x.clamp(0, 1) + x.clamp_min(0.1),
    "elementwise": lambda t, x, y: x.exp().log().sqrt().sin().cos().tanh().neg().abs() + y,
    "joined": lambda t, x, y: t.cat([x, y]) + 0,
    "statistics": lambda t, x, y: x.std(0) + y.var() + x.norm() + t.linalg.vector_norm(y),
    "conversions": lambda t, x, y: x.float().double() + y,
    "addmm": lambda t, x, y: t.addmm(x, x, y) + x.mv(y[0]),
    "comparisons": lambda t, x, y: x * (x > 0.5) + y * (y <= x),
    "cross entropy": lambda t, x, y: t.nn.functional.cross_entropy(x, y.argmax(1)) + y.sum(),
}
_UNSHOWN = frozenset(  # views, the making of tensors: PyTorch needs more of them
    "t view unsqueeze select slice expand transpose permute squeeze clone empty empty_like detach "
    "_unsafe_view lift_fresh scalar_tensor".split()
)


def selective(torch, program, policy):
    torch.manual_seed(0)
    leaves = [torch.rand(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    checkpoints = torch.utils.checkpoint
    contexts = functools.partial(checkpoints.create_selective_checkpoint_contexts, policy)
    y = checkpoints.checkpoint(
        lambda *xs: PROGRAMS[program](torch, *xs), *leaves, use_reentrant=False, context_fn=contexts
    )
    y.sum().backward()
    return [x.grad for x in leaves]


@pytest.mark.parametrize("save", ["PREFER_SAVE", "PREFER_RECOMPUTE"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_policies_are_told_the_same_names_and_gradients_agree(pytorch, program, save):
    def run(torch):
        names = []

        def policy(ctx, op, *args, **kwargs):
            name = str(op).split(".")[1]
            if name not in _UNSHOWN:
                names.append((str(op), ctx.is_recompute))
            return getattr(torch.utils.checkpoint.CheckpointPolicy, save)

        return selective(torch, program, policy), names

    compare(run, tapegrad, pytorch)


@pytest.mark.parametrize(
    "policy",
    [
        lambda t: 3,
        lambda t: (t.ops.aten.mm.default,),
        lambda t: [3],
        lambda t: [t.ops.aten.mm],
        lambda t: [],
        lambda t: [t.ops.aten.mm.default, t.ops.aten.sigmoid.default],
        lambda t: [t.ops.aten.mul.Tensor],
        lambda t: lambda ctx, op, *args, **kwargs: None,
        lambda t: lambda ctx, op, *args, **kwargs: 1 / 0,
    ],
)
def test_policies_are_taken_the_same(pytorch, policy):
    def run(torch):
        return selective(torch, "products", policy(torch))

    compare(run, tapegrad, pytorch)


@pytest.mark.parametrize(
    "name",
    "mm.default mm add.Tensor sum.dim_IntList relu.default convolution.default _softmax.default "
    "native_layer_norm.default mm.foo foo".split(),
)
def test_names_print_the_same(pytorch, name):
    def program(torch):
        found = torch.ops.aten
        for part in name.split("."):
            found = getattr(found, part)
        return repr(found), str(found)

    compare(program, tapegrad, pytorch)
