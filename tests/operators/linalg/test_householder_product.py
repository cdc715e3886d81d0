"""Products of reflections."""

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close, matrix

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


Q = [
    [-0.16903085094570325, 0.8970852271450607],
    [-0.50709255283711, 0.27602622373694136],
    [-0.8451542547285166, -0.34503277967117696],
]


R = [[-5.916079783099615, -7.437357441610946], [0.0, 0.828078671210825]]


PACKED = [R[0], [0.4337717455676132, 0.828078671210825], [0.7229529092793553, 0.8926238280228976]]


TAU = [1.1690308509457032, 1.1131040011646904]


def test_reflections_multiply_to_q():
    a, tau = torch.geqrf(matrix(A))
    close(a, PACKED)
    close(tau, TAU)
    close(torch.linalg.householder_product(a, tau), Q)
    close(torch.orgqr(a, tau), Q)
    close(torch.ormqr(a, tau, matrix(A), transpose=True), [*R, [0.0, 0.0]])
    close(torch.ormqr(a, tau, torch.eye(3, dtype=torch.float64))[:, :2], Q)
    right = torch.ormqr(a, tau, matrix(A).T.contiguous(), left=False)
    close(right, [[R[0][0], 0.0, 0.0], [R[0][1], R[1][1], 0.0]])


def test_reflections_themselves_have_no_derivative():
    a, tau = torch.geqrf(matrix(A).requires_grad_())
    assert a.grad_fn.name() == "GeqrfBackward0"
    with raises(NotImplementedError, "the derivative for 'geqrf' is not implemented."):
        tau.sum().backward()


def test_reflections_that_do_not_fit_are_refused():
    a, tau = torch.geqrf(matrix(A))
    with raises(
        RuntimeError,
        "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
        "input.shape[-1]",
    ):
        torch.linalg.householder_product(a.T, tau)
    with raises(RuntimeError, "torch.ormqr: other.shape[-2] must be equal to input.shape[-2]"):
        torch.ormqr(a, tau, torch.ones(2, 2, dtype=torch.float64))
    with raises(
        RuntimeError,
        "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1])",
    ):
        torch.ormqr(a, tau[:1], matrix(A))
