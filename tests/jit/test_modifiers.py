"""Marks are kept and change nothing."""

import pytest

import tapegrad as torch
from tapegrad.jit.modifiers import FunctionModifiers, get_torchscript_modifier, is_ignored_fn


@pytest.mark.parametrize(
    ("mark", "modifier"),
    [
        (torch.jit.export, FunctionModifiers.EXPORT),
        (torch.jit.unused, FunctionModifiers.UNUSED),
        (torch.jit.ignore, FunctionModifiers.IGNORE),
        (torch.jit.ignore(), FunctionModifiers.IGNORE),
    ],
)
def test_marks(mark, modifier):
    def f():
        return 3

    assert mark(f) is f and f() == 3
    assert get_torchscript_modifier(f) == modifier
    assert is_ignored_fn(f) is (modifier != FunctionModifiers.EXPORT)


def test_properties_can_be_unused():
    class C:
        @torch.jit.unused
        @property
        def p(self):
            return 3

    assert C().p == 3 and is_ignored_fn(C.p.fget)


def test_outdated_forms_of_ignore():
    with pytest.warns(FutureWarning, match=r"ignore\(True\) has been deprecated"):
        assert is_ignored_fn(torch.jit.ignore(drop=True)(lambda: 1))
    with pytest.warns(FutureWarning, match=r"ignore\(drop_on_export=True\) has been"):
        torch.jit.ignore(drop_on_export=True)
    with pytest.raises(RuntimeError, match="must be a bool or a function but got 3"):
        torch.jit.ignore(3)


def test_interfaces_are_classes():
    with pytest.raises(RuntimeError, match="interface must be applied to a class"):
        torch.jit.interface(3)


def test_overloads_leave_functions_alone():
    @torch.jit._overload
    def f(x):
        pass

    @torch.jit._overload_method
    def g(self):
        pass

    assert f(1) is None and g(1) is None
    assert torch.jit._unwrap_optional(3) == 3
    with pytest.raises(AssertionError, match="Unwrapping null optional"):
        torch.jit._unwrap_optional(None)
