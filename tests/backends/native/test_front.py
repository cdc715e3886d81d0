"""Kernels in C give what NumPy's kernels give."""

import os
import threading

import numpy as np
import pytest

import tapegrad
from tapegrad.arrays.numpy import namespace
from tapegrad.arrays.traced.program import Program
from tapegrad.backends.native import front as front_module
from tapegrad.backends.native import libraries
from tapegrad.backends.native.front import front
from tapegrad.backends.native.served import names
from tests.compiler.c_backend.test_templates import INSTANCES, TOLERANCE, TYPES, Draw
from tests.compiler.c_programs import needs_compiler

pytestmark = [needs_compiler(), pytest.mark.usefixtures("native")]


class Counted:
    """NumPy's kernel of a name, and how often it was called."""

    def __init__(self, name):
        found = getattr(namespace, name)
        self.kernel, self.calls = getattr(found, "in_numpy", found), 0

    def __call__(self, *args, **options):
        self.calls += 1
        return self.kernel(*args, **options)


def parts(out):
    return out if isinstance(out, (tuple, list)) else (out,)


def assert_same(found, want, tolerance):
    assert type(found) is type(want)
    assert len(parts(found)) == len(parts(want))
    for a, b in zip(parts(found), parts(want), strict=True):
        if b is None:
            assert a is None
            continue
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        assert a.size < 2 or a.strides == b.strides
        scale = np.abs(b[np.isfinite(b)]).max(initial=0) if b.dtype.kind == "f" else 0
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", names())
def test_c_takes_the_place_of_numpy_and_gives_the_same(name, suffix, monkeypatch):
    monkeypatch.setattr(front_module, "_SMALL", {})
    monkeypatch.setattr(front_module, "_FOR_THREADS", ())
    kernel = Counted(name)
    native = front(name, kernel)
    in_c = 0
    for function in INSTANCES[name]:
        calls = list(function(Draw(TYPES[suffix])))
        with np.errstate(all="ignore"):
            wants = [kernel(*args, **options) for args, options in calls]
            # The first call of a kind: NumPy, or C where a call like it came before.
            for (args, options), want in zip(calls, wants, strict=True):
                assert_same(native(*args, **options), want, TOLERANCE[suffix])
            libraries.wait()
            kernel.calls = 0
            for (args, options), want in zip(calls, wants, strict=True):
                assert_same(native(*args, **options), want, TOLERANCE[suffix])
        in_c += len(calls) - kernel.calls
        kernel.calls = 0
    assert in_c > 0


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(
    "name", ["gelu", "standardize_rows_weight_back", "matmul", "add_product", "spread_rows"]
)
def test_the_number_of_threads_leaves_the_bits_as_they_are(name, n):
    d = Draw(np.float32)
    rows, index = d(3000, 40), d.index(300, 3000)
    args = {
        "gelu": (rows, "none"),
        "standardize_rows_weight_back": (rows, d(3000, 40), d(3000, 1), d(3000, 1), d(40), 1e-5),
        "matmul": (rows, d(40, 70)),
        "add_product": (d(70), rows, d(40, 70)),
        "spread_rows": (rows, index, 300, 7, True),
    }[name]
    native = getattr(namespace, name)
    found = []
    for threads in (1, n):
        tapegrad.set_num_threads(threads)
        native(*args)
        libraries.wait()
        found.append(native(*args))
    assert found[0].tobytes() == found[1].tobytes()


def taught(name, kernel, *args):
    """A front that calls C for such arguments from now on."""
    native = front(name, kernel)
    native(*args)
    libraries.wait()
    native(*args)
    kernel.calls = 0
    return native


def test_an_index_out_of_range_raises_the_error_of_numpy():
    kernel = Counted("spread_rows")
    rows, index = np.ones((4, 3), np.float32), np.array([0, 1, 2, 1])
    native = taught("spread_rows", kernel, rows, index, 3, -1, False)
    native(rows, index, 3, -1, False)
    assert kernel.calls == 0
    index[2] = 9
    with pytest.raises(IndexError) as found:
        native(rows, index, 3, -1, False)
    with pytest.raises(IndexError) as want:
        kernel(rows, index, 3, -1, False)
    assert str(found.value) == str(want.value)


def test_what_was_first_called_while_a_program_was_recorded_is_planned_later():
    kernel = Counted("softmax_along")
    native, x = front("softmax_along", kernel), np.zeros((3, 5), np.float32)
    with Program():
        native(x, 1)
    native(x, 1)
    libraries.wait()
    kernel.calls = 0
    np.testing.assert_allclose(native(x, 1), np.full((3, 5), 0.2), rtol=1e-6)
    assert kernel.calls == 0


def test_nan_and_infinity_stay():
    kernel = Counted("softmax_along")
    x = np.zeros((3, 5), np.float32)
    native = taught("softmax_along", kernel, x, 1)
    x[0, 1], x[1, 2], x[2, 3] = np.nan, -np.inf, np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(native(x, 1), kernel.kernel(x, 1), rtol=1e-6)
    assert kernel.calls == 0


