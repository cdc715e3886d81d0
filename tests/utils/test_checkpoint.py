"""Checkpoints: the same gradients from less memory; what they need of their function."""

import gc
import math
import tracemalloc

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.utils import checkpoint as checkpoints
from tapegrad.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential
from tests.messages import raises, raises_beginning


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def again(function, *args, **kwargs):
    return checkpoint(function, *args, use_reentrant=False, **kwargs)


class Counted:
    """A function that counts its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, a, b=None, *, k=1):
        self.calls.append(torch.is_grad_enabled())
        y = (a * k).sin().exp()
        return y if b is None else y * b


@pytest.fixture
def f():
    return Counted()


KINDS = pytest.mark.parametrize("reentrant", [False, True], ids=["hooks", "reentrant"])


# --- gradients ---


@KINDS
def test_gradients_are_those_without_a_checkpoint(f, reentrant):
    x, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    f(x, b).sum().backward()
    expected = [x.grad, b.grad]
    x.grad = b.grad = None
    checkpoint(f, x, b, use_reentrant=reentrant).sum().backward()
    assert torch.equal(x.grad, expected[0]) and torch.equal(b.grad, expected[1])
    assert f.calls == [True, not reentrant, True]


def test_grad_and_keyword_arguments(f):
    x = leaf(1.0, 2.0)
    (g,) = torch.autograd.grad(again(f, x, k=2.0).sum(), x)
    assert torch.equal(g, torch.autograd.grad(f(x, k=2.0).sum(), x)[0])


def test_derivatives_of_gradients(f):
    x = leaf(1.0, 2.0)
    found = []
    for y in (f(x), again(f, x)):
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        found.append(torch.autograd.grad(g.sum(), x)[0])
    assert torch.equal(*found)


def test_no_argument_needs_to_require_grad():
    w = leaf(3.0, 4.0)
    again(lambda a: a * w, torch.tensor([1.0, 2.0])).sum().backward()
    assert w.grad.tolist() == [1.0, 2.0]


def test_the_older_kind_warns_where_no_argument_requires_grad():
    w = leaf(3.0, 4.0)
    message = "None of the inputs have requires_grad=True. Gradients will be None"
    with pytest.warns(UserWarning, match=message):
        y = checkpoint(lambda a: a * w, torch.tensor([1.0, 2.0]), use_reentrant=True)
    assert not y.requires_grad


@KINDS
def test_each_pass_computes_again(f, reentrant):
    x = leaf(1.0, 2.0)
    y = checkpoint(f, x, use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(f.calls) == 3 and torch.allclose(x.grad, 2 * x.cos() * x.sin().exp())
    with raises_beginning(RuntimeError, "Trying to backward through the graph a second time"):
        y.backward()


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_checkpoints_nest(f, outer, inner):
    x = leaf(1.0, 2.0)
    (expected,) = torch.autograd.grad((f(x.cos()) * x).sum(), x)
    f.calls.clear()
    y = checkpoint(
        lambda a: checkpoint(f, a.cos(), use_reentrant=inner) * a, x, use_reentrant=outer
    )
    y.sum().backward()
    assert torch.equal(x.grad, expected) and len(f.calls) == 3


def test_three_checkpoints_nest(f):
    x = leaf(1.0, 2.0)
    (expected,) = torch.autograd.grad((f(x.cos().tan()) * x).sum(), x)
    f.calls.clear()
    y = again(lambda a: again(lambda b: again(f, b.tan()), a.cos()) * a, x)
    y.sum().backward()
    assert torch.equal(x.grad, expected) and len(f.calls) == 3


@KINDS
def test_several_results_and_others_than_tensors(reentrant):
    x = leaf(1.0, 2.0)
    a, b, c = checkpoint(lambda x: (x.sin(), x.cos(), 3), x, use_reentrant=reentrant)
    (a.sum() + b.sum()).backward()
    assert c == 3 and torch.allclose(x.grad, x.cos() - x.sin())


def test_a_layer_that_writes_in_place():
    torch.manual_seed(0)
    block = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 3), nn.Sigmoid())
    x = torch.rand(5, 3, requires_grad=True)
    (expected,) = torch.autograd.grad(block(x).sum(), x)
    assert torch.equal(torch.autograd.grad(again(block, x).sum(), x)[0], expected)


def test_a_custom_function_may_ask_twice_for_what_it_saved():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] + g * ctx.saved_tensors[0]

    x = leaf(1.0, 2.0)
    again(lambda x: Square.apply(x.sin()), x).sum().backward()
    assert torch.allclose(x.grad, 2 * x.sin() * x.cos())


@KINDS
def test_nothing_is_recorded_under_no_grad(f, reentrant):
    with torch.no_grad():
        assert not checkpoint(f, leaf(1.0), use_reentrant=reentrant).requires_grad
    assert len(f.calls) == 1


# --- memory and work ---


def deep(n, width):
    torch.manual_seed(0)
    return nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(n)])


def held_bytes(run):
    gc.collect()
    tracemalloc.start()
    result = run()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return held


def test_a_checkpointed_network_holds_less():
    net, x = deep(16, 32), torch.rand(1024, 32)
    one = 1024 * 32 * 4  # bytes of the results of one layer

    def stretches():
        return checkpoint_sequential(net, 4, x, use_reentrant=False)

    whole, kept = held_bytes(lambda: net(x)), held_bytes(stretches)
    assert whole >= 16 * one
    assert kept < 7.5 * one  # the ends of three stretches and the four layers of the last


def test_the_peak_of_a_step_is_lower():
    net, x = deep(16, 32), torch.rand(256, 32)

    def peak(run):
        gc.collect()
        tracemalloc.start()
        run().sum().backward()
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(lambda: net(x))  # gradients of parameters, and code, are there from now on
    whole = peak(lambda: net(x))
    assert peak(lambda: checkpoint_sequential(net, 4, x, use_reentrant=False)) < 0.7 * whole


def test_the_second_run_ends_when_all_is_there():
    steps = []

    def f(a):
        y = a.sin()
        steps.append(1)
        z = y.sin()
        steps.append(2)
        return z + 1

    x = leaf(1.0)
    again(f, x).backward()
    assert steps == [1, 2, 1]
    steps.clear()
    again(f, x, early_stop=False).backward()
    assert steps == [1, 2, 1, 2]
    steps.clear()
    with checkpoints.set_checkpoint_early_stop(False):
        y = again(f, x)
    y.backward()
    assert steps == [1, 2, 1, 2]


# --- surroundings ---


@KINDS
@pytest.mark.parametrize("preserve", [True, False])
def test_random_numbers_are_those_of_the_first_run(reentrant, preserve):
    torch.manual_seed(0)
    x = torch.ones(16, requires_grad=True)
    y = checkpoint(
        lambda a: nn.functional.dropout(a) * torch.rand(16),
        x,
        use_reentrant=reentrant,
        preserve_rng_state=preserve,
    )
    state = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(state, torch.get_rng_state()) == preserve
    assert torch.equal(x.grad, y) == preserve


def test_the_same_dropout_is_computed_again():
    torch.manual_seed(0)
    x = torch.ones(64, requires_grad=True)
    y = again(lambda a: nn.functional.dropout(a.exp()).exp(), x)
    torch.rand(5)
    y.sum().backward()
    mask = (y != 1).float() * 2
    assert torch.allclose(x.grad, y.detach() * mask * x.exp())


@KINDS
def test_autocast_is_that_of_the_first_run(reentrant):
    seen = []

    def f(a):
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return (a @ a).float().exp()

    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        y = checkpoint(f, x, use_reentrant=reentrant)
    y.sum().backward()
    assert seen == [(True, torch.float16)] * 2 and not torch.is_autocast_enabled("cpu")


def test_contexts_for_both_runs(f):
    order = []

    class Context:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            order.append(self.name)

        def __exit__(self, *error):
            order.append("end of " + self.name)

    contexts = Context("first"), Context("second")
    again(f, leaf(1.0), context_fn=lambda: contexts).backward()
    assert order == ["first", "end of first", "second", "end of second"]


# --- errors ---


class Changing:
    """A function that applies one operator less each time."""

    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        for _ in range(self.n):
            x = x.sin()
        self.n -= 1
        return x


NUMBER = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
    "and recomputation.\nNumber of tensors saved during forward: 3\nNumber of tensors saved during "
    "recomputation: 2."
)


def test_a_function_that_does_less_the_second_time():
    y = again(Changing(3), leaf(1.0))
    with raises(CheckpointError, NUMBER):
        y.backward()


def test_a_function_that_does_more_the_second_time():
    def growing(x, n=[0]):  # noqa: B006  (it counts its calls)
        n[0] += 1
        for _ in range(n[0]):
            x = x.sin()
        return x

    x = leaf(1.0)
    again(growing, x).backward()
    assert torch.equal(x.grad, x.cos())  # the rest is not run
    message = (
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
        "original forward pass."
    )
    y = again(growing, x, early_stop=False)
    with raises(CheckpointError, message):
        y.backward()


def test_a_function_that_makes_other_shapes_the_second_time():
    def wider(x, n=[0]):  # noqa: B006  (it counts its calls)
        n[0] += 1
        return x.repeat(n[0]).sin().sum()

    message = (
        "torch.utils.checkpoint: Recomputed values for the following tensors have different "
        "metadata than during the forward pass.\ntensor at position 0:\n"
        "saved metadata: {'shape': torch.Size([2]), 'dtype': torch.float32, "
        "'device': device(type='cpu')}\n"
        "recomputed metadata: {'shape': torch.Size([4]), 'dtype': torch.float32, "
        "'device': device(type='cpu')}\n."
    )
    x = leaf(1.0, 2.0)
    y = again(wider, x)
    with raises(CheckpointError, message):
        y.backward()
    y = again(lambda x, n=[0]: wider(x, n), x, determinism_check="none")
    with raises_beginning(RuntimeError, "The size of tensor a ("):
        y.backward()


def test_both_runs_are_listed_on_request():
    with checkpoints.set_checkpoint_debug_enabled(True):
        y = again(Changing(3), leaf(1.0))
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    text = str(caught.value)
    assert str(caught.value.__cause__) == NUMBER
    assert text.startswith(" An error happened while unpacking tensors; dumping logs of latest")
    forward, second = text.split("Operators of the recomputation:")
    assert forward.count("sin([1])") == 3 and second.count("sin([1])") == 2
    assert __file__ in second


def test_an_argument_that_is_written_in_between(f):
    for reentrant in (False, True):
        x = leaf(1.0).clone()
        y = checkpoint(f, x, use_reentrant=reentrant)
        x.add_(1)
        with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
            y.backward()


def test_a_tensor_that_the_function_writes_after_it_was_kept():
    def f(x):
        y = x.exp()
        y.add_(1)
        return y

    x = leaf(1.0)
    y = again(f, x, early_stop=False)
    with raises_beginning(RuntimeError, "one of the variables needed for gradient computation"):
        y.backward()


def test_errors_of_the_function_pass():
    def fails(x, n=[0]):  # noqa: B006  (it counts its calls)
        n[0] += 1
        return (x / (n[0] < 2 or 1 // 0)).sin()

    y = again(fails, leaf(1.0))
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert torch.is_grad_enabled()


def test_the_older_kind_needs_a_whole_backward_pass(f):
    message = (
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing "
        "an `inputs` parameter to .backward(). To resolve this error, you can either set "
        "use_reentrant=False, or call .backward() without passing the `inputs` argument."
    )
    x = leaf(1.0)
    for run in (lambda y: torch.autograd.grad(y, x), lambda y: y.backward(inputs=[x])):
        with raises(RuntimeError, message):
            run(checkpoint(f, x, use_reentrant=True))


def test_the_kind_is_to_be_named(f):
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        assert type(checkpoint(f, leaf(1.0)).grad_fn).__name__ == "CheckpointFunctionBackward"


def test_arguments_are_checked(f):
    x = leaf(1.0)
    with raises(ValueError, "Unexpected keyword arguments: k"):
        checkpoint(f, x, use_reentrant=True, k=2)
    only = "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
    with raises(ValueError, only):
        checkpoint(f, x, use_reentrant=True, debug=True)
    with raises(ValueError, "determinism_check should be one of ['default', 'none'], but got all"):
        again(f, x, determinism_check="all")
    with raises(ValueError, "debug=True is incompatible with non-default context_fn"):
        again(f, x, debug=True, context_fn=lambda: checkpoints.noop_context_fn())


# --- stretches ---


@KINDS
@pytest.mark.parametrize("segments", [1, 2, 5])
def test_stretches_compute_what_the_whole_does(reentrant, segments):
    net = deep(5, 3)
    x = torch.rand(2, 3, requires_grad=True)
    net(x).sum().backward()
    expected = x.grad
    for functions in (net, list(net)):
        x.grad = None
        y = checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        assert np.array_equal(x.grad.numpy(), expected.numpy())


def test_stretches_are_checked():
    with raises(ValueError, "Unexpected keyword arguments: foo"):
        checkpoint_sequential(deep(2, 1), 2, leaf(1.0), use_reentrant=False, foo=1)
    with raises(ValueError, "range() arg 3 must not be zero"):
        checkpoint_sequential(deep(2, 1), 3, leaf(1.0), use_reentrant=False)


# --- groups of backward passes ---


def test_a_group_of_passes_runs_the_function_again_once():
    runs = []

    def function(x):
        runs.append(x)
        return x.sin(), x.exp()

    x = leaf(1.0)
    a, b = checkpoint(function, x, use_reentrant=False)
    with checkpoints.GraphExecGroup() as group:
        assert type(group) is checkpoints.GraphExecGroup
        a.backward(retain_graph=True)
        b.backward(retain_graph=True)
        assert len(runs) == 2
        with pytest.raises(checkpoints.CheckpointError, match="already unpacked once"):
            b.backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="GraphExecGroup contexts cannot be nested"):
            with checkpoints.GraphExecGroup():
                pass
    b.backward()
    assert x.grad.item() == pytest.approx(math.cos(1) + 2 * math.e)


def test_a_checkpoint_of_a_vmap_gives_its_gradient():
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    again(lambda x: torch.vmap(lambda row: row * row.sin())(x).sum(), x).backward()
    checked = x.grad.tolist()
    x.grad = None
    torch.vmap(lambda row: row * row.sin())(x).sum().backward()
    assert checked == x.grad.tolist()


@pytest.mark.parametrize("stop", [True, False])
def test_a_backward_pass_may_be_a_part_of_the_function(stop):
    def slope(x):
        return torch.autograd.grad(x.sin().exp().sum(), x, create_graph=True)[0]

    x = leaf(0.5, 1.5)
    expected = torch.autograd.grad(slope(x).sum(), x)[0]
    inner = lambda x: again(slope, x.sin().asin()) * 1  # noqa: E731
    with checkpoints.set_checkpoint_early_stop(stop):
        f = lambda x: torch.autograd.grad(  # noqa: E731
            again(lambda x: x.sin().exp().sum(), x), x, create_graph=True
        )[0]
        found = torch.autograd.grad(again(f, x).sum(), x)[0]
        assert torch.allclose(found, expected)
        assert torch.allclose(torch.autograd.grad(again(inner, x).sum(), x)[0], expected)
