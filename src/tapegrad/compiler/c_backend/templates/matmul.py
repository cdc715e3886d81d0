"""Products of matrices, and what is added to one: `xp.matmul` and `xp.add_product` where they are
called alone. Programs have products of their own.

Threads share a product by its rows, or several products among them, each by a BLAS of one thread.
"""

from math import prod

from tapegrad.compiler.c_backend.lower_product import order_of
from tapegrad.compiler.c_backend.templates.call import Call, Instance, Strided, require, template
from tapegrad.compiler.c_backend.templates.shared import shared
from tapegrad.core.annotations import Any

SOURCE = r"""
/* C = A B for `count` matrices (m, k) and (k, n): `inner` of them lie A1, B1 apart, the next such
   A0, B0; a or b: that matrix is read transposed */
static void tg_matmul_real(real *restrict C, const real *A, const real *B, int64_t count,
                           int64_t inner, int64_t A0, int64_t A1, int64_t B0, int64_t B1,
                           int64_t a, int64_t b, int64_t m, int64_t n, int64_t k, int64_t lda,
                           int64_t ldb) {
    tg_products_real(0, count, inner, A0, A1, B0, B1, inner * m * n, m * n, (int)a, (int)b, m, n, k,
                     A, lda, B, ldb, C, n);
}
static void tg_matmul_shared_real(real *restrict C, const real *A, const real *B, int64_t count,
                                  int64_t inner, int64_t A0, int64_t A1, int64_t B0, int64_t B1,
                                  int64_t a, int64_t b, int64_t m, int64_t n, int64_t k,
                                  int64_t lda, int64_t ldb, int64_t threads) {
    if (count >= 4) {
        tg_products_shared_real(0, count, inner, A0, A1, B0, B1, inner * m * n, m * n, (int)a,
                                (int)b, m, n, k, A, lda, B, ldb, C, n, threads);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t o = i / inner, j = i % inner;
        tg_product_shared_real((int)a, (int)b, m, n, k, 1, A + o * A0 + j * A1, lda,
                               B + o * B0 + j * B1, ldb, 0, C + i * m * n, n, threads);
    }
}

/* C (m, n) = X + A B, where rows of X are X0 apart and its columns X1: 0 where it is repeated */
static void tg_add_product_real(real *restrict C, const real *X, const real *A, const real *B,
                                int64_t X0, int64_t X1, int64_t a, int64_t b, int64_t m, int64_t n,
                                int64_t k, int64_t lda, int64_t ldb) {
    for (int64_t i = 0; i < m; i++) {
        if (X1 == 1)
            memcpy(C + i * n, X + i * X0, n * sizeof(real));
        else
            for (int64_t j = 0; j < n; j++) C[i * n + j] = X[i * X0 + j * X1];
    }
    tg_product_real((int)a, (int)b, m, n, k, 1, A, lda, B, ldb, 1, C, n);
}
"""
SOURCE += shared(
    SOURCE,
    "tg_add_product",
    "m",
    unit=12,
    rest="joined",
    products="1",
    parts="tg_product_parts_real(m, n, k, threads)",
    C="n",
    X="X0",
    A="a ? 1 : lda",
)

_EACH = 8  # multiplications that take as long as a number that is computed otherwise


@template("xp.matmul")
def matmul(at: Instance) -> Call:
    x, y = at.args
    (t, x_shape, y_shape) = at.real(x, y), at.shape(x), at.shape(y)
    require(min(len(x_shape), len(y_shape)) >= 2)
    (m, k), n, batch = x_shape[-2:], y_shape[-1], at.results()[0].shape[:-2]
    count = prod(batch)
    require(m and n and k)
    operands, flags, rows, moves = [], [], [], []
    for each in (x, y):
        order, step, move = _read(at, each, batch)
        operands.append(each if order is None else Strided(each))
        flags.append(int(order == "columns"))
        rows.append(step)
        moves += move
    inner = batch[-1] if batch else 1
    numbers = [count, inner, *moves, *flags, m, n, k, *rows]
    work = count * m * n * k // _EACH
    return at.call(f"tg_matmul_{t}", [*operands, *numbers], work=work)


@template("xp.add_product")
def add_product(at: Instance) -> Call:
    x, a, b = at.args
    t, (m, k), n = at.real(x, a, b), at.shape(a), at.shape(b)[1]
    require(m and n and k)
    steps = [0] * 2
    for i, (size, step) in enumerate(zip(at.shape(x)[::-1], at.strides(x)[::-1], strict=True)):
        steps[1 - i] = step if size > 1 else 0
    require(all(s % at.dtype(x).itemsize == 0 for s in at.of(x).strides))
    operands, flags, rows = [Strided(x)], [], []
    for each in (a, b):
        order, step, _ = _read(at, each, ())
        operands.append(each if order is None else Strided(each))
        flags.append(int(order == "columns"))
        rows.append(step)
    numbers = [*steps, *flags, m, n, k, *rows]
    return at.call(f"tg_add_product_{t}", [*operands, *numbers], work=m * n * k // _EACH)


def _read(at: Instance, x: Any, batch: tuple[int, ...]) -> tuple[str | None, int, list[int]]:
    """How a BLAS reads the matrices of an operand, the elements from one row to the next, and those
    from one matrix to the next in the last two axes before; no order: in a copy."""
    shape = at.shape(x)
    lead, size = shape[:-2], at.dtype(x).itemsize
    require(lead in ((), batch))  # NumPy computes what is repeated in other ways
    found = order_of(at.of(x))
    steps = at.strides(x)[:-2]
    if found is not None and all(s % size == 0 for s in at.of(x).strides) and len(lead) <= 2:
        steps = (0,) * (2 - len(lead)) + steps
        return *found, list(steps)
    require(len(lead) == len(batch))
    n, m = shape[-2:]
    inner = lead[-1] if lead else 1
    return None, m, [inner * n * m, n * m]
