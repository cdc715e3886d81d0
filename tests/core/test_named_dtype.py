"""Dtypes that have a name and no arrays."""

import copy
import pickle

import pytest

import tapegrad
from tapegrad.core import named_dtype
from tests.needs import pytorch

NAMES = named_dtype.__torch__.split()


def described(torch, name):
    kind = getattr(torch, name)
    found = [repr(kind), kind.itemsize, kind.is_floating_point, kind.is_complex, kind.to_real()]
    for ask in (lambda: kind.is_signed, kind.to_complex, lambda: torch.finfo(kind)):
        try:
            found.append(ask())
        except (RuntimeError, TypeError) as error:
            found.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return [str(each) for each in found]


@pytest.mark.parametrize("name", NAMES)
def test_what_they_say_of_themselves_is_what_pytorch_does(name):
    assert described(tapegrad, name) == described(pytorch(), name)


@pytest.mark.parametrize("name", NAMES)
def test_there_is_one_object_for_each(name):
    kind = getattr(tapegrad, name)
    assert getattr(tapegrad, name) is kind
    assert copy.deepcopy(kind) is kind and pickle.loads(pickle.dumps(kind)) is kind


@pytest.mark.parametrize("name", NAMES)
def test_tensors_of_them_are_refused(name):
    kind = getattr(tapegrad, name)
    x = tapegrad.ones(2)
    for make in (lambda: tapegrad.zeros(2, dtype=kind), lambda: x.to(kind), lambda: x.view(kind)):
        with pytest.raises(NotImplementedError, match=f"torch.{name} tensors are not supported"):
            make()
    with pytest.raises(TypeError, match="integer input type"):
        tapegrad.iinfo(kind)


@pytest.mark.parametrize("other", ["float32", "bool", "uint16", "float8_e5m2", "bits16", "qint32"])
@pytest.mark.parametrize("name", ["uint4", "bits8", "quint8"])
def test_promotion_is_that_of_pytorch(name, other):
    found = []
    for torch in (tapegrad, pytorch()):
        for pair in ((name, other), (other, name), (name, name)):
            try:
                found.append(str(torch.promote_types(*[getattr(torch, each) for each in pair])))
            except RuntimeError as error:
                found.append(str(error).splitlines()[0])
    assert found[:3] == found[3:]


def test_what_is_no_dtype_is_missing():
    with pytest.raises(AttributeError):
        _ = tapegrad.core.dtype.int9
