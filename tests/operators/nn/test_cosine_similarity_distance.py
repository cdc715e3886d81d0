"""Distances and angles of vectors side by side, against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.waves import cosines, sines, value_and_gradients

F = torch.nn.functional


def near(values):
    return pytest.approx(values, abs=1e-8)


def test_vectors_side_by_side():
    a, b = sines(3, 4), cosines(3, 4)
    y, of_a, _ = value_and_gradients(F.cosine_similarity, a, b)
    assert y == near([-0.032546706, 0.224843005, -0.034564049])
    assert of_a[:3] == near([0.512867321, 0.294717836, -0.194393869])
    y, of_a, of_b = value_and_gradients(lambda a, b: F.pairwise_distance(a, b, 3), a, b)
    assert y == near([1.687220179, 1.56394526, 1.688921924])
    assert of_a[:2] == near([-0.351281768, 0.031862436]) and of_b[0] == -of_a[0]
    y, of_a, _ = value_and_gradients(lambda a, b: torch.dist(a, b, 3), a, b)
    assert y == near([2.377916429]) and of_a[:2] == near([-0.176850717, 0.016040815])


def test_a_length_below_eps_counts_as_eps():
    x = torch.tensor([[0.0, 0], [3, 4]])
    y = F.cosine_similarity(x, torch.ones(2), eps=100.0)
    assert y.tolist() == pytest.approx([0, 7 / (100 * 100)])


def test_a_number_of_differences_has_no_gradient():
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 4.0])
    assert torch.autograd.grad(torch.dist(x, y, 0), x, allow_unused=True) == (None,)
    assert torch.autograd.grad(torch.dist(y, x, 0), x, allow_unused=True) == (None,)
    assert torch.autograd.grad(F.pairwise_distance(x, y, 0), x, allow_unused=True) == (None,)


@pytest.mark.parametrize("p", [float("inf"), float("-inf"), -1.0])
def test_an_order_without_a_norm_of_nothing(p):
    x = torch.ones(2, 0)
    message = (
        f"linalg.vector_norm cannot compute the {p:g} norm on the dimension 1because this "
        "dimension is empty and the operation does not have an identity"
    )
    for distance in (F.pairwise_distance, lambda a, b, p: F.triplet_margin_loss(a, b, b, p=p)):
        with raises(RuntimeError, message):
            distance(x, x, p=p)
    assert F.pairwise_distance(x, x, p=1.0).tolist() == [0, 0]


def test_an_infinite_slope_times_complex_numbers_is_infinite():
    x = torch.tensor([3 + 4j, 1 + 2j], dtype=torch.complex128, requires_grad=True)
    distance = torch.dist(torch.zeros(2), x, 0.0009)
    (gradient,) = torch.autograd.grad(distance, x)
    inf = float("inf")
    assert torch.view_as_real(gradient).tolist() == [[inf, inf], [inf, inf]]
