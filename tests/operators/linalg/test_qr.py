"""QR decompositions: values, gradients, modes, errors."""

import pytest

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


@pytest.mark.filterwarnings("ignore:torch.qr")
def test_factors_are_those_of_householders_reflections():
    found = torch.linalg.qr(matrix(A))
    close(found.Q, Q)
    close(found.R, R)
    complete = torch.linalg.qr(matrix(A), mode="complete")
    assert (complete.Q.shape, complete.R.shape) == ((3, 3), (3, 2))
    alone = torch.linalg.qr(matrix(A), mode="r")
    assert alone.Q.shape == (0,)
    close(alone.R, R)
    close(matrix(A).qr()[1], R)


def test_gradients_are_those_of_pytorch():
    x = matrix(A).requires_grad_()
    found = torch.linalg.qr(x)
    (found.Q.abs().sum() + found.R.abs().sum()).backward()
    close(
        x.grad,
        [
            [-0.17592280129069518, 0.6635778351410573],
            [-0.7668502867380742, 1.5881952624734652],
            [1.6785106889209063, 0.09758323210763259],
        ],
    )


def test_what_is_not_determined_has_no_gradient():
    x = matrix(A).requires_grad_()
    y = torch.linalg.qr(x, mode="complete").R.sum()
    with raises(
        RuntimeError,
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
    ):
        y.backward()
    y = torch.linalg.qr(x, mode="r").R.sum()
    with raises(
        RuntimeError,
        "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
        "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.",
    ):
        y.backward()


def test_an_unknown_mode_is_refused():
    with raises(
        RuntimeError,
        "qr received unrecognized mode 'foo' but expected one of 'reduced' (default), 'r', or "
        "'complete'",
    ):
        torch.linalg.qr(matrix(A), "foo")
