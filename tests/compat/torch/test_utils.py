"""The insides of torch.utils that programs import."""

import gc

import pytest

import tapegrad as torch
from tapegrad.compat.torch.utils import cpp_extension
from tapegrad.compat.torch.utils._contextlib import (
    _DecoratorContextManager,
    _NoParamDecoratorContextManager,
    context_decorator,
)
from tapegrad.compat.torch.utils._foreach_utils import (
    _foreach_supported_types,
    _group_tensors_by_device_and_dtype,
    _has_foreach_support,
)
from tapegrad.compat.torch.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef
from tests.command import run_code


def test_they_are_modules_of_torch():
    code = """
from tapegrad import compat; compat.install()
from torch.utils.weak import WeakTensorKeyDictionary
from torch.utils._triton import has_triton
from torch.utils._import_utils import _check_module_exists
from torch.utils.cpp_extension import CUDA_HOME
import torch.utils._contextlib, torch.utils._foreach_utils
from torch.utils import model_zoo
print(has_triton(), CUDA_HOME, torch.utils._contextlib.__name__[-17:])
print(model_zoo.load_url is torch.hub.load_state_dict_from_url)
"""
    assert run_code(code) == "False None utils._contextlib\nTrue\n"


def test_groups_of_one_dtype():
    x, y, z = torch.ones(1), torch.ones(2).double(), torch.ones(3)
    groups = _group_tensors_by_device_and_dtype([[x, y, z], [z, None, x]], with_indices=True)
    cpu = torch.device("cpu")
    lists, indices = groups[cpu, torch.float32]
    assert [[t.shape[0] for t in each] for each in lists] == [[1, 3], [3, 1]]
    assert indices == [0, 2]
    assert groups[cpu, torch.float64][0][1] == [None]
    assert _group_tensors_by_device_and_dtype([[x]])[cpu, torch.float32][1] == []
    with pytest.raises(RuntimeError, match="defined but the 0-th Tensor is not"):
        _group_tensors_by_device_and_dtype([[None]])
    assert _has_foreach_support([x, None], cpu)
    assert _foreach_supported_types == [torch.Tensor]


class Noted(_DecoratorContextManager):
    log: list = []  # noqa: RUF012

    def __enter__(self):
        self.log.append("in")

    def __exit__(self, *error):
        self.log.append("out")


def test_contexts_decorate_functions_and_generators():
    Noted.log.clear()

    @Noted()
    def double(x):
        Noted.log.append(x)
        return 2 * x

    @Noted()
    def count():
        got = yield 1
        try:
            yield got
        except KeyError:
            yield "caught"
        return "end"

    assert double(3) == 6
    assert Noted.log == ["in", 3, "out"]
    steps = count()
    assert next(steps) == 1
    assert Noted.log[-1] == "out"  # the caller is outside
    assert steps.send(5) == 5
    assert steps.throw(KeyError()) == "caught"
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == "end"
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        Noted()(int)
    with pytest.raises(RuntimeError, match="both callable and also a valid context manager"):
        context_decorator(Noted(), double)


def test_a_context_decorates_without_parentheses():
    class Bare(_NoParamDecoratorContextManager):
        __enter__, __exit__ = Noted.__enter__, Noted.__exit__
        log = Noted.log

    Noted.log.clear()

    @Bare
    def double(x):
        return 2 * x

    assert double(2) == 4
    assert Noted.log == ["in", "out"]


def test_dictionaries_by_identity_let_go():
    x, y = torch.ones(2), torch.ones(2)
    names = WeakIdKeyDictionary({x: "x"})
    names[y] = "y"
    assert (names[x], names[y], x in names, torch.ones(2) in names) == ("x", "y", True, False)
    assert names == names.copy() == (names | {x: "x"})
    assert names.setdefault(x, 3) == "x"
    assert [key is x or key is y for key in names] == [True, True]
    assert 3 not in names
    weak = TensorWeakRef(x)
    del x
    gc.collect()
    assert weak() is None
    assert list(names.values()) == ["y"]
    del names[y]
    assert not names
    assert WeakIdRef(y) == WeakIdRef(y)
    assert WeakIdRef(y) != WeakIdRef(names)


@pytest.mark.parametrize("name", ["load", "load_inline", "CppExtension", "CUDAExtension"])
def test_extensions_are_refused_by_name(name):
    with pytest.raises(NotImplementedError, match=rf"torch.utils.cpp_extension.{name}: extensions"):
        getattr(cpp_extension, name)("mine", sources=["mine.cpp"])
