"""How native functions bind arguments: NumPy's names, old orders, and what the errors say."""

import inspect

import pytest

import tapegrad as torch

SUMS = torch.tensor([[3.0], [12.0]])


@pytest.fixture
def x():
    return torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(axis=1, keepdims=True),
        lambda x: torch.sum(a=x, axis=1, keepdims=True),
        lambda x: torch.sum(x, 1, keepdims=True),
        lambda x: torch.nansum(x, axis=(1,), keepdims=True),
        lambda x: torch.mean(x, axis=1, keepdims=True) * 3,
        lambda x: torch.add(x1=x.sum(1, True), x2=0),
        lambda x: x.sum(1, True).mul(x2=1),
        lambda x: x.sum(1, True).mul_(x2=1.0),
        lambda x: x.sum(1).unsqueeze(axis=1),
        lambda x: torch.unsqueeze(x=x.sum(1), axis=1),
        lambda x: x.sum(1).unsqueeze_(axis=1),
        lambda x: torch.squeeze(x.sum(1, True)[None], axis=0),
        lambda x: torch.select(x.sum(1, True)[None], axis=0, index=0),
        lambda x: torch.cat([x.sum(1, True)], axis=0),
        lambda x: torch.abs(x1=x.sum(1, True)),
        lambda x: torch.linalg.vector_norm(x=x, ord=1, axis=1, keepdims=True),
        lambda x: torch.fft.ifft(torch.fft.fft(x.sum(1, True), axis=0), axis=0).real,
    ],
)
def test_the_names_of_numpy_stand_for_those_of_pytorch(x, call):
    assert torch.allclose(call(x), SUMS)


def test_a_pair_is_found_along_an_axis(x):
    assert x.max(axis=1).values.tolist() == [2.0, 5.0]
    assert torch.sort(x, axis=0).indices.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert torch.softmax(x, axis=0).sum(axis=0).tolist() == pytest.approx([1.0] * 3)
    assert x.argmax(axis=0, keepdims=True).tolist() == [[1, 1, 1]]


