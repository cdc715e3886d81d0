"""Selective checkpoints: what is kept, what is computed again, and what is refused."""

import functools

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd.gradcheck.numerical import numerical_jacobian
from tapegrad.utils.checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
)
from tests.messages import raises

aten = torch.ops.aten


def program(x, y):
    return torch.sigmoid(x @ y @ y) * y


def leaves():
    torch.manual_seed(0)
    return [torch.rand(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]


def run(policy, function=program, retain=False, **options):
    """The gradients of a selective checkpoint and those without one."""
    contexts = functools.partial(create_selective_checkpoint_contexts, policy, **options)
    found = []
    for wrapped in (
        lambda *xs: checkpoint(function, *xs, use_reentrant=False, context_fn=contexts),
        function,
    ):
        xs = leaves()
        y = wrapped(*xs)
        y.sum().backward(retain_graph=retain)
        if retain:
            y.sum().backward()
        found.append([x.grad.tolist() for x in xs])
    return found


@pytest.mark.parametrize(
    ("save", "kept"),
    [
        ([aten.mm.default], [True, False]),
        ([aten.sigmoid.default], [False, True]),
        ([], [False, False]),
        ([aten.mm.default, aten.sigmoid.default], [True, True]),
    ],
)
def test_what_is_kept_is_not_computed_again(save, kept):
    seen = []

    def function(x, y):
        product = x @ y
        gate = torch.sigmoid(product)
        seen.append((product, gate))
        return (gate * y).exp()

    run(save, function)
    first, second, _ = seen
    assert [a.data_ptr() == b.data_ptr() for a, b in zip(first, second, strict=True)] == kept


@pytest.mark.parametrize(
    "policy",
    [
        [aten.mm.default],
        [aten.mul.Tensor, aten.sigmoid.default],
        lambda ctx, op, *args, **kwargs: CheckpointPolicy.PREFER_SAVE,
        lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_RECOMPUTE,
        lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_CPU_OFFLOAD,
    ],
)
def test_gradients_are_those_without_a_checkpoint(policy):
    ours, exact = run(policy)
    assert ours == exact


def test_gradients_of_views_several_results_writes_and_random_numbers():
    def function(x, y):
        values, _ = (x.t() @ y).sort()
        z = values.clone().mul_(y).view(9)[1:].sum() + torch.nn.functional.dropout(x, 0.5).sum()
        return z * torch.nn.functional.layer_norm(x, (3,), y[0], y[1])

    def policy(ctx, op, *args, **kwargs):  # what is written in place is not kept
        written = op is aten.clone.default
        return CheckpointPolicy.MUST_RECOMPUTE if written else CheckpointPolicy.MUST_SAVE

    ours, exact = run(policy, function)
    assert ours == exact


def test_gradients_agree_with_differences():
    (ours, _), _ = run([aten.mm.default])
    x, y = (each.detach() for each in leaves())
    (exact,) = numerical_jacobian(lambda: [program(x, y).sum().numpy()], x.numpy(), 1e-6)
    assert np.allclose(np.reshape(ours, -1), exact[:, 0], rtol=1e-6)


def test_a_policy_is_told_of_operators_and_what_they_return():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        assert isinstance(ctx, SelectiveCheckpointContext) and not ctx.is_recompute
        seen.append((str(op), [tuple(x.shape) for x in args], tuple(ctx.op_output.shape)))
        return CheckpointPolicy.PREFER_RECOMPUTE

    run(policy, lambda x, y: (x[:2] @ y).relu())
    assert seen == [
        ("aten.slice.Tensor", [(3, 3)], (2, 3)),
        ("aten.mm.default", [(2, 3), (3, 3)], (2, 3)),
        ("aten.relu.default", [(2, 3)], (2, 3)),
    ]


def test_a_policy_may_compute():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append(op)
        return CheckpointPolicy(0 if (ctx.op_output * 2).sum() > 0 else 3)

    ours, exact = run(policy)
    assert ours == exact
    assert len(seen) == 4


def test_what_is_kept_may_not_be_written():
    def function(x, y):
        z = x @ y
        w = z * 2
        z.mul_(2)
        return w * z

    message = "Tensor cached during selective activation checkpoint has been mutated"
    with raises(RuntimeError, message):
        run([aten.mm.default], function)


def test_a_second_backward_pass_is_refused():
    message = (
        "Trying to backward an extra time. You are only allowed to backward once on any region "
        "computed under selective activation checkpoint."
    )
    with raises(RuntimeError, message):
        run([aten.mm.default], retain=True)


@pytest.mark.parametrize(
    ("policy", "error", "message"),
    [
        (3, TypeError, "policy_fn_or_list must be either a function or a list of ops."),
        (
            [aten.mm],
            ValueError,
            "Expected op in `op_list` to be an OpOverload but got: aten.mm of type <class "
            "'torch._ops.OpOverloadPacket'>. Please update the OpOverloadPacket to a specific "
            "OpOverload.For example, if you have `torch.ops.aten.mm`, change it to "
            "`torch.ops.aten.mm.default`.",
        ),
        (
            [3],
            ValueError,
            "Expected op in `op_list` to be an OpOverload but got: 3 of type <class 'int'>. ",
        ),
    ],
)
def test_a_policy_is_a_function_or_a_list_of_overloads(policy, error, message):
    with raises(error, message):
        create_selective_checkpoint_contexts(policy)


def test_the_policies_are_those_of_pytorch():
    assert [(each.name, each.value) for each in CheckpointPolicy] == [
        ("MUST_SAVE", 0),
        ("PREFER_SAVE", 1),
        ("MUST_RECOMPUTE", 2),
        ("PREFER_RECOMPUTE", 3),
        ("MUST_CPU_OFFLOAD", 4),
        ("PREFER_CPU_OFFLOAD", 5),
    ]


def test_results_of_a_programs_own_operators_are_kept():
    calls, asked, kept = [], [], []

    @torch.library.custom_op("selective::sine", mutates_args=())
    def sine(x: torch.Tensor) -> tuple[torch.Tensor, int]:
        calls.append(x)
        return x.sin(), 2

    sine.register_autograd(
        lambda ctx, g, _: g * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    op = torch.ops.selective.sine.default

    def policy(ctx, asking, *args, **kwargs):
        asked.append(asking)
        return kept[0] if asking is op else CheckpointPolicy.PREFER_RECOMPUTE

    def f(x):
        y, n = op(x)
        return (y * n * x.exp()).sin()

    x = torch.tensor([0.5, 1.5], requires_grad=True)
    (expected,) = torch.autograd.grad(f(x).sum(), x)
    for own, n in ((CheckpointPolicy.MUST_SAVE, 1), (CheckpointPolicy.MUST_RECOMPUTE, 2)):
        calls.clear()
        kept[:] = [own]
        y = checkpoint(
            f,
            x,
            use_reentrant=False,
            context_fn=functools.partial(create_selective_checkpoint_contexts, policy),
        )
        (found,) = torch.autograd.grad(y.sum(), x)
        assert torch.equal(found, expected) and len(calls) == n
    assert asked.count(op) == 2 and asked.count(torch.ops.aten.sin.default) == 2
