"""Tensors that wrap tensors, and dispatch modes by the names of `torch.utils`."""

import tapegrad as torch
from tapegrad.utils import _python_dispatch as dispatch
from tests.messages import raises


class Two(torch.Tensor):
    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], "context"

    @staticmethod
    def __tensor_unflatten__(inner, context, outer_size, outer_stride):
        assert context == "context"
        return Two(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        a = func(*[x.a if isinstance(x, cls) else x for x in args], **(kwargs or {}))
        b = func(*[x.b if isinstance(x, cls) else x for x in args], **(kwargs or {}))
        return dispatch.return_and_correct_aliasing(func, args, kwargs, cls(a, b))


def test_a_class_that_says_what_it_wraps_is_transformed():
    x = Two(torch.ones(2), torch.zeros(2))
    assert dispatch.is_traceable_wrapper_subclass(x)
    assert not dispatch.is_traceable_wrapper_subclass(torch.ones(2))
    assert not dispatch.is_traceable_wrapper_subclass_type(torch.nn.Parameter)
    y = dispatch.transform_subclass(x, lambda name, t: t + (name == "b"))
    assert type(y) is Two and y.a.tolist() == y.b.tolist() == [1.0, 1.0]
    z = x + y
    assert z.a.tolist() == [2.0, 2.0] and z.b.tolist() == [1.0, 1.0]
    with raises(
        AssertionError,
        f"Expected return value from {Two}__tensor_unflatten__() to have "
        "shape equal to (3,), but got: torch.Size([2])",
    ):
        dispatch.transform_subclass(x, lambda name, t: t, outer_size=(3,))


def test_the_innermost_mode_can_be_off_for_a_block():
    heard = []

    class Listen(dispatch.TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            heard.append(self.name)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Listen("outer"), Listen("inner") as inner:
        assert dispatch._len_torch_dispatch_stack() == 2
        assert dispatch._get_dispatch_stack_at(1) is inner
        assert dispatch.is_in_torch_dispatch_mode()
        with dispatch._pop_mode_temporarily() as mode:
            assert mode is inner
            x.exp()
    assert heard == ["outer"] and not dispatch.is_in_torch_dispatch_mode()
    with raises(AssertionError, "No mode on the stack to pop"), dispatch._pop_mode_temporarily():
        pass
