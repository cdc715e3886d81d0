"""Function modes inside function modes: each is asked, the innermost first."""

import warnings
from contextlib import ExitStack

import pytest

import tapegrad as torch
from tapegrad.overrides import TorchFunctionMode

INSIDES = {"_are_matrices", "_born", "_check_takes_hooks", "_require", "_typed_storage"}
OF_OBJECT = {"__class__", "__init__", "__new__", "__init_subclass__", "__subclasshook__"}
OF_OBJECT |= {"__getattribute__", "__setattr__", "__delattr__", "__dir__", "__getattr__"}
OF_OBJECT |= {"__matmul__"}  # modes hear of matmul, which refuses what __matmul__ leaves to Python
NAMES = sorted(set(dir(torch.Tensor)) - INSIDES - OF_OBJECT)


class Pass(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Log(TorchFunctionMode):
    def __init__(self, name, heard):
        super().__init__()
        self.name, self.heard = name, heard

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.heard.append((self.name, func))
        return func(*args, **(kwargs or {}))


def what_happens(name, n_modes):
    """The errors of three calls of a method, or of reading an attribute, in so many modes."""
    x = torch.ones(2, 2) * 1.5
    errors = []
    with ExitStack() as stack, warnings.catch_warnings(action="ignore"):
        for _ in range(n_modes):
            stack.enter_context(Pass())
        for args in ((), (1,), (x,)):
            try:
                found = getattr(x, name)
                if callable(found):
                    found(*args)
                    errors.append(None)
                    break
            except Exception as error:
                errors.append(type(error).__name__)
    return errors


@pytest.mark.parametrize("name", NAMES)
def test_what_works_without_a_mode_works_in_two(name):
    assert what_happens(name, 2) == what_happens(name, 0)


@pytest.mark.parametrize(
    ("use", "func"),
    [
        (lambda x: x.shape, torch.Tensor.shape.__get__),
        (lambda x: x.device, torch.Tensor.device.__get__),
        (lambda x: setattr(x, "grad", None), torch.Tensor.grad.__set__),
        (lambda x: x.item(), torch.Tensor.item),
        (lambda x: x.size(0), torch.Tensor.size),
        (repr, torch.Tensor.__repr__),
    ],
    ids=["shape", "device", "grad", "item", "size", "repr"],
)
def test_each_mode_hears_of_the_call(use, func):
    heard, x = [], torch.ones(1)
    with Log("outer", heard), Log("middle", heard), Log("inner", heard):
        use(x)
    assert [name for name, _ in heard] == ["inner", "middle", "outer"]
    assert all(each == func and each in {func: 1} for _, each in heard)
    assert {each.__name__ for _, each in heard} == {func.__name__}


def test_native_functions_have_none_for_keywords_that_are_not_given():
    heard = {}

    class Hears(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            heard[torch.overrides.resolve_name(func)] = (len(args), kwargs)
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2, 2).as_subclass(Hears)
    (
        x + 1,
        x.sum(dim=0),
        x.shape,
        len(x),
        torch.linalg.inv(x + torch.eye(2)),
        torch.einsum("ij->i", x),
    )
    torch.nn.functional.linear(x, x, x[0])
    torch.nn.functional.relu(x)
    assert heard["torch.Tensor.add"] == (2, None)
    assert heard["torch.Tensor.sum"] == (1, {"dim": 0})
    assert heard["torch.Tensor.shape.__get__"] == (1, None)
    assert heard["torch.Tensor.__len__"] == (1, {})
    assert heard["torch.linalg.inv"] == (1, None)
    assert heard["torch.functional.einsum"][1] == {}
    assert heard["torch.nn.functional.linear"] == (3, None)
    assert heard["torch.nn.functional.relu"] == (1, {"inplace": False})


class Answers(torch.Tensor):
    """What gives back how it was called."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args, kwargs


def test_backward_and_grad_are_handed_tuples():
    x = Answers()
    func, args, named = torch.autograd.grad(x, x)
    assert (
        func is torch.autograd.grad
        and [[type(x) for x in each] for each in args] == [[Answers]] * 2
    )
    assert named == {
        "grad_outputs": None, "retain_graph": None, "create_graph": False, "only_inputs": True,
        "allow_unused": False, "is_grads_batched": False, "materialize_grads": False,
    }  # fmt: skip
    func, args, named = torch.autograd.backward(x)
    assert func is torch.autograd.backward and len(args) == 1 and args[0][0] is x
    assert named == dict.fromkeys(("grad_tensors", "retain_graph", "inputs")) | {
        "create_graph": False
    }


class Plain:
    """What overrides by a method of its objects."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return 1


def test_overriding_by_a_plain_method_is_deprecated():
    with pytest.warns(DeprecationWarning, match="`__torch_function__ as a plain method is depr"):
        assert torch.nn.functional.dropout(Plain()) == 1
    with pytest.warns(UserWarning, match="`__torch_function__` as a plain method is deprecated"):
        assert torch.abs(Plain()) == 1


@pytest.mark.parametrize("name", ["clone", "numel", "sum", "t", "is_complex", "squeeze"])
def test_a_method_called_on_its_class_is_handed_over_as_the_method(name):
    heard = []

    class Heard(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            heard.append(func)
            return -1

    x = torch.ones(2, 3).as_subclass(Heard)
    assert getattr(torch.Tensor, name)(x) == getattr(torch, name)(x) == -1
    assert heard[0] is getattr(torch.Tensor, name) and heard[1] is getattr(torch, name)
