"""Every public function says what it computes, and shows it in an example that the doctests run."""

import doctest
import inspect
import re
import sys
from types import ModuleType

import pytest

import tapegrad as torch
import tapegrad.nn.functional
from tapegrad.operators.loading import load_operators

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

WITHOUT_SHAPES = {
    "they say something of a tensor, and give none": (
        "get_device is_complex is_conj is_distributed is_floating_point is_inference is_neg "
        "is_nonzero is_same_size is_signed is_storage is_tensor numel to_dlpack typename"
    ),
    "their arguments and results are listed one by one, with shapes": (
        "gradient linalg.eig linalg.eigh linalg.lstsq linalg.qr linalg.svd pca_lowrank stft "
        "svd_lowrank"
    ),
    "PyTorch has removed them: they only raise": "eig lstsq matrix_rank solve symeig",
    "only sparse and quantized tensors have them: they only raise": (
        "ccol_indices_copy col_indices_copy crow_indices_copy indices_copy int_repr "
        "q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point "
        "row_indices_copy values_copy"
    ),
}
"""Public operators without a line of shapes, by the reason."""


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


def operators():
    """The functions of `torch` and its modules that are operators, by name."""
    homes = ("tapegrad.operators.", "tapegrad.nn.functional.")
    for name, function in FUNCTIONS.items():
        module = inspect.unwrap(function).__module__
        if module.startswith(homes) and not name.startswith("torch.Tensor."):
            if not is_in_place_form(function):
                yield name, function


def says_shapes(function):
    """Whether a line of the docstring is about shapes."""
    return re.search(r"^\s*Shapes?: ", function.__doc__, re.MULTILINE) is not None


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
        known = (function, getattr(function, "__wrapped__", function))  # a method is a copy
        places = {f"{each.__module__}.{each.__name__}" for each in known}
        if needs_example(name, function) and not places & set(shown):
            bare.append(f"{name}: {places}")
    assert bare == []


def test_every_exception_is_one_and_has_a_reason():
    for name, reason in WITHOUT_EXAMPLE.items():
        assert ">>>" not in FUNCTIONS[name].__doc__
        assert reason


def test_every_operator_has_a_line_of_shapes():
    exempt = {f"torch.{name}" for names in WITHOUT_SHAPES.values() for name in names.split()}
    silent = {name for name, function in operators() if not says_shapes(function)}
    assert silent == exempt
