"""Classes of tensors with a `__torch_dispatch__`: PyTorch's logging tensor."""

import copy
import io
import pickle

import pytest

import tapegrad as torch
from tests.messages import raises

CALLS = []


class Logging(torch.Tensor):
    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), dtype=elem.dtype, requires_grad=requires_grad
        )
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def unwrap(x):
            if isinstance(x, list | tuple):
                return [unwrap(each) for each in x]
            return x.elem if isinstance(x, cls) else x

        result = func(*unwrap(args), **(kwargs or {}))
        CALLS.append(str(func))
        return cls(result) if isinstance(result, torch.Tensor) else result


class Undisturbed(Logging):
    __torch_function__ = torch._C._disabled_torch_function_impl


@pytest.mark.parametrize("cls", [Logging, Undisturbed])
def test_operators_reach_the_class_and_are_recorded(cls):
    CALLS.clear()
    x = cls(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    assert (x.shape, x.dtype, x.stride(), x.requires_grad) == ((2, 2), torch.float32, (2, 1), True)
    y = torch.relu(x * x + 1) @ x.t()
    assert type(y) is cls
    assert y.grad_fn.name() == "MmBackward0"
    assert y.elem.tolist() == [[12.0, 26.0], [44.0, 98.0]]
    assert CALLS == [
        f"aten.{name}"
        for name in ("mul.Tensor", "add.Tensor", "relu.default", "t.default", "mm.default")
    ]


def test_methods_that_are_no_operators_reach_the_class():
    x = Logging(torch.zeros(2))
    CALLS.clear()
    assert type(x.detach()) is Logging
    x.add_(1)
    assert x.elem.tolist() == [1.0, 1.0]
    assert Logging(torch.ones(1)).item() == 1.0
    assert CALLS == ["aten.detach.default", "aten.add_.Tensor", "aten._local_scalar_dense.default"]


def test_the_backward_pass_is_handed_over_too():
    x = Logging(torch.tensor([2.0, 3.0]), requires_grad=True)
    y = (x * x).sum()
    CALLS.clear()
    y.backward()
    assert type(x.grad) is Logging and x.grad.elem.tolist() == [4.0, 6.0]
    assert CALLS == [
        f"aten.{name}"
        for name in (
            "ones_like.default",
            "expand.default",
            "mul.Tensor",
            "mul.Tensor",
            "add.Tensor",
            "detach.default",
        )
    ]
    before = x.grad
    (x * 2).sum().backward()
    assert x.grad is before and x.grad.elem.tolist() == [6.0, 8.0]  # added in place
    (slope,) = torch.autograd.grad(x.exp().sum(), x)
    assert type(slope) is Logging
    assert slope.elem.tolist() == torch.tensor([2.0, 3.0]).exp().tolist()


def test_gradients_of_plain_tensors_are_what_the_class_gives():
    layer = torch.nn.Linear(2, 3)
    layer(Logging(torch.ones(2))).pow(2).mean().backward()
    assert type(layer.weight.grad) is Logging
    expected = torch.nn.Linear(2, 3)
    expected.load_state_dict(layer.state_dict())
    expected(torch.ones(2)).pow(2).mean().backward()
    assert layer.weight.grad.elem.tolist() == expected.weight.grad.tolist()


def test_what_is_made_like_a_tensor_is_of_its_class():
    x = Logging(torch.tensor([2.0, 3.0]))
    for made in (torch.zeros_like(x), torch.ones_like(x), torch.empty_like(x), x.new_zeros(2)):
        assert type(made) is Logging
    assert torch.zeros_like(x, dtype=torch.int64).dtype is torch.int64


def test_numbers_are_asked_of_the_class():
    x = Logging(torch.tensor([2.5]))
    assert (float(x), int(x), bool(x > 1), x.data_ptr()) == (2.5, 2, True, 0)


def test_what_does_not_reach_the_class_raises():
    x = Logging(torch.ones(2))
    with pytest.raises(NotImplementedError, match="does not reach the __torch_dispatch__"):
        torch.unique(x)
    for read in (x.numpy, x.tolist, x.__repr__):
        with pytest.raises(RuntimeError, match="is not supported for tensor subclasses"):
            read()
    with pytest.raises(RuntimeError, match="its data is not allocated yet"):
        x.untyped_storage()


def test_a_wrapper_needs_a_class_that_dispatches():
    class Plain(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="Plain must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Plain, (2,))


def test_super_computes_on_the_memory_of_the_tensor_itself():
    class Same(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            CALLS.append(str(func))
            return super().__torch_dispatch__(func, types, args, kwargs)

    CALLS.clear()
    x = torch.ones(2).as_subclass(Same)
    assert (x + 1).tolist() == [2.0, 2.0]
    assert CALLS == ["aten.add.Tensor"]


def test_asking_who_takes_part_takes_one_argument():
    has, has_unary = torch.overrides.has_torch_function, torch.overrides.has_torch_function_unary
    assert not has((1, torch.ones(1))) and not has([]) and not has_unary(torch.ones(1))
    with raises(TypeError, "torch._C._has_torch_function() takes exactly one argument (2 given)"):
        has(1, 2)
    with raises(TypeError, "torch._C._has_torch_function_unary() takes no keyword arguments"):
        has_unary(tensor=1)
    with raises(TypeError, "expected a sequence"):
        has(None)


def test_comparisons_of_whole_tensors_reach_the_class():
    x = Logging(torch.tensor([1.0, 0.0]))
    CALLS.clear()
    assert torch.equal(x, x) is True and x.equal(torch.ones(2)) is False
    assert torch.allclose(x, x, atol=1e-3) is True
    assert x.nonzero().elem.tolist() == [[0]]
    assert CALLS == [
        "aten.equal.default",
        "aten.equal.default",
        "aten.allclose.default",
        "aten.nonzero.default",
    ]


def test_writes_at_an_index_reach_the_class():
    x = Logging(torch.zeros(2, 3))
    CALLS.clear()
    x[0] = 5.0
    x[:, 1] = torch.tensor([6.0, 7.0])
    x[torch.tensor([1]), torch.tensor([2])] = 8.0
    assert x.elem.tolist() == [[5, 6, 5], [0, 7, 8]]
    x[x > 6] = 1.0
    x[:] = 2 * x
    assert x.elem.tolist() == [[10, 12, 10], [0, 2, 2]]
    assert CALLS == [
        "aten.select.int",
        "aten.fill_.Tensor",
        "aten.select.int",
        "aten.copy_.default",
        "aten.index_put_.default",
        "aten.gt.Scalar",
        "aten.index_put_.default",
        "aten.mul.Tensor",
        "aten.copy_.default",
    ]


def test_a_wrapper_has_the_offset_that_it_is_given():
    made = torch.Tensor._make_wrapper_subclass(Logging, (2,), strides=(1,), storage_offset=3)
    assert made.storage_offset() == 3
    assert Logging(torch.ones(2)).storage_offset() == 0


def test_jacobians_of_wrappers_are_made_row_by_row():
    x = Logging(torch.tensor([1.0, 2.0]))
    jacobian = torch.autograd.functional.jacobian(lambda x: x * x, x)
    assert type(jacobian) is Logging and jacobian.elem.tolist() == [[2.0, 0.0], [0.0, 4.0]]


class Holding(torch.Tensor):
    """A tensor around another; `Holding.wraps` says whether operators give such again."""

    wraps = True

    @staticmethod
    def __new__(cls, inside):
        made = torch.Tensor._make_wrapper_subclass(cls, inside.size(), dtype=inside.dtype)
        made.inside = inside
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        given = [x.inside if isinstance(x, Holding) else x for x in args]
        found = func(*given, **(kwargs or {}))
        return Holding(found) if cls.wraps else found


def test_a_deep_copy_is_a_clone_with_copied_attributes(monkeypatch):
    x = Holding(torch.ones(2))
    x.note = ["a"]
    again = copy.deepcopy([x, x])
    assert again[0] is again[1] and type(again[0]) is Holding
    assert again[0].inside.tolist() == [1, 1] and again[0].inside is not x.inside
    assert again[0].note == ["a"] and again[0].note is not x.note
    monkeypatch.setattr(Holding, "wraps", False)
    with pytest.raises(RuntimeError, match="for which cloning returns another instance of the sam"):
        copy.deepcopy(x)


def test_writes_through_what_detach_and_views_give_are_counted_and_those_through_data_are_not():
    x = Logging(torch.ones(2))
    counts = []
    for write in (x.add_, x.detach().add_, x.view(2, 1).add_, x.data.add_):
        write(1)
        counts.append(x._version)
    assert counts == [1, 2, 3, 3]
    assert type(x.data) is Logging


def test_assigning_data_keeps_the_class():
    x = Logging(torch.ones(2))
    x.data = torch.zeros(3)
    CALLS.clear()
    assert type(x) is Logging and x.shape == (3,)
    _ = x * 2
    assert CALLS == ["aten.mul.Tensor"]


def test_tensors_like_one_of_a_class_are_made_by_the_class():
    x = Logging(torch.ones(2))
    CALLS.clear()
    made = [torch.rand_like(x), torch.randn_like(x), torch.randint_like(x, 3)]
    made.append(torch.randint_like(x, 1, 3))
    assert {type(each) for each in made} == {Logging}
    names = ["rand_like.default", "randn_like.default"]
    assert CALLS == [f"aten.{each}" for each in (*names, "randint_like.default")] + [
        "aten.randint_like.low_dtype"
    ]


def test_a_tensor_whose_class_dispatches_is_no_object_of_another_class():
    class Other(torch.Tensor):
        pass

    x = Logging(torch.ones(2))
    for make in (
        x.as_subclass,
        lambda cls: torch.Tensor._make_subclass(cls, x),
        lambda cls: cls(x),
    ):
        with pytest.raises(RuntimeError, match="subclass Other but the raw Tensor object is alre"):
            make(Other)
    assert type(x.as_subclass(torch.Tensor)) is Logging


class Pair(Logging):
    def __repr__(self):
        return f"Pair({self.elem})"


@pytest.mark.parametrize("how", [pickle.dumps, "save"])
def test_tensors_that_wrap_others_are_pickled_and_saved(how):
    x = Pair(torch.tensor([[1, 2], [3, 4]]).t())
    x.label = "here"
    if how == "save":
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        with torch.serialization.safe_globals([Pair]):
            y = torch.load(file)
    else:
        y = pickle.loads(how(x))
    assert (type(y), y.dtype, y.stride(), y.label) == (Pair, torch.int64, (1, 2), "here")
    assert y.elem.tolist() == [[1, 3], [2, 4]]


def test_a_tensor_of_a_class_is_formatted_by_its_repr():
    assert f"{Pair(torch.ones(()))}" == "Pair(1.0)"


def test_a_class_may_give_none_and_nothing_else_that_is_no_tensor():
    class Gives(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return what

    what = None
    x = torch.Tensor._make_subclass(Gives, torch.ones(1))
    assert x.neg() is None and x.detach() is None
    what = "text"
    for call in (x.neg, x.detach):
        with pytest.raises(RuntimeError, match="Unable to cast text to Tensor"):
            call()


class Reentrant(Logging):
    def __repr__(self):
        return super().__repr__(tensor_contents=f"{self.elem}")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with torch.overrides.enable_reentrant_dispatch():
            return Reentrant(func(*[x.elem if isinstance(x, Reentrant) else x for x in args]))


def test_what_is_computed_reentrantly_is_recorded_where_it_is_outside():
    x = Reentrant(torch.ones(2, requires_grad=True))
    y = x + 2
    assert not y.requires_grad and repr(y) == "Reentrant(tensor([3., 3.], grad_fn=<AddBackward0>))"
    y.elem.sum().backward()
    assert x.elem.grad.tolist() == [1, 1]
    with torch.no_grad():
        assert not (x + 2).elem.requires_grad


def test_a_class_writes_the_contents_in_its_repr():
    x = Reentrant(torch.ones(2, dtype=torch.float64), requires_grad=True)
    assert repr(x) == (
        "Reentrant(tensor([1., 1.], dtype=torch.float64), dtype=torch.float64,\n"
        "          requires_grad=True)"
    )
