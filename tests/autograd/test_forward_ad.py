"""Forward mode: levels, dual tensors, and what tangents go along with."""

import contextvars
import gc
import weakref

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd import forward_ad, profiler
from tapegrad.autograd.forward_ad import (
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)
from tapegrad.dispatch.op import primitive
from tests.messages import raises


@pytest.fixture
def level():
    """A level for the length of a test."""
    with dual_level():
        yield


def tangent(x):
    return unpack_dual(x).tangent


def numbers(x):
    return None if x is None else x.tolist()


def dual(values, tangents, **options):
    return make_dual(torch.tensor(values, **options), torch.tensor(tangents, **options))


# --- levels ---------------------------------------------------------------------------------------


def test_a_level_has_the_number_0():
    with dual_level() as number:
        assert number == 0


def test_levels_do_not_nest(level):
    with pytest.raises(RuntimeError, match=r"^Nested forward mode AD is not supported at the mom"):
        enter_dual_level()


def test_a_level_as_a_decorator():
    @dual_level()
    def slope(x):
        return tangent(make_dual(x, torch.ones(())) ** 2)

    assert slope(torch.tensor(3.0)).item() == slope(torch.tensor(3.0)).item() == 6.0


def test_a_level_ends_with_an_exception():
    with pytest.raises(KeyError), dual_level():
        raise KeyError
    with dual_level():
        pass


def test_leaving_a_level_that_was_not_begun():
    with pytest.raises(RuntimeError, match=r"^Dual level must be a positive number"):
        exit_dual_level()


def test_leaving_another_level(level):
    with pytest.raises(RuntimeError, match=r"^Trying to exit a forward AD level that was not the"):
        exit_dual_level(level=1)


def test_tangents_are_gone_after_the_level():
    with dual_level():
        x = dual([1.0], [1.0])
        y = x * 2
    assert repr(y) == "tensor([2.])"
    with dual_level():
        assert tangent(x) is None and tangent(y) is None


def test_outside_a_level_there_are_no_tangents():
    x = torch.ones(2)
    assert unpack_dual(x) == (x, None)
    with pytest.raises(
        RuntimeError, match=r"^Trying to create a dual Tensor for forward AD but no"
    ):
        make_dual(x, x)


def test_grad_modes_switched_inside_a_level_leave_it_on(level):
    x = dual([2.0], [1.0])
    torch.set_grad_enabled(False)
    try:
        assert numbers(tangent(x * x)) == [4.0]
    finally:
        torch.set_grad_enabled(True)
    with torch.no_grad():
        assert numbers(tangent(x * x)) == [4.0]


def test_other_contexts_have_levels_of_their_own(level):
    def inside():
        with dual_level():
            return numbers(tangent(dual([2.0], [1.0]) ** 2))

    assert contextvars.Context().run(inside) == [4.0]


def test_inference_mode_has_no_tangents(level):
    x = dual([2.0], [1.0])
    with torch.inference_mode():
        y = x * 2
        assert tangent(y) is None and tangent(x) is None
        assert tangent(make_dual(torch.ones(2), torch.ones(2))) is None
    assert numbers(tangent(x)) == [1.0]


def test_tangents_can_be_switched_off(level):
    x = dual([2.0], [1.0])
    with forward_ad._set_fwd_grad_enabled(False):
        assert tangent(x * 2) is None and tangent(x) is None
        assert not forward_ad._is_fwd_grad_enabled()
    assert numbers(tangent(x * 2)) == [2.0]


# --- dual tensors ---------------------------------------------------------------------------------


def test_a_dual_is_a_view_of_its_primal_with_the_tangent_itself(level):
    x, t = torch.ones(3), torch.ones(3)
    y = make_dual(x, t)
    assert y._base is x and tangent(y) is t and tangent(x) is None
    primal = unpack_dual(y).primal
    assert primal._base is x and tangent(primal) is None


def test_a_tangent_is_laid_out_as_its_primal(level):
    x, t = torch.ones(2, 3).t(), torch.arange(6.0).view(3, 2)
    y = make_dual(x, t)
    assert tangent(y).stride() == (1, 3) and torch.equal(tangent(y), t)