def test_gradients_are_those_of_the_usual_names(x):
    x.requires_grad_()
    x.mean(axis=0).add(x2=x.sum(axis=1, keepdims=True)).sum().backward()
    assert x.grad.tolist() == [[4.0] * 3] * 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.unsqueeze(0, axis=0), "unsqueeze() got an unexpected keyword argument 'axis'"),
        (lambda x: torch.cumsum(x, 0, axis=0), "cumsum() got an unexpected keyword argument"),
        (lambda x: x.argmax(dim=0, axis=0), "argmax() got an unexpected keyword argument 'axis'"),
        (lambda x: torch.flip(x, axis=0), 'flip() missing 1 required positional arguments: "dims"'),
        (lambda x: torch.einsum("ij->i", x=x), "einsum() got an unexpected keyword argument 'x'"),
        (lambda x: torch.split(x, 1, axis=0), "split() got an unexpected keyword argument 'axis'"),
        (lambda x: torch.exp(), 'exp() missing 1 required positional arguments: "input"'),
        (lambda x: torch.mul(x), 'mul() missing 1 required positional arguments: "other"'),
        (lambda x: torch.exp(x, x), "exp() takes 1 positional argument but 2 were given"),
        (lambda x: x.exp(1), "TensorBase.exp() takes no arguments (1 given)"),
        (lambda x: x.exp(a=1), "TensorBase.exp() takes no keyword arguments"),
        (lambda x: x.all(foo=1), "all() received an invalid combination of arguments - got (foo="),
        (lambda x: x.addcmul(x), "addcmul() received an invalid combination of arguments - got (T"),
    ],
)
def test_wrong_names_are_refused_in_the_words_of_pytorch(x, call, message):
    with pytest.raises(TypeError) as caught:
        call(x)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.gather("a", x), "gather(): argument 'dim' (position 1) must be int, not str"),
        (
            lambda x: torch.gather(x, "a", x),
            "gather(): argument 'dim' (position 2) must be int, not str",
        ),
        (lambda x: torch.argmax(x, dim="a"), "argmax(): argument 'dim' must be int, not str"),
        (lambda x: x.atan2(3), "atan2(): argument 'other' (position 1) must be Tensor, not int"),
        (
            lambda x: torch.flip(x, ("a",)),
            "flip(): argument 'dims' (position 2) must be tuple of ints, but found element of "
            "type str at pos 0",
        ),
        (
            lambda x: torch.flip(x, (0, "a")),
            "flip(): argument 'dims' failed to unpack the object at pos 2 with error "
            '"type must be tuple of ints,but got str"',
        ),
        (
            lambda x: torch.cat(x),
            "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
        ),
        (lambda x: torch.cat([x, 3]), "expected Tensor as element 1 in argument 0, but got int"),
        (
            lambda x: x.masked_fill(x, "a"),
            "masked_fill() received an invalid combination of arguments - got (Tensor, str), but "
            "expected one of:\n * (Tensor mask, Tensor value)",
        ),
    ],
)
def test_an_argument_of_the_wrong_type_is_named(x, call, message):
    with pytest.raises(TypeError) as caught:
        call(x)
    assert str(caught.value).startswith(message)
    assert caught.value.__notes__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch.flip(x, 0, 1), "flip() takes 2 positional arguments but 3 were given"),
        (lambda x: torch.flip(x, 0), "flip(): argument 'dims' (position 2) must be tuple of ints"),
        (lambda x: x.flip(dims=0), "flip(): argument 'dims' must be tuple of ints, not int"),
        (lambda x: torch.tile(x, 2, 2), "tile() takes 2 positional arguments but 3 were given"),
        (lambda x: torch.tile(x, dims=2), "tile(): argument 'dims' must be tuple of ints, not int"),
        (lambda x: torch.reshape(x, 2, 3), "reshape() takes 2 positional arguments but 3 were giv"),
        (lambda x: torch.reshape(x, 6), "reshape(): argument 'shape' (position 2) must be tuple o"),
        (
            lambda x: x.reshape(shape=6),
            "reshape(): argument 'shape' must be tuple of ints, not int",
        ),
        (lambda x: torch.unflatten(x, 0, 2), "unflatten(): argument 'sizes' (position 3) must be "),
        (lambda x: torch.view_copy(x, 6), "view_copy() received an invalid combination of argumen"),
        (lambda x: torch.expand_copy(x, 6), "expand_copy(): argument 'size' (position 2) must be "),
        (lambda x: torch.broadcast_to(x, 6), "broadcast_to(): argument 'size' (position 2) must b"),
        (lambda x: torch.as_strided(x, 2, 1), "as_strided(): argument 'size' (position 2) must be"),
        (lambda x: torch.empty_strided(2, 1), "empty_strided(): argument 'size' (position 1) must"),
        (lambda x: x.new_empty_strided(2, 1), "new_empty_strided(): argument 'size' (position 1) "),
        (lambda x: torch.zeros(size=2), "zeros(): argument 'size' must be tuple of ints, not int"),
        (lambda x: x.new_ones(size=2), "new_ones(): argument 'size' must be tuple of ints, not in"),
        (lambda x: x.expand(size=2), "expand(): argument 'size' must be tuple of ints, not int"),
        (lambda x: x.repeat(repeats=2), "repeat(): argument 'repeats' must be tuple of ints, not "),
        (lambda x: x.permute(dims=0), "permute(): argument 'dims' must be tuple of ints, not int"),
    ],
)
def test_a_number_is_no_tuple(x, call, message):
    with pytest.raises(TypeError) as caught:
        call(x)
    assert str(caught.value).startswith(message)
    assert caught.value.__notes__


def test_methods_take_numbers_one_by_one(x):
    assert x.flip(0, 1).equal(torch.flip(x, (0, 1))) and x.flip([1]).equal(x.flip(1))
    assert x.tile(2, 2).equal(torch.tile(x, (2, 2))) and x.tile(2).equal(x.tile([2]))
    assert x.reshape(3, 2).equal(torch.reshape(x, (3, 2)))
    assert x.reshape(shape=(6,)).equal(x.reshape(6))


