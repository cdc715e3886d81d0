import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.dispatch.backward_op import DECLARED
from tapegrad.func import grad, hessian, jvp, vmap
from tests.samples import samples_of

F = nn.functional

# PyTorch 2.13's node of the gradient, with its edges but the first, that to the cotangent
NODES = {
    "relu": (F.relu, (3, 4), "ThresholdBackwardBackward0", ["ReluBackward0"]),
    "leaky_relu": (F.leaky_relu, (3, 4), "LeakyReluBackwardBackward0", ["leaf"]),
    "relu6": (F.relu6, (3, 4), "HardtanhBackwardBackward0", ["leaf"]),
    "hardtanh": (F.hardtanh, (3, 4), "HardtanhBackwardBackward0", ["leaf"]),
    "hardshrink": (F.hardshrink, (3, 4), "HardshrinkBackwardBackward0", ["leaf"]),
    "softshrink": (F.softshrink, (3, 4), "SoftshrinkBackwardBackward0", ["leaf"]),
    "threshold": (lambda x: F.threshold(x, 0.1, 0.0), (3,), "ThresholdBackwardBackward0", ["leaf"]),
    "rrelu": (F.rrelu, (3, 4), "RreluWithNoiseBackwardBackward0", ["leaf"]),
    "rrelu, drawn": (
        lambda x: F.rrelu(x, training=True), (3, 4), "RreluWithNoiseBackwardBackward0", ["leaf"]
    ),
    "max_pool2d": (
        lambda x: F.max_pool2d(x, 2), (1, 4, 4), "MaxPool2DWithIndicesBackwardBackward0", ["leaf"]
    ),
    "max_pool3d": (
        lambda x: F.max_pool3d(x, 2),
        (1, 4, 4, 4),
        "MaxPool3DWithIndicesBackwardBackward0",
        ["leaf"],
    ),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), (1, 4, 4), "AvgPool2DBackwardBackward0", ["leaf"]),
    "adaptive_avg_pool2d": (
        lambda x: F.adaptive_avg_pool2d(x, 3),
        (1, 4, 4),
        "AdaptiveAvgPool2DBackwardBackward0",
        ["leaf"],
    ),
    "adaptive_max_pool2d": (
        lambda x: F.adaptive_max_pool2d(x, 3),
        (1, 4, 4),
        "AdaptiveMaxPool2DBackwardBackward0",
        ["leaf"],
    ),
    "fractional_max_pool2d": (
        lambda x: F.fractional_max_pool2d(x, 2, 2),
        (1, 4, 4),
        "FractionalMaxPool2DBackwardBackward0",
        ["leaf"],
    ),
    "reflect": (
        lambda x: F.pad(x, (1, 1), "reflect"), (1, 4), "ReflectionPad1DBackwardBackward0", ["leaf"]
    ),
    "replicate": (
        lambda x: F.pad(x, (1, 1), "replicate"),
        (1, 4),
        "ReplicationPad1DBackwardBackward0",
        ["leaf"],
    ),
    "nll_loss": (
        lambda x: F.nll_loss(x, torch.tensor([1, 0, 2])),
        (3, 4),
        "NllLossBackwardBackward0",
        ["leaf"],
    ),
}  # fmt: skip


def edge_names(node):
    return [
        None if n is None else "leaf" if n.name().endswith("AccumulateGrad") else n.name()
        for n, _ in node.next_functions
    ]