def test_a_tangent_is_copied_where_its_primal_has_another_place_in_memory(level):
    x, t = torch.arange(5.0)[1:], torch.ones(4)
    y = make_dual(x, t)
    y.mul_(2)
    assert t.tolist() == [1] * 4 and tangent(y).tolist() == [2] * 4
    assert tangent(y).storage_offset() == 1
    assert tangent(y.as_strided((5,), (1,), 0)).tolist() == [0, 2, 2, 2, 2]
    z = torch.ones(4, dtype=torch.complex64)
    assert (
        tangent(make_dual(z, z.conj())) is not z and not tangent(make_dual(z, z.conj())).is_conj()
    )
    assert tangent(make_dual(x, t[:].expand(4))) is not t
    same = torch.ones(5)[1:]
    assert tangent(make_dual(x, same)) is same


@pytest.mark.parametrize(
    ("primal", "given", "error", "text"),
    [
        (
            torch.ones(3),
            torch.ones(2),
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original "
            "Tensor, this is not supported. Tensor is of size [3] while the given forward gradient "
            "is of size [2].",
        ),
        (
            torch.arange(3),
            torch.ones(3),
            ValueError,
            "Expected primal to be floating point or complex, but got: torch.int64",
        ),
        (
            torch.ones(3),
            torch.arange(3),
            ValueError,
            "Expected tangent to be floating point or complex, but got: torch.int64",
        ),
        (torch.ones(3), 1.0, AttributeError, "'float' object has no attribute 'is_floating_point'"),
    ],
)
def test_what_cannot_be_dual(level, primal, given, error, text):
    with pytest.raises(error) as raised:
        make_dual(primal, given)
    assert str(raised.value) == text


def test_a_dual_cannot_be_made_dual_again(level):
    x = dual([1.0], [1.0])
    with pytest.raises(RuntimeError, match="that already has a forward gradient at the same level"):
        make_dual(x, torch.ones(1))


def test_a_level_that_does_not_exist(level):
    with pytest.raises(RuntimeError, match=r"^Invalid level given to _make_dual"):
        make_dual(torch.ones(1), torch.ones(1), level=1)


def test_a_dual_prints_its_tangent(level):
    x = dual([1.0, 2.0], [1.0, 0.0])
    assert repr(x) == "tensor([1., 2.], tangent=tensor([1., 0.]))"
    assert repr(x.sum()) == "tensor(3., tangent=1.0)"
    leaf = torch.ones(1, requires_grad=True)
    text = "tensor([1.], grad_fn=<ViewBackward0>, tangent=tensor([1.]))"
    assert repr(make_dual(leaf, torch.ones(1))) == text


def test_a_tangent_lives_as_long_as_its_dual(level):
    x = make_dual(torch.ones(1000), torch.ones(1000))
    y = x * 2
    reference = weakref.ref(tangent(y)._array)
    gc.disable()
    try:
        del y
        assert reference() is None
    finally:
        gc.enable()


def test_small_tangents_are_swept_out_now_and_then(level):
    x = dual([1.0], [1.0])
    references = []
    kept = []
    for i in range(1000):
        y = x * 2
        kept += [y] * (i % 10 == 0)
        references.append(weakref.ref(y._array))
    assert sum(reference() is not None for reference in references) < 300
    assert all(tangent(y).tolist() == [2] for y in kept)


@pytest.mark.parametrize(
    "cut", [lambda x: x.detach(), lambda x: x.data, lambda x: torch.zeros_like(x), lambda x: x > 0]
)
def test_what_has_no_tangent(level, cut):
    x = dual([1.0], [1.0])
    assert tangent(cut(x)) is None and tangent(x) is not None


def test_detaching_in_place_drops_the_tangent(level):
    x = dual([1.0], [1.0]) * 1
    assert tangent(x.detach_()) is None


# --- operators ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * x, [2.0, 0.0]),
        (lambda x: x + 1, [1.0, 0.0]),
        (lambda x: 2 / x, [-2.0, 0.0]),
        (lambda x: x.sum(), 1.0),
        (lambda x: x.floor(), [0.0, 0.0]),
        (lambda x: x @ x, 2.0),
        (lambda x: torch.cat([torch.ones(1), x]), [0.0, 1.0, 0.0]),
        (lambda x: torch.stack([x, x * 3]), [[1.0, 0.0], [3.0, 0.0]]),
        (lambda x: x[torch.tensor([0, 0])], [1.0, 1.0]),
        (lambda x: x.max(0).values, 0.0),
        (lambda x: x.unbind()[0], 1.0),
        (lambda x: x.double(), [1.0, 0.0]),
        (lambda x: torch.where(x > 1.5, x, 2 * x), [2.0, 0.0]),
        (lambda x: torch.nn.functional.dropout(x, training=False), [1.0, 0.0]),
        (lambda x: torch.bernoulli(x / 10), [0.0, 0.0]),
    ],
)
def test_tangents_of_operators(level, function, expected):
    assert numbers(tangent(function(dual([1.0, 2.0], [1.0, 0.0])))) == expected


