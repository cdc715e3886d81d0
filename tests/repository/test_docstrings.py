"""Every public function says what it computes, and shows it in an example that the doctests run."""

import doctest
import sys
from types import ModuleType

import pytest

import tapegrad as torch
import tapegrad.nn.functional
from tapegrad.lazy_names import load_operators

HOMES = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
}
WITHOUT_EXAMPLE = {"torch.set_num_interop_threads": "it may be called once in a process"}
"""Public functions without an example, and why."""


def public_functions():
    """The name and the function, for everything callable that is neither a type nor a module."""
    for home, owner in HOMES.items():
        for name in dir(owner):
            value = getattr(owner, name, None)  # the types of sparse tensors are errors
            if name[0] != "_" and callable(value) and not isinstance(value, type | ModuleType):
                yield f"{home}.{name}", value


FUNCTIONS = dict(public_functions())


def is_in_place_form(function):
    """Whether it was made from another function, which has the example."""
    return hasattr(function, "out_of_place")


def needs_example(name, function):
    """Functions of `torch` and its modules, and the methods that are operators."""
    if is_in_place_form(function) or name in WITHOUT_EXAMPLE:
        return False
    return not name.startswith("torch.Tensor.") or function.__module__.startswith(
        "tapegrad.operators."
    )


@pytest.fixture(scope="module")
def shown():
    """The functions whose examples doctest finds, as (file, name)."""
    load_operators()
    finder = doctest.DocTestFinder()
    files = {function.__module__ for function in FUNCTIONS.values()}
    tests = [test for file in sorted(files) for test in finder.find(sys.modules[file])]
    return {test.name for test in tests if test.examples}


def test_there_are_functions_to_look_at():
    assert len(FUNCTIONS) > 1300


def test_every_function_says_what_it_computes():
    silent = [name for name, f in FUNCTIONS.items() if not (f.__doc__ or "").strip()]
    assert silent == []


def test_the_first_line_is_a_sentence():
    torn = []
    for name, function in FUNCTIONS.items():
        paragraph = function.__doc__.strip().partition("\n\n")[0]
        if not paragraph.rstrip("`)").endswith((".", ":")):
            torn.append(name)
    assert torn == []


def test_every_function_has_an_example_that_the_doctests_run(shown):
    bare = []
    for name, function in FUNCTIONS.items():
        place = f"{function.__module__}.{function.__name__}"
        if needs_example(name, function) and place not in shown:
            bare.append(f"{name}: {place}")
    assert bare == []


def test_every_exception_is_one_and_has_a_reason():
    for name, reason in WITHOUT_EXAMPLE.items():
        assert ">>>" not in FUNCTIONS[name].__doc__
        assert reason