@pytest.mark.parametrize("name", NODES)
def test_a_gradient_that_does_not_change_requires_grad_and_its_own_is_zeros(name):
    function, shape, node, edges = NODES[name]
    torch.manual_seed(0)
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    assert g.requires_grad
    assert g.grad_fn.name() == node
    assert edge_names(g.grad_fn) == [None, *edges]
    (again,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_array_equal(again.numpy(), np.zeros(shape))


@pytest.mark.parametrize("rule", DECLARED, ids=lambda rule: f"{rule.op.name}-{rule.input}")
def test_one_node_computes_what_the_rule_does_and_is_linear_in_the_cotangent(rule):
    op = rule.op
    for sample in samples_of(op.name):
        i = op.inputs.index(rule.input)
        if i not in sample.differentiable():
            continue
        inputs = [
            torch.tensor(np.ascontiguousarray(x)) if isinstance(x, np.ndarray) else x
            for x in sample.inputs
        ]
        inputs[i].requires_grad_()
        result = op.call(*inputs, **sample.params)
        y = result[0] if isinstance(result, tuple) else result
        c = torch.ones_like(y) * 0.7
        (plain,) = torch.autograd.grad(y, inputs[i], c, retain_graph=True)
        c.requires_grad_()
        (recorded,) = torch.autograd.grad(y, inputs[i], c, create_graph=True)
        np.testing.assert_array_equal(
            recorded.detach().resolve_conj().numpy(), plain.resolve_conj().numpy()
        )
        # <u, J'c> has the gradient J u with respect to c: as the forward rule has it
        u = torch.rand_like(recorded)
        (pushed,) = torch.autograd.grad(recorded, c, u, allow_unused=True)
        given = list(inputs)

        def along(x, given=given, i=i, op=op, sample=sample):
            out = op.call(*given[:i], x, *given[i + 1 :], **sample.params)
            return out[0] if isinstance(out, tuple) else out

        want = jvp(along, (inputs[i].detach(),), (u,))[1]
        np.testing.assert_allclose(
            pushed.resolve_conj().numpy(),
            want.detach().resolve_conj().numpy(),
            rtol=1e-12,
            atol=1e-12,
        )


def test_the_second_derivative_of_relu_has_its_graph_again():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.relu().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    assert h.requires_grad
    assert h.grad_fn.name() == "ThresholdBackwardBackward0"


def test_gradients_of_a_bias_are_connected_to_input_and_weight_and_have_no_gradient():
    x = torch.randn(2, 3, 5, 5, requires_grad=True)
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(3), nn.LayerNorm(5)]
    for layer in layers:
        (g,) = torch.autograd.grad(layer(x).sum(), layer.bias, create_graph=True)
        assert g.requires_grad
        found = torch.autograd.grad(g.sum(), [x, layer.weight, layer.bias], allow_unused=True)
        assert found == (None, None, None)


def test_prelu_is_connected_both_ways():
    x = torch.tensor([[-1.0, 2.0], [-3.0, -4.0]], requires_grad=True)
    w = torch.tensor([0.1, 0.2], requires_grad=True)
    gx, gw = torch.autograd.grad(F.prelu(x, w).sum(), [x, w], create_graph=True)
    assert gx.grad_fn.name() == "PreluKernelBackwardBackward0"
    xx, xw = torch.autograd.grad(gx.sum(), [x, w], retain_graph=True)
    wx, ww = torch.autograd.grad(gw.sum(), [x, w])
    assert not xx.any()
    assert not ww.any()
    assert xw.tolist() == [2.0, 1.0]
    assert wx.tolist() == [[1.0, 0.0], [1.0, 1.0]]


def test_transforms_of_transforms_go_through_one_node():
    f = [lambda x: F.relu(x).sum() ** 2, lambda x: F.avg_pool1d(x[None], 2).square().sum()]
    x = torch.tensor([[-1.0, 2.0, 3.0, -4.0], [5.0, -6.0, 7.0, 8.0]], dtype=torch.float64)
    for function in f:
        found = vmap(hessian(function))(x)
        for i, row in enumerate(x):
            np.testing.assert_allclose(found[i].numpy(), hessian(function)(row).numpy())
        twice = vmap(grad(lambda x, f=function: grad(f)(x).sum()))(x)
        np.testing.assert_allclose(twice.numpy(), found.sum(1).numpy())
