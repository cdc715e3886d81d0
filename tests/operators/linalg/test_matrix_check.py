"""What decompositions write their results to."""

import pytest

import tapegrad as torch
from tests.messages import raises

A = torch.eye(2)
DOUBLE, WHOLE = torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.int32)


@pytest.mark.parametrize(
    "call",
    [
        lambda out: torch.linalg.cholesky_ex(A, out=(out, WHOLE)),
        lambda out: torch.linalg.inv_ex(A, out=(out, WHOLE)),
        lambda out: torch.linalg.slogdet(A, out=(out, torch.empty(0))),
        lambda out: torch.linalg.lu_factor(A, out=(out, WHOLE)),
        lambda out: torch.linalg.ldl_factor(A, out=(out, WHOLE)),
        lambda out: torch.linalg.matrix_power(A, 2, out=out),
        lambda out: torch.mv(A, A[0], out=out),
    ],
)
def test_out_has_the_dtype_of_a_factor(call):
    with raises(RuntimeError, "Expected out tensor to have dtype float, but got double instead"):
        call(torch.empty(0, dtype=torch.float64))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda out: torch.cholesky_inverse(A, out=out), "cholesky_inverse"),
        (lambda out: torch.cholesky_solve(A, A, out=out), "cholesky_solve"),
        (lambda out: torch.linalg.tensorsolve(A, A[0], out=out), "tensorsolve"),
        (lambda out: torch.linalg.matrix_power(A, 1, out=out), "matrix_power"),
    ],
)
def test_out_of_another_kind_is_refused(call, name):
    message = "Expected result to be safely castable from Float dtype, but got result with dtype"
    with raises(RuntimeError, f"{name}: {message} Int"):
        call(WHOLE)
    call(torch.empty(0, dtype=torch.float64))
    message = "torch.linalg.matrix_rank: Expected result to be safely castable from Long dtype"
    with raises(RuntimeError, f"{message}, but got result with dtype Bool"):
        torch.linalg.matrix_rank(A, out=torch.empty(0, dtype=torch.bool))