def test_the_tangent_has_the_shape_and_dtype_of_the_output_and_memory_of_its_own(level):
    x = dual([1.0, 2.0], [1.0, 0.0])
    y = x + torch.ones(2, 2, dtype=torch.float64)
    t = tangent(y)
    assert t.dtype is torch.float64 and t.stride() == (2, 1)
    t.add_(1)
    assert numbers(tangent(x)) == [1.0, 0.0]


def test_integers_are_computed_with_in_the_common_dtype(level):
    x = make_dual(torch.tensor(2.0, dtype=torch.float64), torch.ones((), dtype=torch.float64))
    got = tangent(torch.tensor([3]) ** x).item()
    assert got == 9 * np.log(3.0)


def test_complex_functions_that_are_not_holomorphic(level):
    z = dual([1 + 2j, -1j], [1j, 2 + 0j])
    np.testing.assert_allclose(tangent(z.abs()).numpy(), [2 / 5**0.5, 0], atol=1e-7)
    np.testing.assert_array_equal(tangent(z.conj()).tolist(), [-1j, 2])
    np.testing.assert_array_equal(tangent(z * z).numpy(), [-4 + 2j, -4j])
    np.testing.assert_allclose(tangent(z.angle()).numpy(), [0.2, 2.0])


def test_half_precision(level):
    x = make_dual(torch.ones(2).half(), torch.ones(2).half())
    assert tangent(x.exp()).dtype is torch.float16


def test_an_operator_without_forward_rule(level, monkeypatch):
    monkeypatch.setattr("tapegrad.dispatch.op.REGISTRY", {})

    @primitive
    def ruleless(xp, x):
        return xp.tanh(x)

    with pytest.raises(NotImplementedError) as raised:
        ruleless(dual([1.0], [1.0]))
    assert str(raised.value) == (
        "Trying to use forward AD with ruleless that does not support it because it has not been "
        "implemented yet.\nPlease file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can "
        "prioritize its implementation or submit a PR adding the implementation to "
        "derivatives.yaml"
    )


# --- views and writes -----------------------------------------------------------------------------


