"""Eigenvalues and eigenvectors: values, gradients, phases, triangles, errors."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close, matrix

S = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]]
R = [[0.0, -1.0, 2.0], [1.0, 0.0, 0.5], [0.5, 0.0, 3.0]]


def test_the_gradient_of_a_symmetric_matrix_is_symmetric_and_pytorchs():
    x = matrix(S).requires_grad_()
    values, vectors = torch.linalg.eigh(x)
    close(values, [1.2679491924311228, 3.0, 4.7320508075688785])
    (values[0] + (vectors[:, 0].abs() * torch.arange(3.0)).sum()).backward()
    close(
        x.grad,
        [
            [1.0292377467571567, -0.4424500897298749, -0.09622504486493777],
            [-0.4424500897298749, 0.09622504486493738, 0.1537749551350624],
            [-0.09622504486493777, 0.1537749551350624, -0.12546279162209456],
        ],
    )


def test_one_triangle_is_read():
    lower = matrix(S).tril()
    close(torch.linalg.eigvalsh(lower), [1.2679491924311228, 3.0, 4.7320508075688785])
    close(torch.linalg.eigh(lower.T, "U")[0], [1.2679491924311228, 3.0, 4.7320508075688785])
    close(torch.linalg.eigvalsh(lower, UPLO="U"), [2.0, 3.0, 4.0])
    with raises(RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got X"):
        torch.linalg.eigh(lower, "X")


@pytest.mark.parametrize("values", [lambda x: torch.linalg.eigh(x)[0], torch.linalg.eigvalsh])
def test_values_of_symmetric_matrices_have_a_gradient_where_they_are_equal(values):
    x = torch.eye(3).requires_grad_()
    values(x).sum().backward()
    close(x.grad, [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_gradients_of_any_square_matrix_are_those_of_pytorch():
    x = matrix(R).requires_grad_()
    values, vectors = torch.linalg.eig(x)
    assert values.dtype is torch.complex128
    want = [-0.129465066410621 + 0.9094360938107993j, 3.258930132821242 + 0j]
    found = sorted(values.detach().numpy().tolist(), key=lambda z: (z.real, -z.imag))
    np.testing.assert_allclose([found[0], found[2]], want)
    (values.abs().sum() + vectors.abs()[0].sum()).backward()
    close(
        x.grad,
        [
            [0.1367578344717057, -1.1837870137597408, 0.25560330561869765],
            [0.5687975825473442, -0.3822435581781095, -0.22908591626974478],
            [0.11210871492456766, 1.099955479923865, 0.9636125326432479],
        ],
    )


def test_eigenvalues_alone_have_the_gradient_of_pytorch():
    x = torch.tensor([[1 + 1j, 2], [0, 3 - 1j]], dtype=torch.complex128, requires_grad=True)
    (torch.linalg.eigvals(x) ** 2).sum().abs().backward()
    first, second, third = 0.8944271909999159, 2.6832815729997477, 1.7888543819998317
    close(x.grad, [[first - second * 1j, 0], [2 * third - third * 1j, 7 * first - first * 1j]])
    x = torch.eye(3).requires_grad_()
    torch.linalg.eigvals(x).sum().real.backward()
    close(x.grad, [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_eigenvalues_carry_tangents_without_a_graph():
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(matrix([[1.0, 2.0], [0.0, 3.0]]), torch.eye(2))
        tangent = torch.autograd.forward_ad.unpack_dual(torch.linalg.eigvals(x)).tangent
    close(tangent, [1.0 + 0j, 1.0 + 0j])


def test_second_derivatives_are_those_of_finite_differences():
    x = matrix(R).requires_grad_()
    direction = matrix([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 1.0]])

    def slope(x, **options):
        values, vectors = torch.linalg.eig(x)
        y = values.abs().sum() + vectors.abs()[0].sum()
        return (torch.autograd.grad(y, x, **options)[0] * direction).sum()

    got = torch.autograd.grad(slope(x, create_graph=True), x)[0]
    h = 1e-6
    for i in range(3):
        for j in range(3):
            step = torch.zeros(3, 3, dtype=torch.float64)
            step[i, j] = h
            ends = [slope((x + s * step).detach().requires_grad_()) for s in (1, -1)]
            assert abs((ends[0] - ends[1]) / (2 * h) - got[i, j]) < 1e-7


@pytest.mark.parametrize("name", ["eig", "eigh"])
def test_a_loss_that_depends_on_a_phase_has_no_gradient(name):
    x = torch.complex(matrix(S), matrix(R) - matrix(R).T).requires_grad_()
    vectors = getattr(torch.linalg, name)(x)[1]
    with raises(
        RuntimeError,
        f"linalg_{name}_backward: The eigenvectors in the complex case are specified up to "
        "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it "
        "is ill-defined.",
    ):
        (vectors * torch.arange(9.0).view(3, 3) * (1 + 2j)).sum().abs().backward()


def test_what_has_no_eigenvalues_is_refused():
    with raises(
        RuntimeError,
        "linalg.eig: A must be batches of square matrices, but they are 2 by 3 matrices",
    ):
        torch.linalg.eig(torch.ones(2, 3))
    with raises(RuntimeError, "torch.linalg.eig: input tensor should not contain infs or NaNs."):
        torch.linalg.eig(torch.full((2, 2), float("nan")))
    with pytest.raises(torch.linalg.LinAlgError, match=r"^linalg\.eigh: The algorithm failed"):
        torch.linalg.eigh(torch.full((3, 3), float("nan")))
    with raises(NotImplementedError, "\"linalg_eigh_cpu\" not implemented for 'Half'"):
        torch.linalg.eigh(torch.eye(2, dtype=torch.float16))
