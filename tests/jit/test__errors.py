"""Errors of scripted and traced functions: TorchScript's classes and words."""

import pytest

import tapegrad as torch
from tests.messages import raises

START = (
    "The following operation failed in the TorchScript interpreter.\n"
    "Traceback of TorchScript (most recent call last):\n"
)


@torch.jit.script
def failing(x, case: int):
    if case == 0:
        raise ValueError("no")
    if case == 1:
        assert x.shape[0] == 9, "nine"
    if case == 2:
        torch._assert(x.shape[0] == 9, "ten")
    if case == 3:
        return x @ x
    if case == 4:
        sizes = [1]
        return x * sizes[3]
    if case == 5:
        table = {"a": 1}
        return x * table["b"]
    if case == 6:
        return x.view(7)
    if case == 7:
        raise NotImplementedError("hm")
    return x


@pytest.mark.parametrize(
    ("case", "kind", "line", "last"),
    [
        (0, "Error", 'raise ValueError("no")', "builtins.ValueError: no"),
        (1, "Error", 'assert x.shape[0] == 9, "nine"', "RuntimeError: AssertionError: nine"),
        (2, "Error", 'torch._assert(x.shape[0] == 9, "ten")', "RuntimeError: AssertionError: ten"),
        (3, "", "x @ x", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        (4, "", "return x * sizes[3]", "RuntimeError: list index out of range"),
        (5, "", 'return x * table["b"]', "RuntimeError: KeyError: b"),
        (6, "", "x.view(7)", "RuntimeError: shape '[7]' is invalid for input of size 6"),
        (7, "Error", 'raise NotImplementedError("hm")', "builtins.NotImplementedError: hm"),
    ],
)
def test_what_fails_inside_says_where(case, kind, line, last):
    with pytest.raises(torch.jit.Error if kind else RuntimeError) as caught:
        failing(torch.ones(2, 3), case)
    text = str(caught.value)
    assert text.startswith(START) and f"<--- HERE\n{last}\n" in text
    assert f'  File "{__file__}", line ' in text and line in text
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (1, {}, "failing() is missing value for argument 'case'."),
        (0, {}, "failing() is missing value for argument 'x'."),
        (3, {}, "failing() expected at most 2 argument(s) but received 3 argument(s)."),
        (2, {"z": 1}, "failing() expected at most 2 argument(s) but received 3 argument(s)."),
    ],
)
def test_arguments_that_do_not_fit(args, kwargs, message):
    with raises(RuntimeError, message):
        failing(*[torch.ones(2)] * args, **kwargs)


def test_an_unknown_name():
    @torch.jit.script
    def scaled(x, factor: float = 2.0):
        return x * factor

    with raises(RuntimeError, "Unknown keyword argument 'z' for operator 'scaled'."):
        scaled(torch.ones(2), z=1)


def test_a_module_counts_itself():
    class Two(torch.nn.Module):
        def forward(self, x, y):
            return x @ y

    two = torch.jit.script(Two())
    with raises(RuntimeError, "forward() is missing value for argument 'y'."):
        two(torch.ones(2))
    message = "forward() expected at most 3 argument(s) but received 4 argument(s)."
    with raises(RuntimeError, message):
        two(*[torch.ones(2)] * 3)


def test_a_layer_raises_as_the_python_it_is():
    norm = torch.jit.script(torch.nn.BatchNorm2d(2))
    with pytest.raises(torch.jit.Error, match=r"builtins\.ValueError: expected 4D input"):
        norm(torch.ones(2))


def test_a_trace_raises_what_its_operator_does():
    traced = torch.jit.trace(lambda x: x[..., 2] * 2, torch.ones(2, 3))
    with pytest.raises(RuntimeError) as caught:
        traced(torch.ones(2, 2))
    assert str(caught.value).startswith(START)
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_function_within_another_is_told_of_once():
    @torch.jit.script
    def outer(x):
        return failing(x, 3)

    with pytest.raises(RuntimeError) as caught:
        outer(torch.ones(2, 3))
    text = str(caught.value)
    assert text.count(START) == 1 and "in outer" in text and "in failing" in text


def test_what_is_lacking_stays_what_it_is():
    @torch.jit.script
    def lacking(x):
        return torch.nested.nested_tensor([x])

    with pytest.raises(NotImplementedError, match=r"^torch.nested.nested_tensor"):
        lacking(torch.ones(2))