def test_the_tangent_of_a_view_is_the_view_of_the_tangent(level):
    x = dual([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    v = x[1:]
    v.mul_(2)
    assert numbers(tangent(x)) == [1.0, 4.0, 6.0]


def test_a_write_changes_the_tangent_where_it_is(level):
    x = dual([1.0, 2.0], [1.0, 1.0])
    t = tangent(x)
    x.mul_(3)
    assert tangent(x) is t and numbers(t) == [3.0, 3.0]


def test_a_write_of_a_product_with_itself(level):
    x = dual([1.0, 2.0], [1.0, 1.0])
    assert numbers(tangent(x.mul_(x))) == [2.0, 4.0]


def test_a_tensor_becomes_dual_by_a_write_through_a_view(level):
    base = torch.zeros(3)
    before, written = base[:2], base[1:]
    written.copy_(dual([5.0, 6.0], [1.0, 2.0]))
    assert numbers(tangent(base)) == [0.0, 1.0, 2.0]
    assert numbers(tangent(before)) == [0.0, 1.0]
    before.mul_(2)
    assert numbers(tangent(base)) == [0.0, 2.0, 2.0] and numbers(tangent(written)) == [2.0, 2.0]


def test_index_assignment(level):
    x = dual([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    x[0] = 5.0
    x[1] = x[2] * 2
    x[x > 5.5] = 0.0
    assert numbers(x) == [5.0, 0.0, 3.0] and numbers(tangent(x)) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "write", [lambda x: x.zero_(), lambda x: x.fill_(2.0), lambda x: x.normal_()]
)
def test_what_is_written_over_has_a_tangent_of_zeros(level, write):
    x = dual([1.0, 2.0], [1.0, 1.0])
    assert numbers(tangent(write(x))) == [0.0, 0.0]


def test_a_view_in_place(level):
    x = make_dual(torch.ones(2, 3), torch.arange(6.0).view(2, 3))
    assert tangent(x.t_()).shape == (3, 2)
    assert tangent(x.unsqueeze_(0)).shape == (1, 3, 2)


def test_a_tangent_that_may_not_be_written_stops_the_write(level):
    x = make_dual(torch.ones(2), torch.ones(2, requires_grad=True))
    for write in (lambda: x.mul_(2), lambda: x.zero_()):
        with pytest.raises(
            RuntimeError, match=r"^a leaf Variable that requires grad is being used"
        ):
            write()
    assert numbers(x) == [1.0, 1.0]


def test_out_takes_no_tangents(level):
    x = dual([1.0], [1.0])
    text = "^Trying to use forward AD with add_out that does not support it because it is an out="
    with pytest.raises(NotImplementedError, match=text):
        torch.add(x, 1, out=torch.zeros(1))
    with pytest.raises(NotImplementedError, match=text):
        torch.add(torch.ones(1), 1, out=x)
    for write in (
        lambda: torch.ones(1, out=x),
        lambda: torch.randn(1, out=x),
        lambda: x.resize_(2),
    ):
        with pytest.raises(RuntimeError, match=r"^cannot resize variables that has a forward grad"):
            write()
    with pytest.raises(NotImplementedError, match=r"^Trying to use forward AD with set_ that"):
        x.set_(torch.ones(1))
    assert numbers(x) == [1.0] and numbers(tangent(x)) == [1.0]


# --- with reverse mode ----------------------------------------------------------------------------


def cube(x):
    return (x**3).sum()


@pytest.mark.parametrize("create_graph", [False, True])
def test_forward_over_reverse(level, create_graph):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = cube(make_dual(x, torch.tensor([1.0, 0.0, 2.0])))
    (g,) = torch.autograd.grad(y, x, create_graph=create_graph)
    assert numbers(g) == [3.0, 12.0, 27.0] and numbers(tangent(g)) == [6.0, 0.0, 36.0]
    assert g.requires_grad is create_graph


def test_backward_inside_a_level(level):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    cube(make_dual(x, torch.ones(2))).backward()
    assert numbers(x.grad) == [3.0, 12.0]


def test_reverse_over_forward(level):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    t = torch.tensor([1.0, 0.0, 2.0], requires_grad=True)
    pushed = tangent(cube(make_dual(x, t)))
    by_x, by_t = torch.autograd.grad(pushed, [x, t])
    assert numbers(by_x) == [6.0, 0.0, 36.0] and numbers(by_t) == [3.0, 12.0, 27.0]
    assert tangent(by_x) is None, "a tangent is of no level itself"


def test_reverse_over_forward_through_a_write(level):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = make_dual(x, torch.ones(2)) * 1
    y[0].sin_()
    y.mul_(2)
    (g,) = torch.autograd.grad(tangent(y)[0], x)
    np.testing.assert_allclose(g.numpy(), [-2 * np.sin(1.0), 0.0], rtol=1e-6)


def test_a_gradient_through_a_write_has_a_tangent(level):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = make_dual(x, torch.tensor([1.0, 10.0])) * 1
    y[1:].mul_(y[1:].detach() * 0 + 3).pow_(2)  # (3 x)^2
    (g,) = torch.autograd.grad(y.sum(), x)
    assert numbers(g) == [1.0, 36.0] and numbers(tangent(g)) == [0.0, 180.0]


# --- with a profiler ------------------------------------------------------------------------------


def events(profile):
    return [e.name for e in profile.function_events if e.name.startswith("aten")]


def test_a_profiler_inside_a_level_sees_the_operators(level):
    x = dual([1.0], [1.0])
    with profiler.profile() as profile:
        y = (x * x).sin_()
    assert events(profile) == ["aten::mul", "aten::sin_"]
    np.testing.assert_allclose(tangent(y).item(), 2 * np.cos(1.0), rtol=1e-6)


def test_a_level_inside_a_profiler_is_seen_by_its_operators():
    x = torch.ones(1)
    with profiler.profile() as profile, dual_level():
        y = make_dual(x, x)
        y = (y * y).sin_()
        np.testing.assert_allclose(tangent(y).item(), 2 * np.cos(1.0), rtol=1e-6)
    assert events(profile)[:2] == ["aten::mul", "aten::sin_"]
    assert (x * 2)._version == 0 and repr(y) == "tensor([0.8415])"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [3, 400, 40000])
def test_small_and_large_calls_give_the_same_tangents(level, dtype, size):
    numbers = torch.linspace(0.1, 2.0, size, dtype=dtype)
    x, y = make_dual(numbers, numbers * 0 + 3), make_dual(numbers + 1, numbers)
    found = {
        "both": x * y,
        "first": x * (numbers + 1),
        "second": (numbers + 1) / x,
        "with itself": x * x,
        "number": x * 2.5 - 1,
        "one": x.sin().exp(),
        "alias": x + numbers,
        "columns": (x.reshape(1, -1).t() * y.reshape(1, -1).t()).t()[0],
    }
    sine = np.sin(numbers.numpy().astype(float))
    n = numbers.numpy().astype(float)
    expected = {
        "both": 3 * (n + 1) + n * n,
        "first": 3 * (n + 1),
        "second": -3 * (n + 1) / n**2,
        "with itself": 6 * n,
        "number": 7.5 + 0 * n,
        "one": np.exp(sine) * np.cos(n) * 3,
        "alias": 3 + 0 * n,
        "columns": 3 * (n + 1) + n * n,
    }
    for name, result in found.items():
        t = tangent(result)
        assert t.dtype is dtype and t.shape == result.shape
        np.testing.assert_allclose(t.numpy(), expected[name], rtol=1e-4, err_msg=name)


def test_a_write_to_a_result_leaves_the_tangent_of_its_operand_alone(level):
    x = dual([1.0, 2.0], [1.0, 1.0])
    y = x + torch.ones(2)
    y.mul_(3)
    assert (tangent(x).tolist(), tangent(y).tolist()) == ([1, 1], [3, 3])
    z = (x * 1).requires_grad_()
    assert tangent(z * 2).tolist() == [2, 2]


def test_a_base_that_becomes_dual_after_its_view_gives_the_view_a_tangent(level):
    base = torch.ones(4)
    view, other = base[:2], dual([1.0, 1.0], [1.0, 1.0])
    base.copy_(dual([1.0, 1.0, 1.0, 1.0], [5.0, 6.0, 7.0, 8.0]))
    assert tangent(view * other).tolist() == [6, 7]
    assert tangent(other * view).tolist() == [6, 7]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: make_dual(x, x, level=1), "Invalid level given to _make_dual"),
        (
            lambda x: make_dual(x, x, level=-1),
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first.",
        ),
        (lambda x: unpack_dual(x, level=1), "Invalid level given to _fw_primal"),
        (
            lambda x: make_dual(x, make_dual(x, x)),
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported.",
        ),
        (lambda x: enter_dual_level(), "Nested forward mode AD is not supported at the moment"),
    ],
)
def test_what_a_level_refuses(call, message):
    with dual_level():
        with raises(RuntimeError, message):
            call(torch.ones(2))
        assert unpack_dual(make_dual(torch.ones(2), torch.ones(2))).tangent is not None
    with raises(
        RuntimeError,
        "Trying to access a forward AD level with an invalid index. This index was either not "
        "created or is already deleted.",
    ):
        make_dual(torch.ones(2), torch.ones(2), level=0)


def test_a_level_below_zero_knows_no_tangents():
    with dual_level():
        x = make_dual(torch.ones(2), torch.ones(2))
        assert unpack_dual(x, level=-1).tangent is None
        assert unpack_dual(x, level=0).tangent.tolist() == [1, 1]


def test_the_number_of_the_level_that_is_open():
    import tapegrad.autograd.forward_ad as module

    assert module._current_level == -1
    with module.dual_level():
        assert module._current_level == 0
    with pytest.raises(AttributeError, match="has no attribute '_other'"):
        module._other  # noqa: B018


def test_conjugate_views_have_tangents():
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128)
    t = torch.tensor([2j, 1 + 0j], dtype=torch.complex128)
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x, t.conj()).conj()
        assert y.is_conj()
        assert forward_ad.unpack_dual(y).tangent.tolist() == [2j, 1 + 0j]
        forward_ad.unpack_dual(torch.fft.hfft(forward_ad.make_dual(x, t)))
