"""Programs as C: views and writes, checks, reductions, numbers, results, threads."""

import re
import threading
import warnings

import numpy as np
import pytest

from tapegrad.arrays.traced import namespace as xp
from tapegrad.arrays.traced.number import larger, smaller
from tapegrad.arrays.traced.program import Changed, Program
from tapegrad.compiler.c_backend import (
    Unsupported,
    addresses,
    blas,
    build,
    driver,
    lowered,
    recipe,
    recipes,
)
from tapegrad.compiler.c_backend.lowered import Compiled
from tests.compiler.c_programs import needs_compiler

pytestmark = needs_compiler()


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "c-cache"))


def record(function, *inputs):
    """The program of a function of arrays and numbers, and its outputs."""
    with Program() as program:
        given = [program.number(x) if type(x) is float else program.input(x.copy()) for x in inputs]
        outs = function(*given)
    return program, list(outs)


def check(function, *inputs, times=2):
    """Compiled and recorded programs give the same, and write the same into their inputs."""
    program, outs = record(function, *inputs)
    runner = build(program, [y.place for y in outs])
    a, b = ([x if type(x) is float else x.copy() for x in inputs] for _ in range(2))
    for _ in range(times):
        want, found = program.function(outs)(*a), runner(*b)
        for x, y in [*zip(found, want, strict=True), *zip(b, a, strict=True)]:
            x, y = np.asarray(x), np.asarray(y)
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=2e-5 if x.dtype.itemsize == 4 else 1e-12)
    return runner


