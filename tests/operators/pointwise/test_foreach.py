"""`torch._foreach_*`: each function does with every tensor what the plain one does with one."""

import math

import pytest

import tapegrad as torch
from tapegrad.operators.pointwise import foreach
from tests.messages import raises
from tests.needs import pytorch

NAMES = sorted(foreach.__torch__.split())
PLAIN = "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p "
PLAIN += "log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
PAIRS = "add sub mul div pow clamp_min clamp_max maximum minimum"


def lists(torch):
    x = [torch.tensor([0.25, 0.5]), torch.tensor([[0.75], [0.125]])]
    y = [torch.tensor([0.5, 2.0]), torch.tensor([[3.0], [0.1]])]
    return x, y


def values(tensors):
    return [t.tolist() for t in tensors]


@pytest.mark.parametrize("name", PLAIN.split())
def test_one_list(name):
    x, _ = lists(torch)
    expected = [getattr(torch, name)(t) for t in x]
    found = getattr(torch, f"_foreach_{name}")(x)
    assert type(found) is tuple and values(found) == values(expected)
    assert values(x) == values(lists(torch)[0])
    assert getattr(torch, f"_foreach_{name}_")(x) is x and values(x) == values(expected)


@pytest.mark.parametrize("name", PAIRS.split())
@pytest.mark.parametrize("kind", ["tensors", "numbers", "number"])
def test_two_lists(name, kind):
    x, y = lists(torch)
    other = {"tensors": y, "numbers": [2, 0.5], "number": 2}[kind]
    each = other if isinstance(other, list) else [other] * 2
    function = getattr(torch, name)
    expected = [function(a, torch.as_tensor(b)) for a, b in zip(x, each, strict=True)]
    found = getattr(torch, f"_foreach_{name}")(x, other)
    assert values(found) == values(expected)
    assert getattr(torch, f"_foreach_{name}_")(x, other) is x and values(x) == values(expected)


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_three_lists(name):
    x, y = lists(torch)
    for value, each in ((2, [2, 2]), ([2, 3], [2, 3]), (torch.tensor([2.0, 3.0]), [2, 3])):
        rows = zip(x, y, each, strict=True)
        expected = [getattr(torch, name)(a, a, b, value=v) for a, b, v in rows]
        assert values(getattr(torch, f"_foreach_{name}")(x, x, y, value)) == values(expected)
    a, _ = lists(torch)
    assert getattr(torch, f"_foreach_{name}_")(a, x, y, [2, 3]) is a
    assert values(a) == values(expected)


def test_the_others():
    x, y = lists(torch)
    assert values(torch._foreach_lerp(x, y, 0.5)) == values(map(lambda a, b: (a + b) / 2, x, y))
    assert values(torch._foreach_norm(x, 1)) == [0.75, 0.875]
    assert values(torch._foreach_powsum(x, 2)) == [0.3125, 0.578125]
    assert values(torch._foreach_max(x)) == [0.5, 0.75]
    assert values(torch._foreach_mm([torch.eye(2)], [torch.ones(2, 1)])) == [[[1.0], [1.0]]]
    copies = torch._foreach_clone(x)
    assert values(copies) == values(x) and copies[0] is not x[0]
    assert values(torch._foreach_pow(2, [torch.tensor(3.0)])) == [8.0]
    number = torch.tensor(2.0)  # without dimensions, in the place of a number
    assert values(torch._foreach_pow(number, [torch.tensor(3.0)])) == [8.0]
    assert values(torch._foreach_lerp(x, y, number / 4)) == values(torch._foreach_lerp(x, y, 0.5))
    assert values(torch._foreach_clamp_max(y, number)) == values(torch._foreach_clamp_max(y, 2))
    torch._foreach_copy_(x, y)
    assert values(x) == values(y)
    torch._foreach_zero_(x)
    assert values(x) == [[0.0, 0.0], [[0.0], [0.0]]]
    assert values(torch._foreach_add([torch.ones(1)], [torch.ones(1)], alpha=2)) == [[3.0]]


def test_gradients_flow():
    x = torch.tensor([3.0], requires_grad=True)
    (y,) = torch._foreach_mul([x], 2)
    y.backward()
    assert x.grad.tolist() == [2.0] and math.isfinite(y.item())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: torch._foreach_sqrt([]), RuntimeError, "must have at least one tensor"),
        (lambda x: torch._foreach_add(x, x[:1]), RuntimeError, "same number of tensors, got 2"),
        (lambda x: torch._foreach_add(x, [1]), RuntimeError, "same number of elements as scalar"),
        (lambda x: torch._foreach_add(x, torch.ones(1)), RuntimeError, "expected to be 0 dim"),
        (lambda x: torch._foreach_add(x, "x"), TypeError, "invalid combination"),
        (lambda x: torch._foreach_add(3, 1), TypeError, "invalid combination"),
        (lambda x: torch._foreach_add(x, 1, alpha=2), TypeError, "invalid combination"),
        (lambda x: torch._foreach_add([x[0], 3], 1), TypeError, "element 1 in argument 0"),
        (lambda x: torch._foreach_max([torch.ones(0)]), RuntimeError, "of an empty tensor"),
        (lambda x: torch._foreach_addcdiv(x, x, x, torch.ones(1)), RuntimeError, "of length 2 but"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(lists(torch)[0])


def test_who_overrides_is_asked_before_any_tensor_changes():
    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    asked, x = [], torch.ones(2)
    (y,) = torch._foreach_add([x.as_subclass(Told)], 1)
    torch._foreach_sqrt_([x.as_subclass(Told)])
    assert type(y) is Told and asked == [torch._foreach_add, torch._foreach_sqrt_]


def test_the_names_are_pytorchs():
    theirs = pytorch()
    assert NAMES == sorted(n for n in dir(theirs) if n.startswith("_foreach_"))


def test_extrema_of_integers_and_a_fraction_are_fractions():
    x = torch.tensor([1, 3])
    assert torch._foreach_maximum([x], 2.5)[0].tolist() == [2.5, 3.0]
    assert torch._foreach_minimum([x > 1], 2)[0].tolist() == [0, 1]
    with raises(
        RuntimeError, "result type Float can't be cast to the desired output type long int"
    ):
        torch._foreach_maximum_([x], 2.5)
