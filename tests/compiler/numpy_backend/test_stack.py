"""Long sums of small results are one product and one sum, with the bits of the loop."""

import numpy as np
import pytest

from tests.compiler.numpy_backend.recorded import compiled, lines

N = 12


def rounds(x, w, n=N):
    found = [x]
    for _ in range(n):
        found.append(found[-1] * w)
    return found


def numbers(*shape, dtype=np.float32):
    drawn = np.random.default_rng(sum(shape)).standard_normal((2, *shape))
    return (drawn / 3 + 1).astype(dtype)


def summed(terms):
    total = terms[0] + terms[1]
    for x in terms[2:]:
        total += x
    return total


def check(function, *given, calls=None):
    """Compiled and run twice, `function` gives the same bits; it has so many calls."""
    run = compiled(function, *[x.copy() for x in given])
    for scale in (1, 3):
        inputs = [x * x.dtype.type(scale) for x in given]
        want = function(*[x.copy() for x in inputs])
        want = want if isinstance(want, tuple) else (want,)
        found = run(*inputs)
        assert [x.tobytes() for x in found] == [x.tobytes() for x in want]
    if calls is not None:
        made = [x for x in lines(run) if "(" in x and "references" not in x and "other()" not in x]
        assert len([x for x in made if "return" not in x]) == calls
    return run


@pytest.mark.parametrize("shape", [(2,), (3,), (2, 3), (1, 2, 1), (7, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_differs_from_round_to_round_lies_in_rows(shape, dtype):
    def step(x, w):
        made = rounds(x, w)
        return summed([g * y for g, y in zip(made, made[::-1], strict=True)])

    # Of its operands each is in two columns: one of them is copied.
    x, w = numbers(*shape, dtype=dtype)
    check(step, x, w)

    def product(x, w):
        return summed([w * y for y in rounds(x, w)])

    check(product, x, w, calls=N + 1 + 2)


@pytest.mark.parametrize("operator", ["add", "subtract", "divide", "multiply"])
def test_other_operators_and_numbers(operator):
    function = getattr(np, operator)
    x, w = numbers(4)
    check(lambda x, w: summed([function(0.3, y) for y in rounds(x, w)]), x, w, calls=N + 3)
    check(lambda x, w: summed([function(y, w[:1]) for y in rounds(x, w)]), x, w, calls=N + 3)


def test_a_sum_that_is_read_on_the_way_ends_there():
    def step(x, w):
        terms = [w * y for y in rounds(x, w)]
        total = summed(terms[:10])
        seen = total * 2.0
        for term in terms[10:]:
            total += term
        return seen, total

    check(step, *numbers(3))


def test_a_term_that_somebody_else_reads_is_made_as_it_was():
    def step(x, w):
        terms = [w * y for y in rounds(x, w)]
        return summed(terms), terms[5]

    run = check(step, *numbers(3))
    assert not any("add_reduce" in line for line in lines(run))


def test_what_is_written_to_is_read_before():
    def step(x, w):
        made = rounds(x, w)
        terms = [w * y for y in made[:11]]
        made[4] *= 2.0
        w += 1.0
        return summed(terms), made[4] + w

    check(step, *numbers(3))


def test_a_value_that_is_given_out_keeps_memory_of_its_own():
    def step(x, w):
        made = rounds(x, w)
        return summed([w * y for y in made]), made[3]

    run = compiled(step, *numbers(3))
    first = run(*numbers(3))[1]
    before = first.tolist()
    run(*[x * 2 for x in numbers(3)])
    assert first.tolist() == before
    check(step, *numbers(3))


def test_single_elements_and_large_arrays_stay_as_they_are():
    for shape in ((1,), (), (200, 200)):
        x, w = numbers(*shape)
        x, w = np.asarray(x), np.asarray(w)
        run = check(lambda x, w: summed([w * y for y in rounds(x, w)]), x, w)
        assert not any("add_reduce" in line for line in lines(run))


def test_two_sums_of_the_same_rounds():
    def step(x, w):
        made = rounds(x, w)
        return summed([w * y for y in made]), summed([y / 3.0 for y in made[:-1]])

    check(step, *numbers(5))