E = torch.eye(2)
V = torch.ones(2)
B = torch.ones(1, 2, 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: torch.add(E, 3, E), lambda: torch.add(E, E, alpha=3)),
        (lambda: E.add(3, E), lambda: E.add(E, alpha=3)),
        (lambda: E.clone().add_(3, E), lambda: E.add(E, alpha=3)),
        (lambda: E.sub(3, E), lambda: E.sub(E, alpha=3)),
        (lambda: torch.addcmul(E, 3, E, E), lambda: torch.addcmul(E, E, E, value=3)),
        (lambda: E.addcdiv(3, E, E + 1), lambda: E.addcdiv(E, E + 1, value=3)),
        (lambda: torch.addmm(2, E, 3, E, E), lambda: torch.addmm(E, E, E, beta=2, alpha=3)),
        (lambda: torch.addmm(2, E, E, E), lambda: torch.addmm(E, E, E, beta=2)),
        (lambda: E.clone().addmm_(2, 3, E, E), lambda: E.addmm(E, E, beta=2, alpha=3)),
        (lambda: V.addmv(2, 3, E, V), lambda: V.addmv(E, V, beta=2, alpha=3)),
        (lambda: E.addr(2, V, V), lambda: E.addr(V, V, beta=2)),
        (lambda: E.addbmm(2, 3, B, B), lambda: E.addbmm(B, B, beta=2, alpha=3)),
        (lambda: B.baddbmm(2, B, B), lambda: B.baddbmm(B, B, beta=2)),
    ],
)
def test_the_old_order_of_arguments_warns(old, new):
    with pytest.warns(UserWarning, match="This overload of .* is deprecated"):
        result = old()
    assert result.tolist() == new().tolist()


def test_the_warning_names_the_form_to_use():
    with pytest.warns(UserWarning) as caught:
        E.add(2, E)
    assert str(caught[0].message) == (
        "This overload of add is deprecated:\n\tadd(Number alpha, Tensor other)\n"
        "Consider using one of the following signatures instead:\n"
        "\tadd(Tensor other, *, Number alpha = 1)"
    )
    assert caught[0].filename == __file__


def test_a_dtype_may_stand_at_its_place(x):
    assert torch.softmax(x, -1, torch.float64).dtype is torch.float64
    assert x.log_softmax(-1, torch.float64).dtype is torch.float64


def test_signatures_show_the_public_names():
    assert str(inspect.signature(torch.exp)) == "(input, *, out=None)"
    assert list(inspect.signature(torch.mul).parameters) == ["input", "other", "out"]
    assert list(inspect.signature(torch.sum).parameters) == [
        "input",
        "dim",
        "keepdim",
        "dtype",
        "out",
    ]
    assert inspect.signature(torch.unsqueeze).parameters["dim"].default is inspect.Parameter.empty


def test_an_error_of_the_numbers_stays_as_it_is(x):
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.argmax(axis=5)
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        x.mul(x2=torch.ones(4))


def test_functions_in_place_take_the_names_of_functions():
    x = torch.tensor([-1.0, 2.0])
    assert torch.abs_(x=x) is x and x.tolist() == [1.0, 2.0]
    assert torch.eq(other=2.0, x=x).tolist() == [False, True]
    assert torch.mul(x=x, other=2).tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match=r"^abs_\(\) takes 1 positional argument but 2 were given"):
        torch.abs_(x, 1)
    with pytest.raises(TypeError, match=r"^TensorBase.abs_\(\) takes no arguments \(1 given\)"):
        x.abs_(1)
    with pytest.raises(TypeError, match=r'^abs_\(\) missing 1 required positional arguments: "in'):
        torch.abs_()
    with torch.no_grad(), pytest.raises(TypeError, match=r"^exp_\(\): argument 'input' \(positi"):
        torch.exp_([1.0])
    assert x.tolist() == [1.0, 2.0]