def floats(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# --- views and writes ----------------------------------------------------------------------------


def test_writes_through_views_are_seen_by_their_base():
    def step(x):
        x[1:, ::2] = x[1:, 1::2] * 2.0
        row = x[0]
        row += 1.0
        return [x.T @ x, row]

    check(step, floats(4, 6))


def test_an_overlapping_write_reads_what_was_there_before():
    def step(x):
        x[1:] += x[:-1]
        x[:-1] = x[1:]
        return [x * 1.0]

    check(step, floats(9))


def test_reads_before_a_write_see_the_old_numbers():
    def step(x):
        before = x * 2.0
        x -= before
        after = x * 2.0
        return [before, after]

    check(step, floats(5, 3))


def test_copyto_fill_and_setitem_of_numbers():
    def step(x, y):
        np.copyto(x, y)
        y.fill(3.5)
        x[0, 1] = 7
        x[..., 2] = y[..., 0]
        return [x + y]

    check(step, floats(3, 4), floats(3, 4, seed=1))


def test_an_output_is_the_input_that_was_written():
    def step(x):
        x += 1.0
        return [x, x[1:]]

    program, outs = record(step, floats(4))
    runner = build(program, [y.place for y in outs])
    x = floats(4)
    whole, part = runner(x)
    assert whole is x and np.shares_memory(part, x)
    part[0] = 9
    assert x[1] == 9


def test_overlapping_inputs_are_refused_where_one_is_written():
    x = floats(6)
    with Program() as program:
        a, b = program.input(x), program.input(x[2:])
        a += 1.0
        y = b * 2.0
    with pytest.raises(Unsupported, match="overlap"):
        build(program, [y.place])


# --- checks --------------------------------------------------------------------------------------


def test_a_shape_that_numbers_decide_has_to_be_the_same():
    def step(x, y):
        y *= 2.0
        found = x[x > 0]
        return [found * 2.0, *np.nonzero(y > 0)]

    program, outs = record(step, np.array([1.0, -1.0, 2.0]), np.array([1.0, 1.0]))
    runner = build(program, [y.place for y in outs])
    y = np.array([1.0, 3.0])
    assert runner(np.array([-1.0, 5.0, 4.0]), y)[0].tolist() == [10.0, 8.0]
    assert y.tolist() == [2.0, 6.0]
    with pytest.raises(Changed):
        runner(np.array([1.0, 5.0, 4.0]), y)
    with pytest.raises(Changed):
        runner(np.array([1.0, 5.0, -4.0]), np.array([-1.0, 1.0]))
    assert y.tolist() == [2.0, 6.0]


def test_changed_is_raised_before_anything_is_written():
    def step(x, y):
        x += 1.0
        if (y.sum() > 0.0).item():
            x *= 2.0
        return [x * 1.0]

    program, outs = record(step, floats(3), np.ones(3, np.float32))
    runner = build(program, [y.place for y in outs])
    x = floats(3)
    runner(x, np.ones(3, np.float32))
    before = x.copy()
    with pytest.raises(Changed):
        runner(x, -np.ones(3, np.float32))
    np.testing.assert_array_equal(x, before)


def test_a_check_of_what_was_written_raises_before_the_write():
    def step(x):
        x += 1.0
        if (x.sum() > 0.0).item():
            x *= 2.0
        return [x * 1.0]

    program, outs = record(step, np.ones(3))
    runner = build(program, [y.place for y in outs])
    x = np.full(3, -5.0)
    with pytest.raises(Changed):
        runner(x)
    np.testing.assert_array_equal(x, np.full(3, -5.0))
    y = np.ones(3)
    np.testing.assert_array_equal(runner(y)[0], np.full(3, 4.0))
    np.testing.assert_array_equal(y, np.full(3, 4.0))


def test_division_of_numbers_by_zero_raises_and_writes_nothing():
    def step(x, a, b):
        x += 1.0
        x *= a / b
        return [x * 1.0]

    program, outs = record(step, np.ones(2), 1.0, 2.0)
    runner = build(program, [y.place for y in outs])
    x = np.ones(2)
    with pytest.raises(ZeroDivisionError):
        runner(x, 1.0, 0.0)
    np.testing.assert_array_equal(x, np.ones(2))


def test_an_index_out_of_range_raises_as_in_numpy():
    def step(x, i, out):
        picked = xp.take(x, i, axis=0)
        out += 1.0
        return [picked]

    program, outs = record(step, floats(5, 2), np.array([0, 4]), floats(3))
    runner = build(program, [y.place for y in outs])
    out = np.zeros(3, np.float32)
    with pytest.raises(IndexError, match="out of bounds"):
        runner(floats(5, 2), np.array([0, 5]), out)
    np.testing.assert_array_equal(out, np.zeros(3))


# --- reductions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_reductions_along_axes(axis, order):
    def step(x):
        x = xp.permute_dims(x, order)
        return [
            xp.sum(x, axis=axis),
            xp.max(x * 2.0, axis=axis, keepdims=True),
            xp.min(x, axis=axis),
            xp.mean(x, axis=axis, keepdims=True),
            xp.prod(x, axis=axis),
            xp.any(x > 1.5, axis=axis),
            xp.all(x > -1.5, axis=axis),
        ]

    check(step, floats(3, 4, 5))


def test_sums_of_many_float32_numbers_are_accurate():
    program, outs = record(lambda x: [xp.sum(x), xp.sum(x, axis=1)], np.ones((4, 10), np.float32))
    n = 3_000_017
    x = np.random.default_rng(0).random((1, n)).astype(np.float32)
    program, outs = record(lambda x: [xp.sum(x), xp.sum(x, axis=1)], x)
    total, rows = build(program, [y.place for y in outs])(x)
    exact = x.astype(np.float64).sum()
    assert abs(total - exact) <= 1e-6 * exact
    assert abs(rows[0] - exact) <= 1e-6 * exact


def test_extrema_of_nan_are_nan():
    x = np.array([[1.0, np.nan], [2.0, 3.0]], np.float32)
    check(lambda x: [xp.max(x), xp.min(x, axis=0), np.maximum(x, 1.0), np.fmax(x, 1.0)], x)


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_integers_divide_and_shift_as_in_numpy(dtype):
    x = np.array([-128 if dtype is np.int8 else 7, 5, 100, 0, 3], dtype)
    y = np.array([1, 3, 0, 2, 2], dtype)

    def step(x, y):
        return [x // y, x % y, x << y, x >> y, x + y, x * y, -x, abs(x), x & y, ~x]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(step, x, y)


def test_signed_and_unsigned_numbers_are_compared_as_in_numpy():
    x, y = np.array([-1, 5, 2**62]), np.array([1, 5, 2**63], np.uint64)
    check(lambda x, y: [x < y, np.maximum(x, y), x == y], x, y)


@pytest.mark.parametrize("order", ["C", "F", "K"])
def test_flattening_in_another_order(order):
    check(lambda x: [x.flatten(order) * 1.0, x.T.ravel(order) * 1.0, x.copy(order)], floats(3, 4))
    check(lambda x: [x.reshape((2, 6), order="F" if order == "F" else "C") + 0.0], floats(3, 4))


def test_floats_divide_as_in_python():
    x = np.array([7.5, -7.5, 0.0, -0.0, np.inf, 3.0, 1.0])
    y = np.array([2.0, 2.0, -1.0, 1.0, 2.0, np.inf, 0.0])
    with np.errstate(all="ignore"):
        check(lambda x, y: [x // y, x % y, np.fmod(x, y), np.copysign(x, y)], x, y)


def test_python_numbers_take_the_dtype_of_the_array():
    runner = check(lambda x: [x * 0.1 + 1e-9, x > 0.1, xp.where(x > 0, x, 2.0)], floats(7))
    assert "double" not in runner.source.split("loop0")[1]


def test_options_are_inputs():
    program, outs = record(lambda x, lr: [x * (lr * 2.0)], floats(3), 0.5)
    runner = build(program, [y.place for y in outs])
    x = floats(3)
    np.testing.assert_allclose(runner(x, 0.25)[0], x * 0.5, rtol=1e-6)
    np.testing.assert_allclose(runner(x, 3)[0], x * 6, rtol=1e-6)


def test_numbers_of_arrays_go_on_as_numbers():
    def step(x, y):
        a = x.sum().item()
        b = larger(abs(-a) ** 0.5 / 2.0, 0.25)
        x *= smaller(b, 100.0) - y[0].item()
        return [x + a, x * b]

    runner = check(step, np.abs(floats(4, 3)), floats(2))
    assert "sum().item" not in runner.driver and "expect" not in runner.driver
    check(step, np.abs(floats(4, dtype=np.float64)), floats(2))


def test_numbers_in_memory_are_written_in_place():
    def step(x):
        total, all_of_it = x.sum(), (x > 0).all()
        seen = total.reshape(1)
        np.copyto(total, total * 2.0)
        seen += 1.0
        np.logical_not(all_of_it, out=all_of_it)
        return [total, all_of_it]

    check(step, floats(5))


# --- results -------------------------------------------------------------------------------------


def test_a_kept_result_is_never_overwritten():
    program, outs = record(lambda x: [x + 1.0, (x * 2.0).T], floats(2, 3))
    runner = build(program, [y.place for y in outs])
    kept = [runner(np.full((2, 3), i, np.float32)) for i in range(4)]
    for i, (a, b) in enumerate(kept):
        np.testing.assert_array_equal(a, np.full((2, 3), i + 1))
        np.testing.assert_array_equal(b, np.full((3, 2), 2 * i))


def test_a_view_of_a_result_keeps_its_memory():
    program, outs = record(lambda x: [x + 1.0], floats(8))
    runner = build(program, [y.place for y in outs])
    part = runner(np.zeros(8, np.float32))[0][2:4]
    runner(np.full(8, 7, np.float32))
    np.testing.assert_array_equal(part, [1, 1])


def test_results_that_nobody_has_are_used_again():
    program, outs = record(lambda x: [x + 1.0], floats(8))
    runner = build(program, [y.place for y in outs])
    x = floats(8)
    first = runner(x)[0].ctypes.data
    assert runner(x)[0].ctypes.data == first


def test_what_has_no_c_runs_in_python_between_pieces_of_c():
    def step(x):
        values = np.sort(x * 2.0)
        return [values + 1.0, np.cumsum(values)]

    runner = check(step, floats(9))
    assert "np.sort" in runner.driver


def test_a_thousand_operations_are_one_function_for_all_blocks():
    def step(x):
        for i in range(250):
            x = np.tanh(x * (1.0 + i * 1e-4) + 0.1) - 0.05
        return [x]

    program, outs = record(step, floats(4))
    compiled = Compiled(program, [y.place for y in outs], {})
    assert len(re.findall(r"void loop\d+\(", compiled.source)) <= 3  # first, middle, last
    check(step, floats(4))


# --- idioms --------------------------------------------------------------------------------------


def sources_of(step, *inputs):
    program, outs = record(step, *inputs)
    return Compiled(program, [y.place for y in outs], {}).source


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sigmoid_by_parts_is_one_function(dtype):
    def step(x):
        return [1 / (1 + np.exp(-x)), np.reciprocal(np.exp(-x.T) + 1)]

    x = np.concatenate((floats(30, dtype=dtype) * 10, np.array([-85, 85, 500], dtype)))
    x = x.reshape(3, 11)
    check(step, x)
    assert "tg_sigmoid" in sources_of(step, x) and "tg_exp_f" not in sources_of(step, x)


def test_a_sigmoid_whose_parts_are_read_stays_in_parts():
    def step(x):
        e = np.exp(-x)
        return [1 / (1 + e), e * 2.0]

    check(step, floats(9))
    assert "tg_sigmoid" not in sources_of(step, floats(9))


def test_a_sigmoid_is_of_what_was_there_when_it_was_negated():
    def step(x):
        y = -x
        x += 1.0
        return [1 / (1 + np.exp(y))]

    check(step, floats(9))


@pytest.mark.parametrize("one", [2, 1.5])
def test_other_quotients_are_no_sigmoid(one):
    def step(x):
        return [1 / (one + np.exp(-x)), one / (1 + np.exp(-x)), 1 / (1 + np.exp(x))]

    check(step, floats(9))
    assert "tg_sigmoid" not in sources_of(step, floats(9))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes_of_sigmoid_and_tanh_are_one_function_each(dtype):
    def step(x):
        y, z = xp.sigmoid(x), xp.sigmoid(x * 2.0)
        slopes = [(1.0 - y) * y, z * (1.0 - z)]
        return [*slopes, (1.0 - x) * (1.0 + x), (x.T + 1.0) * (1.0 - x.T)]

    x = floats(3, 11, dtype=dtype)
    x[0, :3] = 1 - np.finfo(dtype).eps, np.nan, np.inf
    check(step, x)
    source = sources_of(step, x)
    assert "tg_sigmoid_slope" in source and "tg_tanh_slope" in source
    assert not re.search(r" [-+] x\d", source)


def test_slopes_are_of_one_number_that_stays_and_whose_rest_is_not_read():
    def step(x, y):
        rest, more = 1.0 - x, 1.0 + y
        s = xp.sigmoid(x)
        left = 1.0 - s
        outs = [rest * y, rest * more, (2.0 - s) * s, left * s, left, (1.0 - s) - s, (1.0 - x) * x]
        was, also = 1.0 - y, 1.0 + y
        y *= 0.5
        return [*outs, was * y, (1.0 - y) * also]

    check(step, floats(9), floats(9, seed=1))
    assert "_slope_" not in sources_of(step, floats(9), floats(9, seed=1))


# --- source and threads --------------------------------------------------------------------------


def test_names_and_lines_are_in_the_source():
    program, outs = record(lambda x: [x + 1.0], floats(8))
    names = {program.inputs[0].number: "encoder_weight"}
    runner = build(program, [outs[0].place], names=names)
    assert "encoder_weight" in runner.source
    assert "test_programs.py" in runner.source


def test_threads_run_one_program_at_once():
    program, outs = record(lambda x: [np.sort(x), (x @ x.T) * 2.0], floats(40, 40))
    runner = build(program, [y.place for y in outs])
    wrong = []

    def work(seed):
        x = floats(40, 40, seed=seed)
        want = (x @ x.T) * 2.0
        for _ in range(200):
            found = runner(x)
            if not np.allclose(found[1], want, rtol=1e-4, atol=1e-3):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_transposed_and_broadcast_matrices(batch, dtype):
    x, y = floats(*batch, 4, 5, dtype=dtype), floats(5, 6, seed=1, dtype=dtype)
    turned = floats(*batch, 6, 4, seed=2, dtype=dtype)

    def step(x, y, turned):
        return [x @ y, xp.matrix_transpose(turned) @ turned, x @ y[:, 0], (x[..., ::2] @ y[::2])]

    check(step, x, y, turned)


def test_sums_of_many_float32_rows_are_accurate():
    x = np.random.default_rng(0).random((300_000, 3)).astype(np.float32)
    program, outs = record(lambda x: [xp.sum(x, axis=0), xp.mean(x, axis=0, keepdims=True)], x)
    total, mean = build(program, [y.place for y in outs])(x)
    exact = x.astype(np.float64).sum(axis=0)
    np.testing.assert_allclose(total, exact, rtol=1e-6)
    np.testing.assert_allclose(mean[0], exact / len(x), rtol=1e-6)


def test_any_name_can_be_given():
    names = ["layers.0.weight", "0.bias", "n", "x0", "float", "größe", "tg_exp_f32"]
    program, outs = record(lambda *xs: [sum(xs[1:], start=xs[0])], *[floats(3)] * len(names))
    given = {x.number: name for x, name in zip(program.inputs, names, strict=True)}
    runner = build(program, [outs[0].place], names=given)
    np.testing.assert_allclose(runner(*[floats(3)] * len(names))[0], floats(3) * 7, rtol=1e-5)
    assert "layers_0_weight" in runner.source


# --- other machines ------------------------------------------------------------------------------


@pytest.mark.parametrize("convention", ["cblas64", "fortran", "own"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whoever_makes_the_products(convention, dtype, monkeypatch):
    if convention == "fortran":
        pytest.importorskip("scipy.linalg.cython_blas")
    makes = {"cblas64": blas._of_numpy, "fortran": blas._of_scipy, "own": lambda: blas.Blas("own")}
    kernels = makes[convention]()
    if kernels is None:
        pytest.skip("NumPy brings another BLAS")
    monkeypatch.setattr(blas, "found", lambda: kernels)

    def step(x, y):
        return [x @ y, x.T @ x, y @ y.T, y.T @ x.T, x @ y[:, 1]]

    runner = check(step, floats(4, 5, dtype=dtype), floats(5, 3, seed=1, dtype=dtype))
    assert ("by_fortran" in runner.source) == (convention == "fortran")


def test_objects_that_lie_otherwise_are_asked_for_their_address(monkeypatch):
    for module in (addresses, driver, lowered, recipe, recipes):
        monkeypatch.setattr(module, "offsets", lambda: None)

    def step(x, lr):
        x -= lr * x
        return [x * 1.0, np.sort(x) + lr]

    runner = check(step, floats(5), 0.25)
    assert "int step(" not in runner.source
