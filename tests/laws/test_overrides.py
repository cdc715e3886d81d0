"""Every public function and method may be overridden, by a class, by a duck, and by a mode.

`overridden_in_pytorch.json` has what PyTorch lets hear of the calls of the tables, recorded by
`python -m tools.record_overridden`.
"""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import tapegrad
from tapegrad.core.torch_function import Overridden
from tests.laws import layer_calls, matrix_calls, tensor_calls
from tests.laws.calls import groups_of
from tests.laws.overrides_log import WAYS, heard

PYTORCH = json.loads(Path(__file__).with_name("overridden_in_pytorch.json").read_text())
GROUPS = groups_of(tensor_calls, matrix_calls, layer_calls)
PREFIXES = ("linalg_", "special_", "fft_")  # PyTorch calls them so; here they have their own names

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of old names

EXCEPTIONS = {
    "F.threshold(x, 0.1, 0.0)": "threshold: PyTorch's has an underscore in its name",
    "F.max_pool2d(x, 2, return_indices=True)": "max_pool2d: in PyTorch it calls another",
    "F.max_unpool1d(*F.max_pool1d(x[:, :, 0], 2, return_indices=True), 2)": (
        "__getitem__ max_pool1d max_unpool1d: in PyTorch it calls another"
    ),
    "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)": (
        "max_pool2d max_unpool2d: in PyTorch it calls another"
    ),
}
"""Calls of which something else is heard: that, and why."""


def without_prefix(name):
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def arrays_of(result):
    """The values of a result, and whether they are tensors."""
    if isinstance(result, (tuple, list)):
        return [array for each in result for array in arrays_of(each)]
    return [
        result.detach().resolve_conj().resolve_neg().numpy()
        if isinstance(result, tapegrad.Tensor)
        else result
    ]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_what_is_heard_of_a_call_is_pytorchs(group, way):
    for call in group.calls:
        expected = EXCEPTIONS.get(call, PYTORCH[way][group.name][call]).partition(":")[0]
        names = " ".join(map(without_prefix, heard(tapegrad, group, call, way)[0]))
        assert names == " ".join(map(without_prefix, expected.split())), call


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_an_override_that_computes_changes_nothing(group, way):
    for call in group.calls:
        tapegrad.manual_seed(0)
        scope = {"torch": tapegrad, "F": tapegrad.nn.functional, "np": np}
        plain = eval(call, scope, group.tensors(tapegrad))
        state = tapegrad.get_rng_state()
        result = heard(tapegrad, group, call, way)[1]
        for a, b in zip(arrays_of(plain), arrays_of(result), strict=True):
            np.testing.assert_array_equal(a, b, call)
        assert (tapegrad.get_rng_state() == state).all(), call
        if way == "class" and isinstance(result, tapegrad.Tensor):
            assert type(result).__name__ == "Logging", call


FUNCTIONS = [
    function
    for space, functions in tapegrad.overrides.get_overridable_functions().items()
    if space is not tapegrad.Tensor
    for function in functions
    if not function.__name__.startswith(("sym_", "is_vulkan"))
]
WITHOUT_TENSORS = {"is_vulkan_available", "segment_reduce"}


class Heard(Exception):
    """An override was asked."""


class Duck:
    """No tensor, and it has nothing of one."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise Heard(func)

    def __getattribute__(self, name):
        if name[:2] == "__":
            return object.__getattribute__(self, name)
        raise AttributeError(f"a duck has no {name}", name=name, obj=self)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_duck_is_asked_for_every_function(function):
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    args = [Duck() for p in parameters if p.kind in kinds and p.default is p.empty]
    args = args or [Duck()]
    if function is tapegrad.permute:  # which misses its order first
        args.append((0,))
    names = {
        p.name: Duck() for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty
    }
    state = tapegrad.get_rng_state()
    with pytest.raises(Heard) as error:
        function(*args, **names)
    assert error.value.args[0] is function
    assert (tapegrad.get_rng_state() == state).all()


class Asked(tapegrad.Tensor):
    """A tensor of which everything is told."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise Heard(func)


METHODS = tapegrad.overrides.get_overridable_functions()[tapegrad.Tensor]


@pytest.mark.parametrize("method", METHODS, ids=tapegrad.overrides.resolve_name)
def test_a_subclass_is_asked_for_every_method_and_property(method):
    x = tapegrad.ones(2, 2).as_subclass(Asked)
    if isinstance(getattr(method, "__self__", None), property):
        path = tapegrad.overrides.resolve_name(method).split(".")
        with pytest.raises(Heard) as error:
            getattr(x, path[2])
        assert error.value.args[0] == method
        return
    name = tapegrad.overrides.resolve_name(method).split(".")[2]
    with pytest.raises(Heard):
        getattr(x, name)()


@pytest.mark.parametrize("method", METHODS, ids=tapegrad.overrides.resolve_name)
def test_no_plain_tensor_leaks_that_its_argument_overrides(method):
    if isinstance(getattr(method, "__self__", None), property):
        return
    for n in (1, 2, 3):
        args = [tapegrad.ones(2, 2).as_subclass(Asked) for _ in range(n)]
        try:
            method(tapegrad.ones(2, 2), *args)
        except Heard:
            return
        except Overridden as error:
            assert error.name in ("__bool__", "device", "dtype"), (n, error)  # no tensor's place
        except Exception as error:
            assert "not Asked" not in str(error) or "must be Tensor" not in str(error)


def test_a_block_of_autocast_changes_nothing_of_who_is_asked():
    with tapegrad.autocast("cpu"):
        pass
    group = next(group for group in GROUPS if group.name == "losses")
    test_what_is_heard_of_a_call_is_pytorchs(group, "class")
