"""Normalisation: PyTorch's values, its errors, and large arrays against the formula in float64."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises

F = torch.nn.functional


def near(got, want):
    np.testing.assert_allclose(np.asarray(got.detach()._array), want, rtol=1e-5, atol=1e-6)


def test_batch_norm_moves_the_running_statistics_and_does_not_count_it_as_a_write():
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
    mean, variance = torch.tensor([1.0, 1.0]), torch.tensor([2.0, 2.0])
    y = F.batch_norm(x, mean, variance, training=True, momentum=0.3)
    near(y, [[-1.22474265, -0.46290952], [0.0, 1.38872862], [1.22474241, -0.92581904]])
    near(mean, [1.6, 1.6])
    near(variance, [2.6, 3.5])
    assert mean._version == 0


def test_batch_norm_in_evaluation_takes_the_running_statistics():
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]], requires_grad=True)
    w, b = torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.0])
    y = F.batch_norm(x, torch.tensor([1.0, 1.0]), torch.tensor([4.0, 9.0]), w, b)
    near(y, [[0.0, 1.33333313], [1.99999762, 2.66666555], [3.99999523, 1.0]])
    y.sum().backward()
    near(x.grad, [[1.0, 1 / 3]] * 3)


def test_instance_group_rms_and_local_response_norm_give_pytorchs_numbers():
    x = torch.tensor([[[1.0, 2.0, 4.0], [0.0, 1.0, 5.0]]])
    mean, variance = torch.zeros(2), torch.ones(2)
    y = F.instance_norm(x, mean, variance)
    near(y[0], [[-1.0690415, -0.2672603, 1.3363019], [-0.9258191, -0.4629095, 1.3887286]])
    near(mean, [0.23333333, 0.2])
    near(variance, [1.13333333, 1.6])
    y = F.group_norm(torch.tensor([[1.0, 2.0, 4.0, 8.0]]), 2, torch.tensor([1.0, 2.0, 1.0, 2.0]))
    near(y, [[-0.99997997, 1.99995995, -0.9999987, 1.99999762]])
    near(F.rms_norm(torch.tensor([[1.0, 2.0, 2.0]]), (3,)), [[0.57735026, 1.15470052, 1.15470052]])
    y = F.local_response_norm(torch.tensor([[[1.0], [2.0], [3.0], [4.0]]]), 3, alpha=1.0, beta=1.0)
    near(y.flatten(), [0.375, 0.35294119, 0.28125, 0.42857143])


def everything(function, arrays, dtype):
    leaves = [torch.tensor(a, dtype=dtype, requires_grad=True) for a in arrays[:-1]]
    y = function(*leaves)
    y.backward(torch.tensor(arrays[-1], dtype=dtype))
    return [y, *(leaf.grad for leaf in leaves)]


FUNCTIONS = {
    "layer": (lambda x, w, b: F.layer_norm(x, (96,), w, b), 96),
    "batch": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), 24),
    "group": (lambda x, w, b: F.group_norm(x, 6, w, b), 24),
    "instance": (lambda x, w, b: F.instance_norm(x, None, None, w, b), 24),
}


@pytest.mark.parametrize("offset", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_arrays_agree_with_double_precision_also_far_from_zero(name, offset):
    function, n = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 24, 96)).astype(np.float32) + np.float32(offset)
    w, b = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    g = rng.standard_normal(x.shape).astype(np.float32)
    got = everything(function, (x, w, b, g), torch.float32)
    want = everything(function, (x, w, b, g), torch.float64)
    for a, c in zip(got, want, strict=True):
        scale = abs(c._array).max() * (1 + offset / 5)
        np.testing.assert_allclose(a.detach()._array, c.detach()._array, atol=3e-6 * scale)


def test_nodes_have_pytorchs_names_and_edges_for_input_weight_and_bias():
    x, w, b = (torch.ones(4, 2, requires_grad=True), *(torch.ones(2) for _ in range(2)))
    node = F.layer_norm(x, (2,), w, b).grad_fn
    assert node.name() == "NativeLayerNormBackward0"
    assert [edge is not None for edge, _ in node.next_functions] == [True, False, False]
    node = F.batch_norm(x, torch.zeros(2), torch.ones(2)).grad_fn
    assert node.name() == "NativeBatchNormBackward0" and len(node.next_functions) == 3


def test_errors_are_pytorchs():
    x = torch.ones(4, 6, 5)
    with raises(
        RuntimeError,
        "Given normalized_shape=[6], expected input with shape [*, 6], but got input of "
        "size[4, 6, 5]",
    ):
        F.layer_norm(x, (6,))
    with raises(RuntimeError, "running_mean should contain 6 elements not 5"):
        F.batch_norm(x, torch.ones(5), torch.ones(5))
    with raises(
        ValueError,
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 6])",
    ):
        F.batch_norm(torch.ones(1, 6), None, None, training=True)
    with raises(
        RuntimeError,
        "Expected number of channels in input to be divisible by num_groups, but got input of "
        "shape [4, 6, 5] and num_groups=4",
    ):
        F.group_norm(x, 4)
    with raises(NotImplementedError, "\"batch_norm\" not implemented for 'Long'"):
        F.batch_norm(torch.ones(4, 6).long(), None, None, training=True)


def test_statistics_seen_as_a_part_of_what_requires_grad_are_refused():
    whole = torch.ones(2, 3, requires_grad=True) * 1
    x = torch.ones(2, 3)
    for mean in (whole[0], torch.ones(3, requires_grad=True)):
        with pytest.raises(RuntimeError, match="'running_mean'"):
            torch.nn.functional.batch_norm(x, mean, torch.ones(3), training=True)