def test_zeros_of_both_signs_and_nan_are_told_apart():
    kernel = Counted("where")
    mask, x = np.zeros((40, 50), bool), np.ones((40, 50), np.float32)
    native = front("where", kernel)
    for _ in range(3):
        for number in (0.0, -0.0, float("nan"), 0, float("nan")):
            found, want = native(mask, x, number), kernel.kernel(mask, x, number)
            assert found.tobytes() == want.tobytes()
        libraries.wait()
    kernel.calls = 0
    native(mask, x, float("nan")), native(mask, x, -0.0)
    assert kernel.calls == 0


def test_numpy_makes_what_c_does_not_cover():
    d = Draw(np.float32)
    for name, args in (
        ("standardize_rows", (d(3, 4).astype(np.float16), None, None, 1, 1e-5)),
        ("softmax_along", (d(3, 4).T, 1)),
        ("gelu", (d(3, 4).astype(">f4"), "none")),
        ("lstm", ((d(3, 2), d(2, 1), d(2, 1), d(4, 2), d(4, 1)), False, (2, 1), False)),
    ):
        kernel = Counted(name)
        native = taught(name, kernel, *args)
        assert_same(native(*args), kernel.kernel(*args), 0)
        assert kernel.calls == 1


def test_empty_arrays():
    for name, args in (
        ("softmax_along", (np.zeros((0, 3), np.float32), 1)),
        ("gelu", (np.zeros((2, 0), np.float32), "tanh")),
        ("sum_rows", (np.zeros((0, 4), np.float32), np.zeros(4, np.float32))),
        ("matmul", (np.zeros((100, 0), np.float32), np.zeros((0, 100), np.float32))),
        ("add_product", (np.ones(1, np.float32), *np.zeros((2, 0, 0), np.float32))),
    ):
        kernel = Counted(name)
        assert_same(taught(name, kernel, *args)(*args), kernel.kernel(*args), 0)


def test_an_array_that_begins_between_numbers_is_left_to_numpy():
    kernel = Counted("softmax_along")
    x = np.frombuffer(bytearray(85), np.uint8)[1:81].view(np.float32).reshape(4, 5)
    assert not x.flags.aligned
    native = taught("softmax_along", kernel, np.zeros((4, 5), np.float32), 1)
    np.testing.assert_array_equal(native(x, 1), np.full((4, 5), 0.2, np.float32))
    assert kernel.calls == 1


def test_a_subclass_of_arrays_is_left_to_numpy():
    class Own(np.ndarray):
        pass

    kernel = Counted("softmax_along")
    x = np.zeros((4, 5), np.float32)
    native = taught("softmax_along", kernel, x, 1)
    native(x.view(Own), 1)
    assert kernel.calls == 1


def test_kinds_of_calls_beyond_so_many_are_left_to_numpy(monkeypatch):
    monkeypatch.setattr(front_module, "_MOST", 3)
    kernel = Counted("softmax_along")
    native = front("softmax_along", kernel)
    for _ in range(3):
        for n in (2, 3, 4, 5, 6):
            x = np.zeros((2, n), np.float32)
            np.testing.assert_allclose(native(x, 1), np.full((2, n), 1 / n), rtol=1e-6)
            libraries.wait()
    assert kernel.calls == 5 + 2 * 2


@pytest.mark.parametrize("name", ["take", "matmul", "add_product"])
def test_small_calls_of_what_numpy_does_at_once_stay_there(name):
    d = Draw(np.float32)
    args = {
        "take": (d(9, 4), d.index(9, 5)),
        "matmul": (d(5, 4), d(4, 3)),
        "add_product": (d(3), d(5, 4), d(4, 3)),
    }[name]
    options = {"axis": 0} if name == "take" else {}
    kernel = Counted(name)
    native = front(name, kernel)
    for n in (1, 2, 3):
        assert_same(native(*args, **options), kernel.kernel(*args, **options), 0)
        libraries.wait()
        assert kernel.calls == n


def test_several_threads_call_at_once():
    x = np.linspace(-3, 3, 2**16, dtype=np.float32)
    kernel = Counted("gelu")
    native = taught("gelu", kernel, x, "none")
    want, found = native(x, "none"), []

    def work():
        for _ in range(30):
            found.append(np.array_equal(native(x, "none"), want))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [True] * 120


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_goes_on():
    x = np.linspace(-3, 3, 2**16, dtype=np.float32)
    kernel = Counted("gelu")
    native = taught("gelu", kernel, x, "none")
    want = native(x, "none")
    child = os.fork()
    if not child:
        same = np.array_equal(native(x, "none"), want)
        other = np.zeros((4, 7))
        fresh = front("softmax_along", Counted("softmax_along"))
        for _ in range(2):
            same = same and np.allclose(fresh(other, 1), 1 / 7)
            libraries.wait()
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