def test_functions_without_out_write_there_all_the_same():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    out = torch.zeros(2, 2)
    assert torch.t_copy(x, out=out) is out and out.tolist() == [[1.0, 3.0], [-2.0, 4.0]]
    assert torch.threshold(x, 0, 5, out=out) is out and out.tolist() == [[1.0, 5.0], [3.0, 4.0]]
    order = torch.zeros(2, 2, dtype=torch.int64)
    assert torch.argsort(x, stable=True, out=order) is order and order.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(TypeError, match=r"^unbind_copy\(\): argument 'out' must be tuple of Tenso"):
        torch.unbind_copy(x, 0, out=out)
    with pytest.raises(TypeError, match=r"^dist\(\) got an unexpected keyword argument 'out'"):
        torch.dist(x, x, out=out)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("topk", lambda x, out: torch.topk(x, 9, out=(out, out))),
        ("cat", lambda x, out: torch.cat([x, x], 5, out=out)),
        ("special_zeta", lambda x, out: torch.special.zeta(x, x, out=out)),
        ("xlogy", lambda x, out: torch.xlogy(x, 2.0, out=out)),
        ("maximum", lambda x, out: torch.max(x, x, out=out)),
        ("linalg_inv_ex", lambda x, out: torch.linalg.inv(x, out=out)),
        ("gather", lambda x, out: torch.take_along_dim(x, torch.zeros(2, 1).long(), 0, out=out)),
    ],
)
def test_a_graph_and_out_are_refused_before_anything_else(name, call):
    out = torch.zeros(2, 2)
    with pytest.raises(RuntimeError) as caught:
        call(torch.ones(2, 2, requires_grad=True), out)
    assert str(caught.value).startswith(f"{name}(): functions with out=... arguments don't support")
    assert out.tolist() == [[0, 0], [0, 0]]


def test_a_dtype_of_the_product_is_for_gpus():
    x = torch.ones(2, 2)
    with pytest.raises(NotImplementedError, match=r"^Could not run 'aten::mm.dtype' with argume"):
        torch.mm(x, x, torch.float64)
    with pytest.raises(NotImplementedError, match=r"^Could not run 'aten::bmm.dtype' with argum"):
        torch.bmm(x[None], x[None], out_dtype=torch.float64)


HALF = torch.tensor(0.5, dtype=torch.float64)
PAIR = torch.tensor([-1.0, 2.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda p: torch.nn.functional.softplus(PAIR, beta=p),
        lambda p: torch.nn.functional.softplus(PAIR, 1, p),
        lambda p: torch.nn.functional.softshrink(PAIR, p),
        lambda p: torch.nn.functional.hardshrink(PAIR, p),
        lambda p: torch.nn.functional.celu(PAIR, p),
        lambda p: torch.nn.functional.hardtanh(PAIR, -1, p),
        lambda p: torch.nn.functional.rrelu(PAIR, p, p),
        lambda p: torch.nn.functional.huber_loss(PAIR, PAIR * 3, delta=p),
        lambda p: torch.nn.functional.smooth_l1_loss(PAIR, PAIR * 3, beta=p),
        lambda p: torch.nan_to_num(PAIR.log(), p, p, p),
        lambda p: torch.logit(PAIR / 4, p),
        lambda p: torch.cdist(PAIR[None], PAIR[None] * 3, p),
        lambda p: torch.dist(PAIR, PAIR * 3, p),
        lambda p: torch.std(PAIR, 0, correction=p),
        lambda p: PAIR.var(correction=p),
    ],
)
def test_a_tensor_of_one_element_stands_for_a_number(call):
    got, expected = call(HALF), call(0.5)
    assert torch.equal(got, expected)
    assert got.dtype is torch.float32
    with pytest.raises(TypeError):
        call(HALF.clone().requires_grad_())
    with pytest.raises(TypeError):
        call(HALF[None])


def test_a_tensor_of_one_integer_stands_for_an_integer():
    two = torch.tensor(2)
    assert torch.equal(torch.polygamma(two, PAIR + 2), torch.polygamma(2, PAIR + 2))
    assert torch.equal(torch.mvlgamma(PAIR + 2, two), torch.mvlgamma(PAIR + 2, 2))


def test_a_truth_value_in_a_tensor_is_a_factor():
    true = torch.tensor(True)
    expected = torch.nn.functional.hardshrink(PAIR, 1)
    assert torch.equal(torch.nn.functional.hardshrink(PAIR, true), expected)
